/** Failed attempts in a row that pause an endpoint (supplement 4, Retries). */
export const FAILURES_MAX = 10;
/** How long a pause lasts (supplement 4). */
export const PAUSE_MS = 300_000;

export type EndpointStatus = 'active' | 'paused' | 'disabled';

/** What a subscription knows of its endpoint. */
export interface EndpointState {
  readonly status: EndpointStatus;
  /** Failed attempts since the last that succeeded. */
  readonly failures: number;
  /** Epoch milliseconds; null unless paused. */
  readonly pausedUntilMs: number | null;
  /** The delivery that tries a paused endpoint again. */
  readonly probeId: string | null;
}

/** A new endpoint, or one that its owner has mended. */
export const FRESH_ENDPOINT: EndpointState = {
  status: 'active',
  failures: 0,
  pausedUntilMs: null,
  probeId: null,
};

/**
 * What to do with a delivery that is due: `send` it, send it as the `probe` after a pause, let it `wait` for the probe's
 * answer, or `drop` it (it stays in the log for a replay).
 */
export type Admission = 'send' | 'probe' | 'wait' | 'drop';

/**
 * Judges a due delivery. `isAsked`: its owner asked for it by a replay, which is made once even in a pause.
 */
export function admit(
  state: EndpointState,
  delivery: { deliveryId: string; isAsked: boolean },
  nowMs: number,
): Admission {
  if (state.status === 'disabled') return 'drop';
  if (state.status === 'active') return 'send';
  if (isPausedAt(state, nowMs)) return delivery.isAsked ? 'send' : 'drop';
  return state.probeId === null || state.probeId === delivery.deliveryId ? 'probe' : 'wait';
}

/** Whether events of this moment are dropped. */
export const isPausedAt = (state: Pick<EndpointState, 'status' | 'pausedUntilMs'>, nowMs: number): boolean =>
  state.status === 'paused' && state.pausedUntilMs !== null && nowMs < state.pausedUntilMs;

/** `gone` is the answer 410. */
export type AttemptOutcome = 'success' | 'failure' | 'gone';

/**
 * The endpoint after an attempt; the same object when nothing changed. While it is paused only the probe's outcome
 * counts: attempts that were under way when the pause began, and replays, neither lengthen nor end it.
 */
export function afterAttempt(
  state: EndpointState,
  attempt: { deliveryId: string; outcome: AttemptOutcome; nowMs: number },
): EndpointState {
  const { deliveryId, outcome, nowMs } = attempt;
  if (state.status === 'disabled') return state;
  if (outcome === 'gone') {
    return { status: 'disabled', failures: state.failures + 1, pausedUntilMs: null, probeId: null };
  }
  if (state.status === 'paused' && state.probeId !== deliveryId) return state;
  if (outcome === 'success') return isFresh(state) ? state : FRESH_ENDPOINT;
  const failures = state.failures + 1;
  if (failures < FAILURES_MAX) return { ...state, failures };
  return { status: 'paused', failures, pausedUntilMs: nowMs + PAUSE_MS, probeId: null };
}

const isFresh = (state: EndpointState): boolean => state.status === 'active' && state.failures === 0;
