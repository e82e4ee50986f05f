import { ENCODINGS, EVENT_NAMES, SAMPLE_RATES_HZ, STRATEGIES } from './event.type.ts';
import type { EventName, SessionParams, WebhookTarget } from './event.type.ts';

/** interface.md, Limits: Detection timeout. */
export const DETECTION_TIMEOUT_DEFAULT_SEC = 45;

/** A session takes 300 s of audio (supplement 10, Always an end); a longer timeout could never be reached. */
export const DETECTION_TIMEOUT_MAX_SEC = 300;

/** Characters of a caller's own id: it is echoed on every event and delivery. */
const CALL_ID_LENGTH_MAX = 256;

const WEBHOOK_HEADERS_MAX = 32;
const WEBHOOK_HEADER_VALUE_LENGTH_MAX = 2048;
const WEBHOOK_URL_LENGTH_MAX = 2048;

/** Header names of RFC 9110, 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
/** Visible text without control characters; Latin-1, which is what HTTP libraries send. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Not settable (supplement 10, Welcome): the transport's headers and those that deliveries carry. */
const RESERVED_HEADERS = new Set([
  'host',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'x-signature',
  'x-timestamp',
  'x-delivery-id',
  'x-event',
  'x-source',
]);

/** `webhook`: closes with 1008. `field`: `invalid_welcome`, and the socket waits for another. */
export type WelcomeFault =
  | { readonly kind: 'webhook'; readonly detail: string }
  | { readonly kind: 'field'; readonly field: string; readonly detail: string };

export type WelcomeResult =
  | { readonly params: SessionParams }
  | { readonly fault: WelcomeFault; readonly callId: string | null; readonly webhook: WebhookTarget | null };

/** Judges an address without a resolver; throws when it is refused. */
export type CheckUrlSyntax = (url: string) => void;

/** A wrong value, on its way from a reader to `readWelcome`; never leaves this file. */
class Wrong extends Error {
  readonly fault: WelcomeFault;

  constructor(fault: WelcomeFault) {
    super(fault.detail);
    this.fault = fault;
  }
}

const wrong = (field: string, detail: string): Wrong => new Wrong({ kind: 'field', field, detail });

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Text that a database and a JSON reader take: no control characters, no halves of a surrogate pair. */
const isCleanText = (text: string): boolean => !/[\u0000-\u001f\u007f]|\p{Surrogate}/u.test(text);

function oneOf<T extends string | number>(
  fields: Fields,
  name: string,
  values: readonly T[],
  standard: T,
): T {
  const value = fields[name];
  if (value === undefined) return standard;
  const found = values.find((candidate) => candidate === value);
  if (found === undefined) throw wrong(name, `${name} must be one of: ${values.join(', ')}.`);
  return found;
}

function readCallId(value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value !== 'string' || value.length > CALL_ID_LENGTH_MAX || !isCleanText(value))
    throw wrong('call_id', `call_id must be text of at most ${CALL_ID_LENGTH_MAX} characters.`);
  return value;
}

function readTimeout(value: unknown): number {
  if (value === undefined) return DETECTION_TIMEOUT_DEFAULT_SEC;
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > DETECTION_TIMEOUT_MAX_SEC)
    throw wrong(
      'detection_timeout_sec',
      `detection_timeout_sec must be a whole number from 1 to ${DETECTION_TIMEOUT_MAX_SEC}.`,
    );
  return value as number;
}

function readKeepAlive(value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value !== 'boolean') throw wrong('keep_alive', 'keep_alive must be true or false.');
  return value;
}

function readUrl(value: unknown, checkUrlSyntax: CheckUrlSyntax): string | null {
  if (value === undefined) return null;
  const refuse = (detail: string): Wrong => new Wrong({ kind: 'webhook', detail });
  if (typeof value !== 'string') throw refuse('it is not text');
  if (value.length > WEBHOOK_URL_LENGTH_MAX || !isCleanText(value)) throw refuse('it is malformed');
  try {
    checkUrlSyntax(value);
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : 'it is refused');
  }
  return value;
}

function readEvents(value: unknown): ReadonlySet<EventName> | null {
  if (value === undefined) return null;
  const names: readonly string[] = EVENT_NAMES;
  if (!Array.isArray(value) || value.length > EVENT_NAMES.length * 2)
    throw wrong('webhook.events', 'webhook.events must be a list of event names.');
  for (const name of value as unknown[])
    if (typeof name !== 'string' || !names.includes(name))
      throw wrong('webhook.events', `webhook.events may name: ${EVENT_NAMES.join(', ')}.`);
  return new Set(value as EventName[]);
}

function readHeaders(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const field = 'webhook.headers';
  if (!isFields(value)) throw wrong(field, `${field} must be an object of text values.`);
  const entries = Object.entries(value);
  if (entries.length > WEBHOOK_HEADERS_MAX)
    throw wrong(field, `${field} takes at most ${WEBHOOK_HEADERS_MAX}.`);
  const seen = new Set<string>();
  for (const [name, text] of entries) {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name)) throw wrong(field, `${field} has a malformed header name.`);
    if (RESERVED_HEADERS.has(lower) || lower.startsWith('content-'))
      throw wrong(field, `${field} may not set ${lower}.`);
    if (seen.has(lower)) throw wrong(field, `${field} sets ${lower} twice.`);
    if (typeof text !== 'string' || text.length > WEBHOOK_HEADER_VALUE_LENGTH_MAX || !HEADER_VALUE.test(text))
      throw wrong(field, `${field} has a malformed value for ${lower}.`);
    seen.add(lower);
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function readWebhook(value: unknown, checkUrlSyntax: CheckUrlSyntax): WebhookTarget | null {
  if (value === undefined) return null;
  if (!isFields(value)) throw wrong('webhook', 'webhook must be an object.');
  const url = readUrl(value['url'], checkUrlSyntax);
  const events = readEvents(value['events']);
  const headers = readHeaders(value['headers']);
  return url === null ? null : { url, events, headers };
}

/** Runs a reader; what it finds wrong becomes a value. */
function attempt<T>(read: () => T): { readonly value: T } | { readonly fault: WelcomeFault } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof Wrong) return { fault: error.fault };
    throw error;
  }
}

/**
 * Reads a welcome's payload (interface.md, Welcome frame; supplement 10, Welcome). Unknown fields are ignored.
 * Of several faults one of webhook.url wins, since it closes the socket; then the first in the contract's order.
 */
export function readWelcome(payload: unknown, checkUrlSyntax: CheckUrlSyntax): WelcomeResult {
  const fields = payload === undefined ? {} : payload;
  if (!isFields(fields))
    return {
      fault: { kind: 'field', field: 'payload', detail: 'payload must be an object.' },
      callId: null,
      webhook: null,
    };
  const webhook = attempt(() => readWebhook(fields['webhook'], checkUrlSyntax));
  const callId = attempt(() => readCallId(fields['call_id']));
  const params = attempt((): SessionParams => {
    if ('fault' in webhook && webhook.fault.kind === 'webhook') throw new Wrong(webhook.fault);
    if ('fault' in callId) throw new Wrong(callId.fault);
    const read = {
      callId: callId.value,
      encoding: oneOf(fields, 'audio_encoding', ENCODINGS, 'pcm16'),
      sampleRateHz: oneOf(fields, 'sample_rate_hz', SAMPLE_RATES_HZ, 8000),
      strategy: oneOf(fields, 'strategy', STRATEGIES, 'standard'),
      detectionTimeoutSec: readTimeout(fields['detection_timeout_sec']),
      keepAlive: readKeepAlive(fields['keep_alive']),
    };
    if ('fault' in webhook) throw new Wrong(webhook.fault);
    return { ...read, webhook: webhook.value };
  });
  if ('value' in params) return { params: params.value };
  return {
    fault: params.fault,
    callId: 'value' in callId ? callId.value : null,
    webhook: 'value' in webhook ? webhook.value : null,
  };
}
