import { createHmac } from 'node:crypto';
import type { DeliveryPolicy } from './delivery.policy.rules.ts';

/** Supplement 4, Retries: three attempts, one and five minutes after the failure of the one before. */
const ATTEMPTS_MAX = 3;
const TIMEOUT_MS = 5_000;
const RETRY_GAPS_MS = [60_000, 300_000] as const;
/** Part of a gap that is added at random, so that what failed together does not come back together. */
const JITTER = 0.1;
const SIGNATURE_VERSION = 'v1';
/** Supplement 12, Webhooks: the prefix, then base64 of 32 bytes. */
const SECRET_PREFIX = 'whsec_';

/** The text of a signing secret over 32 random bytes. */
export const formatSigningSecret = (bytes: Uint8Array): string =>
  `${SECRET_PREFIX}${Buffer.from(bytes).toString('base64')}`;

/** Whether a text is a signing secret with a key in it. */
export const isSigningSecret = (text: string): boolean =>
  text.startsWith(SECRET_PREFIX) && keyBytes(text).length > 0;

const keyBytes = (secret: string): Buffer => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');

/**
 * Webhooks of the main service (supplement 4). Each attempt carries two signatures with the time in seconds: ours, keyed
 * with the secret as it is written, and that of Standard Webhooks, keyed with the bytes behind its prefix.
 * Connection faults count as time-outs; redirects and 4xx other than 408 and 429 are final.
 */
export const subscriptionPolicy: DeliveryPolicy = {
  attemptsMax: ATTEMPTS_MAX,
  timeoutMs: TIMEOUT_MS,

  sign({ body, key, nowMs, eventId }) {
    const timestamp = String(Math.floor(nowMs / 1_000));
    const own = createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex');
    const standard = createHmac('sha256', keyBytes(key)).update(`${eventId}.${timestamp}.`).update(body);
    return {
      'X-Signature': `sha256=${own}`,
      'X-Timestamp': timestamp,
      'X-Signature-Version': SIGNATURE_VERSION,
      'webhook-id': eventId,
      'webhook-timestamp': timestamp,
      'webhook-signature': `${SIGNATURE_VERSION},${standard.digest('base64')}`,
    };
  },

  describe({ eventId, attempt }) {
    return { 'X-Event-Id': eventId, 'X-Attempt': String(attempt) };
  },

  decide({ result, attempt, nowMs }, random) {
    if (result.kind === 'answer' && result.status >= 200 && result.status < 300)
      return { state: 'delivered' };
    const isRetryable = result.kind === 'fault' ? result.retryable : isRetryableStatus(result.status);
    const gapMs = RETRY_GAPS_MS[attempt - 1];
    if (!isRetryable || gapMs === undefined) return { state: 'failed' };
    return { state: 'pending', retryAtMs: Math.round(nowMs + gapMs * (1 + JITTER * random)) };
  },
};

const isRetryableStatus = (status: number): boolean => status === 408 || status === 429 || status >= 500;
