import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import { networkOf } from '../../platform/http/index.ts';
import type { Net } from '../../platform/net/index.ts';
import { TargetRefused } from '../../platform/net/index.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import { CALLBACK_URL_LENGTH_MAX, textOf } from './accept.rules.ts';
import { presentCredentialReport } from './credential-reports.present.ts';
import { WindowQuota } from './window-quota.ts';

/** Bounds of what wrong credentials can make this process send: in all, of one source, to one host. */
const ALL = { max: 100, windowMs: 1_000 };
const PER_SOURCE = { max: 10, windowMs: 60_000 };
const PER_HOST = { max: 10, windowMs: 60_000 };
/** Reports that wait; beyond it the oldest is dropped. */
const WAITING_MAX = 500;
const POSTS_MAX = 50;
/** Supplement 1, callback_url. */
const TIMEOUT_MS = 10_000;

/** What became of a report: posted, or why not. */
export type ReportEnd =
  'answered' | 'failed' | 'no_address' | 'rate' | 'source' | 'host' | 'pushed_out' | 'closed';

export interface RefusedRequest {
  readonly channel: SendChannel;
  /** The body as it came. */
  readonly request: unknown;
  /** The peer's address. */
  readonly ip: string;
}

export interface CredentialReportsOptions {
  readonly net: Pick<Net, 'checkUrlSyntax' | 'post'>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Told of the end of each. */
  readonly observe?: (end: ReportEnd) => void;
}

interface Report {
  readonly url: string;
  readonly body: string;
}

/**
 * Tells callback_url of refused credentials (outcome 3007), once and without a retry. Nothing is stored of them: who has no
 * credential gets no more out of this service than these bounds let through.
 */
export class CredentialReports {
  readonly #options: CredentialReportsOptions;
  readonly #all = new WindowQuota(ALL);
  readonly #bySource = new WindowQuota(PER_SOURCE);
  readonly #byHost = new WindowQuota(PER_HOST);
  readonly #closing = new AbortController();
  readonly #waiting: Report[] = [];
  readonly #posting = new Set<Promise<void>>();

  constructor(options: CredentialReportsOptions) {
    this.#options = options;
  }

  /** Takes it or drops it, at once. */
  report(refused: RefusedRequest): void {
    const { clock, ids, observe } = this.#options;
    const url = textOf(refused.request, 'callback_url', CALLBACK_URL_LENGTH_MAX);
    const drop = this.#dropOf(url, refused.ip);
    if (drop !== null || url === null) return observe?.(drop ?? 'no_address');
    const body = presentCredentialReport(refused, { newId: () => ids.uuid(), atMs: clock.nowMs() });
    this.#waiting.push({ url, body: JSON.stringify(body) });
    if (this.#waiting.length > WAITING_MAX) {
      this.#waiting.shift();
      observe?.('pushed_out');
    }
    this.#pump();
  }

  /** Drops what waits and ends the posts under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#waiting.splice(0).forEach(() => this.#options.observe?.('closed'));
    await Promise.all(this.#posting);
  }

  /** Null: it may go, and is counted. */
  #dropOf(url: string | null, ip: string): ReportEnd | null {
    if (this.#closing.signal.aborted) return 'closed';
    if (url === null || !this.#isAddress(url)) return 'no_address';
    const nowMs = this.#options.clock.monotonicMs();
    const [source, host] = [networkOf(ip), new URL(url).hostname.replace(/\.$/, '')];
    if (!this.#bySource.has(source, nowMs)) return 'source';
    if (!this.#byHost.has(host, nowMs)) return 'host';
    if (!this.#all.has('', nowMs)) return 'rate';
    this.#bySource.use(source, nowMs);
    this.#byHost.use(host, nowMs);
    this.#all.use('', nowMs);
    return null;
  }

  #isAddress(url: string): boolean {
    try {
      this.#options.net.checkUrlSyntax(url);
      return true;
    } catch (error) {
      if (error instanceof TargetRefused) return false;
      throw error;
    }
  }

  #pump(): void {
    while (this.#posting.size < POSTS_MAX) {
      const report = this.#waiting.shift();
      if (!report) return;
      const posted = this.#post(report).then((end) => {
        this.#posting.delete(posted);
        this.#options.observe?.(end);
        this.#pump();
      });
      this.#posting.add(posted);
    }
  }

  /** Any answer is one; a receiver that gives none is not asked again. */
  async #post({ url, body }: Report): Promise<ReportEnd> {
    const headers = { 'content-type': 'application/json', 'user-agent': 'Tonegate' };
    const signal = this.#closing.signal;
    const posted = this.#options.net.post({ url, headers, body, timeoutMs: TIMEOUT_MS, signal });
    return posted.then(
      () => 'answered' as const,
      () => 'failed' as const,
    );
  }
}
