/** Money is integer micro-units of the one currency (supplement 11): 1.00 is 1_000_000. */
export type Micros = bigint;

export const MICROS_PER_UNIT = 1_000_000n;

const DECIMAL = /^(\d{1,12})(?:\.(\d{1,6}))?$/;

/** Parses a non-negative decimal such as `100` or `0.25`; null when it is not one or has more than six places. */
export function parseMoney(text: string): Micros | null {
  const match = DECIMAL.exec(text);
  if (!match?.[1]) return null;
  return BigInt(match[1]) * MICROS_PER_UNIT + BigInt((match[2] ?? '').padEnd(6, '0'));
}

/** `100.00`, `-0.012345`: two places at least, six at most. */
export function formatMoney(micros: Micros): string {
  const sign = micros < 0n ? '-' : '';
  const absolute = micros < 0n ? -micros : micros;
  const fraction = (absolute % MICROS_PER_UNIT)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${sign}${absolute / MICROS_PER_UNIT}.${fraction}`;
}
