import { retryAfterMs } from '../../kernel/retry-after.ts';
import { createHmac } from 'node:crypto';

/** Attempts of one delivery (contract, Detection webhooks: 4 attempts in about 45 s). */
const ATTEMPTS_MAX = 4;
/** The receiver must answer within this time (contract). */
const TIMEOUT_MS = 10_000;
/** When attempts 2, 3 and 4 are due, from the start of the first: gaps of 3, 10 and 30 s. */
const RETRY_OFFSETS_MS = [3_000, 13_000, 43_000] as const;
/** After an attempt that ended late (a timeout) the next waits at least this long. */
const GAP_MIN_MS = [1_000, 2_000, 4_000] as const;
/** Part of a retry's delay that is random, to either side. */
const JITTER = 0.1;
/** Longest Retry-After that is honoured, so that every delivery ends in bounded time. */
const RETRY_AFTER_MAX_MS = 30_000;

/** How one kind of delivery is made; the engine knows nothing else of kinds. */
export interface DeliveryPolicy {
  attemptsMax: number;
  timeoutMs: number;
  /** Headers that authenticate one attempt. */
  sign(attempt: { body: string; key: string; nowMs: number; eventId: string }): Record<string, string>;
  /** Headers that say what is delivered. */
  describe(delivery: {
    deliveryId: string;
    /** The delivery's own id where events have none. */
    eventId: string;
    event: string;
    body: string;
    /** From 1. */
    attempt: number;
  }): Record<string, string>;
  /** What an answer or fault means. `random` is uniform in 0..1. */
  decide(attempt: AttemptEnd, random: number): Decision;
}

export type AttemptResult =
  | { kind: 'answer'; status: number; retryAfter: string | undefined }
  /** No answer. `retryable` false: another attempt could not fare better. */
  | { kind: 'fault'; retryable: boolean };

export interface AttemptEnd {
  /** From 1. */
  attempt: number;
  firstStartedMs: number;
  nowMs: number;
  result: AttemptResult;
}

export type Decision = { state: 'delivered' } | { state: 'failed' } | { state: 'pending'; retryAtMs: number };

/** Detection webhooks (contract). Connection faults count as timeouts; redirects and other 3xx are final. */
export const detectionPolicy: DeliveryPolicy = {
  attemptsMax: ATTEMPTS_MAX,
  timeoutMs: TIMEOUT_MS,

  sign({ body, key, nowMs }) {
    const digest = createHmac('sha256', key).update(`${nowMs}.`).update(body).digest('hex');
    return { 'X-Signature': `v1=hmac-sha256,${digest}`, 'X-Timestamp': String(nowMs) };
  },

  describe({ deliveryId, event, body }) {
    const { source } = JSON.parse(body) as { source: string };
    return { 'X-Delivery-Id': deliveryId, 'X-Event': event, 'X-Source': source };
  },

  decide(end, random) {
    const { result, attempt, nowMs } = end;
    if (result.kind === 'answer' && result.status >= 200 && result.status < 300)
      return { state: 'delivered' };
    if (attempt >= ATTEMPTS_MAX || !isRetryable(result)) return { state: 'failed' };
    const askedMs =
      result.kind === 'answer' && result.status === 429 ? parseRetryAfter(result.retryAfter, nowMs) : null;
    // What the receiver asked for is never shortened by jitter, only by the cap.
    const retryAtMs =
      askedMs === null ? plannedRetryMs(end, random) : nowMs + askedMs * (1 + JITTER * random);
    return { state: 'pending', retryAtMs: Math.round(retryAtMs) };
  },
};

function isRetryable(result: AttemptResult): boolean {
  if (result.kind === 'fault') return result.retryable;
  return result.status === 429 || result.status >= 500;
}

function plannedRetryMs({ attempt, firstStartedMs, nowMs }: AttemptEnd, random: number): number {
  const index = attempt - 1;
  const offsetMs = RETRY_OFFSETS_MS[index] ?? RETRY_OFFSETS_MS[2];
  const gapMs = Math.max(GAP_MIN_MS[index] ?? GAP_MIN_MS[2], firstStartedMs + offsetMs - nowMs);
  return nowMs + gapMs * (1 + JITTER * (2 * random - 1));
}

/** Retry-After in milliseconds from now, at most 30 s. Null: absent or unreadable. */
export const parseRetryAfter = (value: string | undefined, nowMs: number): number | null =>
  retryAfterMs(value, nowMs, RETRY_AFTER_MAX_MS);
