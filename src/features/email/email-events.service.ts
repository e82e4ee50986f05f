import { createHash } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Announce, Outbox } from '../../platform/outbox/index.ts';
import { keyOfAddress } from './addresses.rules.ts';
import { errorOf } from './decision.rules.ts';
import { statusNews } from './email.present.ts';
import { EmailEventsStore } from './email-events.store.ts';
import { EmailsStore } from './emails.store.ts';
import type { EmailRow } from './emails.store.ts';
import type { Tracked } from './tracked-addresses.ts';

/** Of the digest that tells links of one email apart. */
const LINK_KEY_LENGTH = 22;

/** What a mail system tells of an email it was given. */
export interface MailReport {
  readonly kind: 'delivered' | 'bounced' | 'complained';
  /** For bounces: whether the mailbox refuses for good. */
  readonly isHard: boolean;
  /** Omitted: the first address of `to`. */
  readonly recipient?: string | undefined;
  /** What the other system said. */
  readonly detail?: string | undefined;
  readonly atMs: number;
}

export interface EmailEventsOptions {
  readonly db: Db;
  readonly outbox: Pick<Outbox, 'tx'>;
  readonly clock: Clock;
  readonly announce: Announce;
}

/**
 * What happens to an email after it left. Each thing is written and told once, whatever comes twice: opened once, clicked
 * once for each link, bounced and complained once for each address, `delivered` once unless a bounce was first.
 */
export class EmailEvents {
  readonly #options: EmailEventsOptions;
  readonly #emails: EmailsStore;
  readonly #events = new EmailEventsStore();

  constructor(options: EmailEventsOptions) {
    this.#options = options;
    this.#emails = new EmailsStore(options.db);
  }

  /** False: the email is gone. */
  async opened(of: Tracked): Promise<boolean> {
    return this.#within(of, async (tx, email) => {
      const atMs = this.#options.clock.nowMs();
      await this.#tell(tx, email, { kind: 'opened', eventKey: '', atMs, detail: {} });
    });
  }

  /** False: the email is gone; its links lead on all the same. */
  async clicked({ target, ...of }: Tracked & { target: string }): Promise<boolean> {
    const eventKey = createHash('sha256').update(target).digest('base64url').slice(0, LINK_KEY_LENGTH);
    return this.#within(of, async (tx, email) => {
      const atMs = this.#options.clock.nowMs();
      await this.#tell(tx, email, { kind: 'clicked', eventKey, atMs, detail: { url: target } });
    });
  }

  /** What a bounce webhook or a bounce mail says; an `unknown` email is resolved by it. False: the email is gone. */
  async reported(of: Tracked, report: MailReport): Promise<boolean> {
    return this.#within(of, (tx, email) => this.#report(tx, email, report));
  }

  /** In the transaction that learned of it, with the email's row held. */
  async delivered(tx: Tx, email: EmailRow, atMs: number): Promise<void> {
    if (await this.#events.has(tx, { ...email, kind: 'bounced' })) return;
    await this.#tell(tx, email, { kind: 'delivered', eventKey: '', atMs, detail: {} });
  }

  /** An email that went nowhere: the one event that says so. */
  async failed(tx: Tx, email: EmailRow, of: { code: OutcomeCode; reason: string }): Promise<void> {
    const atMs = this.#options.clock.nowMs();
    const { code: reasonCode, reason } = of;
    await this.#tell(tx, email, { kind: 'failure', eventKey: '', atMs, detail: {}, reason, reasonCode });
  }

  /** The mailbox does not exist, said at once or later. */
  async bouncedHard(
    tx: Tx,
    email: EmailRow,
    of: Pick<MailReport, 'recipient' | 'detail' | 'atMs'>,
  ): Promise<void> {
    await this.#bounce(tx, email, { ...of, kind: 'bounced', isHard: true });
  }

  async #report(tx: Tx, email: EmailRow, report: MailReport): Promise<void> {
    if (report.kind === 'bounced') {
      await this.#bounce(tx, email, report);
      if (!report.isHard || email.state === 'failed') return;
      const error = errorOf(5030, report.detail);
      await this.#emails.update(tx, email, { ...email, state: 'failed', outcomeCode: 5030, error });
      return;
    }
    if (report.kind === 'delivered') {
      if (email.state === 'unknown') {
        const change = { state: 'sent', error: null, outcomeCode: 0, sentAtMs: report.atMs } as const;
        await this.#emails.update(tx, email, change);
      }
      await this.delivered(tx, email, report.atMs);
      return;
    }
    const { recipient, detail, atMs } = report;
    const eventKey = addressKey(email, recipient);
    const event = { kind: 'complained', eventKey, atMs, detail: detailOf(detail), recipient } as const;
    await this.#tell(tx, email, { ...event, reason: 'complaint' });
  }

  async #bounce(tx: Tx, email: EmailRow, report: MailReport): Promise<void> {
    const { recipient, detail, atMs, isHard } = report;
    const eventKey = `${isHard ? 'hard' : 'soft'}:${addressKey(email, recipient)}`;
    await this.#tell(tx, email, {
      ...{ kind: 'bounced', eventKey, atMs, detail: detailOf(detail), recipient },
      ...(isHard ? { reason: 'hard_bounce', reasonCode: 5030 } : { reason: 'soft_bounce' }),
    });
  }

  async #within(of: Tracked, work: (tx: Tx, email: EmailRow) => Promise<void>): Promise<boolean> {
    return this.#options.outbox.tx(async (tx) => {
      const email = await this.#emails.lock(tx, of.teamId, of.emailId);
      if (email === null || email.direction !== 'outbound') return false;
      await work(tx, email);
      return true;
    });
  }

  /** Announced last: until the transaction ends it holds the account's subscriptions. */
  async #tell(
    tx: Tx,
    email: EmailRow,
    event: {
      kind: 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failure';
      eventKey: string;
      atMs: number;
      detail: Readonly<Record<string, unknown>>;
      recipient?: string | undefined;
      reason?: string;
      reasonCode?: OutcomeCode;
    },
  ): Promise<void> {
    const { kind, eventKey, atMs, detail, recipient, reason, reasonCode } = event;
    const { emailId, teamId } = email;
    if (!(await this.#events.add(tx, { emailId, teamId, kind, eventKey, atMs, detail }))) return;
    const news = statusNews(email, { status: kind, recipient, reason, reasonCode, atMs });
    await this.#options.announce(tx, news);
  }
}

const addressKey = (email: EmailRow, recipient: string | undefined): string =>
  keyOfAddress(recipient ?? email.recipient);

const detailOf = (detail: string | undefined): Record<string, unknown> => (detail ? { detail } : {});
