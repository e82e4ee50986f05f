import type { SendKey } from './dispatch.type.ts';

/** What an attempt's money is booked under: once for each attempt. */
export const attemptCause = (send: SendKey, attempt: number) => ({
  teamId: send.teamId,
  causeType: 'send',
  causeId: `${send.sendId}:${attempt}`,
});

/** A carrier that takes nothing is asked again for so long in all. */
export const RETRY_IN_ALL_MS = 15 * 60_000;
/** A connection that rests, or whose rate is used up, is waited for so long after the acceptance. */
export const TURN_IN_ALL_MS = 72 * 3_600_000;
const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/** Added on top, never taken off: what a carrier asked for is not shortened. */
const JITTER = 0.25;

/**
 * When a carrier that took nothing is asked again: what it asked for, at least a growing pause, with jitter. Null: it was
 * asked for long enough. `sinceMs`: the first request; `random` is uniform in 0..1.
 */
export function retryAtMs(
  of: { afterMs: number; attempt: number; sinceMs: number },
  nowMs: number,
  random: number,
): number | null {
  const growingMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(of.attempt - 1, 10));
  const atMs = nowMs + Math.round(Math.max(of.afterMs, growingMs) * (1 + JITTER * random));
  return atMs - of.sinceMs > RETRY_IN_ALL_MS ? null : atMs;
}
