import type { Micros } from '../../kernel/money.ts';

export type LedgerKind = 'funds_added' | 'reserved' | 'captured' | 'released' | 'refunded';

/** Why money moved; booked once for each kind and account. */
export interface Cause {
  causeType: string;
  causeId: string;
}

/** One immutable entry: what it adds to the balance and to the reserved part of it, micro-units. */
export interface LedgerEntry extends Cause {
  teamId: string;
  kind: LedgerKind;
  amountMicros: Micros;
  reservedMicros: Micros;
}

export interface Movement extends Cause {
  teamId: string;
  /** Not negative. */
  amountMicros: Micros;
}

/*
 * Entries (supplement 11): funds_added +a; reserved +r reserved; captured −a, and −r of what was reserved for it;
 * released −r reserved; refunded +a.
 */
export const fundsAdded = (m: Movement): LedgerEntry => entry('funds_added', m, m.amountMicros, 0n);
export const reserved = (m: Movement): LedgerEntry => entry('reserved', m, 0n, m.amountMicros);
export const released = (m: Movement): LedgerEntry => entry('released', m, 0n, -m.amountMicros);
export const refunded = (m: Movement): LedgerEntry => entry('refunded', m, m.amountMicros, 0n);

/** `reservedMicros`: what had been reserved for this cause, 0 without a reservation. */
export const captured = (m: Movement & { reservedMicros?: Micros }): LedgerEntry =>
  entry('captured', m, -m.amountMicros, -(m.reservedMicros ?? 0n));

function entry(
  kind: LedgerKind,
  movement: Movement,
  amountMicros: Micros,
  reservedMicros: Micros,
): LedgerEntry {
  if (movement.amountMicros < 0n) throw new RangeError('a movement of money is not negative');
  const { teamId, causeType, causeId } = movement;
  return {
    teamId,
    kind,
    amountMicros: amountMicros || 0n,
    reservedMicros: reservedMicros || 0n,
    causeType,
    causeId,
  };
}
