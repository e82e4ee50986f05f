import type { CarrierKind, CarrierState } from './carriers.rules.ts';
import type { CarrierWork } from './port.type.ts';

/**
 * Which kinds of connection do which work, the preferred first. None drops voicemail by itself: through Twilio that is a
 * call that hears, and is asked for as a call. SMPP is listed so that texts are not simulated instead.
 */
const KINDS_FOR: Record<CarrierWork, readonly CarrierKind[]> = {
  text: ['twilio', 'smpp'],
  call: ['twilio'],
  drop: [],
  mail: ['smtp'],
};

/**
 * The connection that does a piece of work; null: none of the account's, so the built-in simulator. One that leads out of
 * the service comes before a simulator, an active one before one that rests, then the oldest (`rows` are in that order).
 * One that rests is chosen before a simulator: work that belongs to it waits instead of being simulated.
 */
export function connectionFor<R extends { kind: CarrierKind; state: CarrierState }>(
  rows: readonly R[],
  work: CarrierWork,
): R | null {
  for (const kind of [...KINDS_FOR[work], 'simulator']) {
    const fit = rows.filter((row) => row.kind === kind);
    const chosen = fit.find(({ state }) => state === 'active') ?? fit[0];
    if (chosen) return chosen;
  }
  return null;
}
