import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOpen, nextOpeningMs } from '../../src/features/delivery-rules/index.ts';
import type { DayWindow } from '../../src/features/delivery-rules/index.ts';

const DAY: DayWindow = { startMinute: 480, endMinute: 1_260 };
const MINUTE_MS = 60_000;
const DAYS_MS = 86_400_000;
const at = (iso: string): number => Date.parse(iso);
const opening = (zones: string[], iso: string, window = DAY): string | null => {
  const fromMs = at(iso);
  const openMs = nextOpeningMs(zones, window, { fromMs, untilMs: fromMs + 3 * DAYS_MS });
  return openMs === null ? null : new Date(openMs).toISOString();
};

describe('Calling hours', () => {
  it.each([
    ['2026-01-15T12:59:59.999Z', false],
    ['2026-01-15T13:00:00Z', true],
    ['2026-01-16T01:59:59.999Z', true],
    ['2026-01-16T02:00:00Z', false],
    ['2026-07-15T11:59:59Z', false],
    ['2026-07-15T12:00:00Z', true],
    ['2026-07-16T00:59:59Z', true],
    ['2026-07-16T01:00:00Z', false],
  ])('are 8 to 21 of the clock in New York, summer or winter: at %s open is %s', (iso, isWithin) => {
    expect(isOpen(['America/New_York'], DAY, at(iso))).toBe(isWithin);
  });

  it('are open only while every zone is', () => {
    const zones = ['America/New_York', 'America/Los_Angeles'];
    expect(isOpen(zones, DAY, at('2026-01-15T15:59:00Z'))).toBe(false);
    expect(isOpen(zones, DAY, at('2026-01-15T16:00:00Z'))).toBe(true);
    expect(isOpen(zones, DAY, at('2026-01-16T02:00:00Z'))).toBe(false);
    expect(opening(zones, '2026-01-15T13:00:00Z')).toBe('2026-01-15T16:00:00.000Z');
    expect(opening(zones, '2026-01-16T02:30:00Z')).toBe('2026-01-16T16:00:00.000Z');
  });

  it.each([
    // United States: 2026-03-08 at 2:00 and 2026-11-01 at 2:00 (15 U.S.C. 260a).
    ['America/New_York', '2026-03-08T02:30:00Z', '2026-03-08T12:00:00.000Z'],
    ['America/New_York', '2026-11-01T02:30:00Z', '2026-11-01T13:00:00.000Z'],
    // European Union: 2026-03-29 and 2026-10-25 at 1:00 UTC (directive 2000/84/EC).
    ['Europe/Berlin', '2026-03-28T21:00:00Z', '2026-03-29T06:00:00.000Z'],
    ['Europe/Berlin', '2026-10-24T21:00:00Z', '2026-10-25T07:00:00.000Z'],
    // The southern half: forward on 2026-10-04, back on 2026-04-05.
    ['Australia/Sydney', '2026-10-03T12:00:00Z', '2026-10-03T21:00:00.000Z'],
    ['Australia/Sydney', '2026-04-04T12:00:00Z', '2026-04-04T22:00:00.000Z'],
    // Half an hour.
    ['Australia/Lord_Howe', '2026-10-03T12:00:00Z', '2026-10-03T21:00:00.000Z'],
    ['America/Phoenix', '2026-03-08T04:30:00Z', '2026-03-08T15:00:00.000Z'],
  ])('open at 8 on the day the clocks change: %s from %s', (zone, fromIso, openIso) => {
    expect(opening([zone], fromIso)).toBe(openIso);
  });

  it('open at the jump where the clocks jump over their start', () => {
    const window = { startMinute: 150, endMinute: 240 };
    expect(opening(['America/New_York'], '2026-03-08T06:00:00Z', window)).toBe('2026-03-08T07:00:00.000Z');
  });

  it('open again in the hour that comes twice', () => {
    const window = { startMinute: 60, endMinute: 90 };
    // 1:40 for the first time; twenty minutes later it is 1:00 for the second.
    expect(opening(['America/New_York'], '2026-11-01T05:40:00Z', window)).toBe('2026-11-01T06:00:00.000Z');
  });

  it('have no next opening for zones that share no minute of the window', () => {
    const window = { startMinute: 540, endMinute: 600 };
    expect(opening(['America/New_York', 'Asia/Tokyo'], '2026-01-15T00:00:00Z', window)).toBeNull();
  });

  it('open at the very end of the range, and not after it', () => {
    const fromMs = at('2026-01-15T03:00:00Z');
    const openMs = at('2026-01-15T13:00:00Z');
    const zones = ['America/New_York'];
    expect(nextOpeningMs(zones, DAY, { fromMs, untilMs: openMs })).toBe(openMs);
    expect(nextOpeningMs(zones, DAY, { fromMs, untilMs: openMs - 1 })).toBeNull();
  });

  const ZONES = [
    ...['America/New_York', 'America/Los_Angeles', 'America/Phoenix', 'America/St_Johns', 'Europe/London'],
    ...[
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'Africa/Casablanca',
      'Pacific/Chatham',
      'Pacific/Kiritimati',
    ],
  ];
  /** Days around changes of the clocks of one of the zones, and a quiet one. */
  const DAYS = [
    '2026-03-07',
    '2026-10-31',
    '2026-03-28',
    '2026-10-24',
    '2026-04-04',
    '2026-10-03',
    '2026-02-14',
  ];
  const clock = new Map(
    ZONES.map((timeZone) => [
      timeZone,
      new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    ]),
  );
  /** Read off the clock in another way. */
  const isOpenByClock = (zones: readonly string[], window: DayWindow, atMs: number): boolean =>
    zones.every((zone) => {
      const [hour = 0, minute = 0] = (clock.get(zone)?.format(atMs) ?? '').split(':').map(Number);
      const minutes = hour * 60 + minute;
      return minutes >= window.startMinute && minutes < window.endMinute;
    });
  const windows = fc
    .tuple(fc.nat({ max: 1_439 }), fc.integer({ min: 1, max: 1_440 }))
    .filter(([start, end]) => start < end)
    .map(([startMinute, endMinute]): DayWindow => ({ startMinute, endMinute }));
  const zoneSets = fc.uniqueArray(fc.constantFrom(...ZONES), { minLength: 1, maxLength: 3 });
  const moments = fc
    .tuple(fc.constantFrom(...DAYS), fc.nat({ max: 2 * DAYS_MS }))
    .map(([day, ms]) => at(`${day}T00:00:00Z`) + ms);

  it('open at the first minute at which a look at every clock says so', () => {
    const RANGE_MS = 30 * 3_600_000;
    fc.assert(
      fc.property(zoneSets, windows, moments, (zones, window, fromMs) => {
        const untilMs = fromMs + RANGE_MS;
        let expected: number | null = null;
        for (let ms = fromMs; ms <= untilMs && expected === null;) {
          if (isOpenByClock(zones, window, ms)) expected = ms;
          else ms = (Math.floor(ms / MINUTE_MS) + 1) * MINUTE_MS;
        }
        expect(nextOpeningMs(zones, window, { fromMs, untilMs })).toBe(expected);
      }),
      { numRuns: 150 },
    );
  });

  it('are the same by both ways of looking, at any moment', () => {
    fc.assert(
      fc.property(zoneSets, windows, moments, (zones, window, atMs) => {
        expect(isOpen(zones, window, atMs)).toBe(isOpenByClock(zones, window, atMs));
      }),
      { numRuns: 500 },
    );
  });
});
