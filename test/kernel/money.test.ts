import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMoney, parseMoney } from '../../src/kernel/money.ts';

describe('money', () => {
  it.each([
    ['100', 100_000_000n],
    ['0.25', 250_000n],
    ['0.000001', 1n],
    ['123456789012.654321', 123_456_789_012_654_321n],
  ])('reads %s as micro-units', (text, micros) => {
    expect(parseMoney(text)).toBe(micros);
  });

  it.each(['', '-1', '1e3', '.5', '5.', '1.0000001', '1234567890123', '0x10', ' 1', 'NaN'])(
    'refuses %j, which is no plain decimal of at most six places',
    (text) => {
      expect(parseMoney(text)).toBeNull();
    },
  );

  it.each([
    [0n, '0.00'],
    [100_000_000n, '100.00'],
    [-12_345n, '-0.012345'],
    [1_500_000n, '1.50'],
    [1_230_000n, '1.23'],
    [600n, '0.0006'],
  ])('shows %d micro-units with two places at least', (micros, text) => {
    expect(formatMoney(micros)).toBe(text);
  });

  it('reads back whatever it shows', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), (micros) => {
        expect(parseMoney(formatMoney(micros))).toBe(micros);
      }),
    );
  });
});
