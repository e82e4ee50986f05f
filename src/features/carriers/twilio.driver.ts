import type { Clock } from '../../kernel/clock.ts';
import { retryAfterMs } from '../../kernel/retry-after.ts';
import { PostTimeout, TargetRefused } from '../../platform/net/index.ts';
import type { Net, PostAnswer } from '../../platform/net/index.ts';
import type { CarrierSettings } from './carriers.rules.ts';
import { isNeverConnected, wordOf } from './connection-faults.rules.ts';
import { notStarted, retry, unknown } from './said.rules.ts';
import type { Said } from './said.rules.ts';
import type { CarrierRequests, Driver } from './driver.type.ts';
import type { CallRequest, CarrierResult, CarrierWork, TextRequest } from './port.type.ts';
import { refusalOf } from './twilio.outcomes.rules.ts';
import { callOf, messageOf } from './twilio.requests.rules.ts';
import type { TwilioRequest } from './twilio.requests.rules.ts';

/** Twilio answers within 15 s (its own limit for a request). */
const TIMEOUT_MS = 20_000;
/** When a refused connection is tried again, and a 429 that does not say when. */
const REFUSED_RETRY_MS = 15_000;
const BUSY_RETRY_MS = 2_000;
/** Longest wait that a carrier can ask for with one answer. */
const RETRY_AFTER_MAX_MS = 600_000;
const USER_AGENT = 'Tonegate/1';

export interface TwilioOptions {
  readonly settings: CarrierSettings<'twilio'>;
  readonly net: Pick<Net, 'post'>;
  readonly clock: Clock;
}

/** What a body says that Twilio, or a service like it, answers. */
interface Body {
  readonly sid?: unknown;
  readonly status?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly error_code?: unknown;
  readonly error_message?: unknown;
}

/**
 * Twilio's Messages and Calls over REST (2010-04-01), and services with the same interface at another address. A voicemail
 * drop is a call that hears: it is asked for as a call.
 */
export class TwilioDriver implements Driver {
  readonly #options: TwilioOptions;
  readonly #account: string;
  readonly #headers: Record<string, string>;

  constructor(options: TwilioOptions) {
    this.#options = options;
    const { account_sid: sid, auth_token: token, base_url: base } = options.settings;
    this.#account = `${base.replace(/\/+$/, '')}/2010-04-01/Accounts/${sid}`;
    this.#headers = {
      authorization: `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      'user-agent': USER_AGENT,
    };
  }

  async send<W extends CarrierWork>(
    work: W,
    request: CarrierRequests[W],
    signal: AbortSignal,
  ): Promise<Said> {
    const made =
      work === 'text'
        ? messageOf(request as TextRequest, this.#options.settings)
        : hasStream(request)
          ? callOf(request)
          : { refused: cannot(work) };
    if ('refused' in made) return { answer: { kind: 'refused', result: made.refused }, fault: null };
    return signal.aborted ? notStarted() : this.#post(made.request, signal);
  }

  async close(): Promise<void> {
    // Connections belong to platform/net.
  }

  async #post({ resource, form }: TwilioRequest, signal: AbortSignal): Promise<Said> {
    const url = `${this.#account}/${resource}.json`;
    const request = { url, headers: this.#headers, body: form.toString(), timeoutMs: TIMEOUT_MS, signal };
    try {
      return said(await this.#options.net.post(request), this.#options.clock.nowMs());
    } catch (error) {
      if (signal.aborted)
        return { ...unknown('The process ended while the carrier was asked.'), fault: null };
      return faultOf(error);
    }
  }
}

const hasStream = (request: CarrierRequests[CarrierWork]): request is CallRequest => 'stream' in request;

const cannot = (work: CarrierWork): CarrierResult => ({
  outcomeCode: 6003,
  detail:
    work === 'drop'
      ? 'This carrier leaves voicemail by a call that hears.'
      : `This carrier does not take work of kind ${work}.`,
});

/** What an answer means. Only a 429 is tried again; what is no clear yes or no is unknown. */
function said({ status, headers, body }: PostAnswer, nowMs: number): Said {
  const content = read(body);
  if (status === 429) {
    const quietMs = retryAfterMs(headers['retry-after'], nowMs, RETRY_AFTER_MAX_MS) ?? BUSY_RETRY_MS;
    return { ...retry(quietMs, 'The carrier is asked too often.'), quietMs };
  }
  if (status >= 200 && status < 300)
    return content ? taken(content, status) : unknown('Not a readable answer.');
  if (status < 400 || status >= 500 || status === 408) return unknown(`The carrier answered HTTP ${status}.`);
  return refused(content ?? {}, status);
}

function taken(content: Body, status: number): Said {
  const { sid, error_code: errorCode } = content;
  const hasFailed = content.status === 'failed' || content.status === 'undelivered';
  if (hasFailed || (sid === undefined && isCode(content.code)))
    return refused(
      { code: errorCode ?? content.code, message: content.error_message ?? content.message },
      status,
    );
  if (typeof sid !== 'string' || sid === '') return unknown('An answer without an id.');
  return { answer: { kind: 'accepted', carrierMessageId: sid }, fault: null };
}

/** Refusals that tell of the connection: whoever is to be reached, they come again until it is mended. */
const CONNECTION_STATUSES = new Set([401, 403, 404]);

function refused(content: Body, status: number): Said {
  const code = isCode(content.code) ? Number(content.code) : null;
  const message = typeof content.message === 'string' ? content.message : '';
  const result = refusalOf({ code, message, status });
  const isConnection = CONNECTION_STATUSES.has(status) && result.outcomeCode === 6003;
  return { answer: { kind: 'refused', result }, fault: isConnection ? (result.detail ?? null) : null };
}

const isCode = (value: unknown): boolean => /^[1-9]\d{3,5}$/.test(String(value));

function read(body: Buffer): Body | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function faultOf(error: unknown): Said {
  if (error instanceof TargetRefused) {
    const detail = `The carrier's address is refused: ${error.message}.`;
    return { answer: { kind: 'refused', result: { outcomeCode: 6003, detail } }, fault: detail };
  }
  if (error instanceof PostTimeout) return unknown('The carrier did not answer in time.');
  const word = wordOf(error);
  if (isNeverConnected(error))
    return retry(REFUSED_RETRY_MS, `No connection: ${word}.`, `No connection: ${word}.`);
  return unknown(`The connection broke: ${word}.`);
}
