import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  attemptsCountFromMs,
  decide,
  DEFAULT_RULES,
  emailFrequencyRefusal,
  emailsCountFromMs,
  isSimulated,
  simulatedOutcome,
} from '../../src/features/delivery-rules/index.ts';
import type { Decision, Facts, SendChannel } from '../../src/features/delivery-rules/index.ts';

const NOON = Date.parse('2026-01-15T17:00:00Z');
const NIGHT = Date.parse('2026-01-15T04:00:00Z');
const OPENING = Date.parse('2026-01-15T13:00:00Z');
const DAY_MS = 86_400_000;
const CHANNELS: readonly SendChannel[] = ['rvm', 'sms', 'voice_broadcast', 'ai_broadcast'];
const CALLS = CHANNELS.filter((channel) => channel !== 'sms');

type Change = Partial<Omit<Facts, 'rules'>> & { rules?: Partial<Facts['rules']> };
const NUMBER = '+12125550123';

/** Noon in New York, and nothing in the way. */
const facts = ({ rules, ...change }: Change = {}): Facts => ({
  ...{ nowMs: NOON, channel: 'sms', phoneNumber: NUMBER, postalCode: null, region: 'US' },
  ...{ attempts: 0, isListed: false, optIn: 'missing', hasTextingCampaign: true, isTestMode: false },
  ...{ availableMicros: 1_000_000n, priceMicros: 7_900n, expiresAtMs: NOON + 3 * DAY_MS },
  ...change,
  rules: { ...DEFAULT_RULES, ...rules },
});
const deliver: Decision = { kind: 'deliver' };
const refuse = (code: number) => ({ kind: 'refuse', code });

describe('A decision', () => {
  it.each(CHANNELS)('lets a %s go when nothing is in its way', (channel) => {
    expect(decide(facts({ channel }))).toEqual(deliver);
  });

  /** Each breaks one rule, in the order in which the rules speak (supplement 12, Sends). */
  const FAULTS: readonly (readonly [code: number, change: Change])[] = [
    [3040, { isTestMode: true }],
    [3000, { availableMicros: 7_899n }],
    [4016, { isListed: true }],
    [6005, { optIn: 'revoked', rules: { textsNeedConsent: true, callsNeedConsent: true } }],
    [6009, { hasTextingCampaign: false }],
    [4013, { attempts: 3 }],
    [4011, { nowMs: NIGHT }],
  ];

  it.each(FAULTS)('refuses a text with %i when only that is in the way', (code, change) => {
    expect(decide(facts(change))).toEqual(refuse(code));
  });

  it('names the first of several faults, for each pair of them', () => {
    for (const [index, [code, change]] of FAULTS.entries()) {
      for (const [, later] of FAULTS.slice(index + 1)) {
        const both = { ...later, ...change, rules: { ...later.rules, ...change.rules } };
        expect(decide(facts(both))).toEqual(refuse(code));
      }
    }
  });

  it('needs no more money than the price, and none where it is free', () => {
    expect(decide(facts({ availableMicros: 7_900n }))).toEqual(deliver);
    expect(decide(facts({ availableMicros: 0n, priceMicros: 0n }))).toEqual(deliver);
  });

  it.each([
    ['sms', 'textsNeedConsent', 'missing', 6011],
    ['sms', 'textsNeedConsent', 'revoked', 6005],
    ['sms', 'textsNeedConsent', 'granted', null],
    ['sms', 'callsNeedConsent', 'missing', null],
    ...CALLS.flatMap(
      (channel) =>
        [
          [channel, 'callsNeedConsent', 'missing', 6011],
          [channel, 'callsNeedConsent', 'revoked', 6005],
          [channel, 'callsNeedConsent', 'granted', null],
          [channel, 'textsNeedConsent', 'missing', null],
        ] as const,
    ),
  ] as const)('of a %s where the account has %s and the opt-in is %s: %s', (channel, rule, optIn, code) => {
    const decision = decide(facts({ channel, optIn, rules: { [rule]: true } }));
    expect(decision).toEqual(code === null ? deliver : refuse(code));
  });

  it.each(CALLS)('asks a %s for no texting campaign', (channel) => {
    expect(decide(facts({ channel, hasTextingCampaign: false }))).toEqual(deliver);
  });

  it('keeps to the frequency limit of the account, but not for its test numbers', () => {
    expect(decide(facts({ attempts: 2 }))).toEqual(deliver);
    expect(decide(facts({ attempts: 4, rules: { phoneAttemptsMax: 5 } }))).toEqual(deliver);
    expect(decide(facts({ attempts: 0, rules: { phoneAttemptsMax: 0 } }))).toEqual(refuse(4013));
    expect(decide(facts({ attempts: 9, rules: { testNumbers: [NUMBER] } }))).toEqual(deliver);
    expect(decide(facts({ isListed: true, rules: { testNumbers: [NUMBER] } }))).toEqual(refuse(4016));
  });

  it.each(CALLS)('holds a %s at night until it may go', (channel) => {
    const night = facts({ channel, nowMs: NIGHT });
    expect(decide(night)).toEqual({ kind: 'hold', untilMs: OPENING, why: 'calling_hours' });
    expect(decide({ ...night, nowMs: OPENING })).toEqual(deliver);
  });

  it.each(CALLS)('refuses a %s that was held too long', (channel) => {
    const late = facts({ channel, nowMs: NIGHT, expiresAtMs: NIGHT });
    expect(decide(late)).toEqual({ kind: 'refuse', code: 4011, reason: 'tcpa_expired' });
    const soon = facts({ channel, nowMs: NIGHT, expiresAtMs: OPENING - 1 });
    expect(decide(soon)).toEqual({ kind: 'hold', untilMs: OPENING - 1, why: 'calling_hours' });
  });

  it('takes the hours of the account, and none when they are off', () => {
    expect(decide(facts({ nowMs: NIGHT, rules: { hoursEnabled: false } }))).toEqual(deliver);
    expect(decide(facts({ rules: { hoursStartMinute: 780 } }))).toEqual(refuse(4011));
    expect(decide(facts({ nowMs: NIGHT, rules: { hoursEndMinute: 1_440 } }))).toEqual(deliver);
  });

  it('takes the hours of the ZIP code before those of the number', () => {
    // 8:30 in New York, 3:30 in Honolulu.
    const morning = { nowMs: Date.parse('2026-01-15T13:30:00Z') };
    expect(decide(facts(morning))).toEqual(deliver);
    expect(decide(facts({ ...morning, postalCode: '96813' }))).toEqual(refuse(4011));
  });

  it.each(CHANNELS)('lets a %s to a simulated number go whatever is in its way', (channel) => {
    const phoneNumber = channel === 'sms' ? '+15550020001' : '+15550010001';
    const all = FAULTS.reduce<Change>(
      (sum, [, change]) => ({ ...sum, ...change, rules: { ...sum.rules, ...change.rules } }),
      { phoneNumber, channel },
    );
    expect(decide(facts(all))).toEqual(deliver);
    const other = channel === 'sms' ? '+15550010001' : '+15550020001';
    expect(decide(facts({ ...all, phoneNumber: other }))).toEqual(refuse(3040));
  });

  const anyFacts = fc
    .record({
      channel: fc.constantFrom(...CHANNELS),
      nowMs: fc.nat({ max: 366 * DAY_MS }).map((ms) => Date.parse('2026-01-01T00:00:00Z') + ms),
      leftMs: fc.integer({ min: -DAY_MS, max: 3 * DAY_MS }),
      phoneNumber: fc.constantFrom(NUMBER, '+14155550123', '+493012345678', '+61291234567', '+18005550123'),
      hoursEnabled: fc.boolean(),
      isListed: fc.boolean(),
      attempts: fc.nat({ max: 5 }),
    })
    .map(({ leftMs, hoursEnabled, ...rest }) =>
      facts({ ...rest, expiresAtMs: rest.nowMs + leftMs, rules: { hoursEnabled } }),
    );

  it('never lets anything go to a listed number, nor beyond the limit', () => {
    fc.assert(
      fc.property(anyFacts, (of) => {
        if (of.isListed || of.attempts >= 3) expect(decide(of).kind).toBe('refuse');
      }),
    );
  });

  it('holds only calls, until later, but never beyond their end; then they go, or end', () => {
    fc.assert(
      fc.property(anyFacts, (of) => {
        const decision = decide(of);
        if (decision.kind !== 'hold') return;
        expect(of.channel).not.toBe('sms');
        expect(decision.untilMs).toBeGreaterThan(of.nowMs);
        expect(decision.untilMs).toBeLessThanOrEqual(of.expiresAtMs);
        const then = decide({ ...of, nowMs: decision.untilMs });
        const isEnd = decision.untilMs === of.expiresAtMs;
        expect(then.kind === 'deliver' || (isEnd && then.kind === 'refuse')).toBe(true);
      }),
    );
  });
});

describe('Simulated numbers', () => {
  /** Supplement 3, word for word. */
  const CALL_ROWS =
    '0001 0 0002 4000 0004 4005 0005 4006 0006 4004 0090 4016 0091 4017 0092 4019 0093 4021 0094 6000 0095 6002 0097 4013 0098 6005 0099 6011';
  const TEXT_ROWS =
    '0001 0 0003 4004 0005 4008 0090 4016 0091 4017 0092 6000 0093 6003 0095 4013 0096 6006 0097 6004 0098 6011 0099 6001';
  const rowsOf = (rows: string): [string, number][] =>
    [...rows.matchAll(/(\d{4}) (\d+)/g)].map(([, number = '', code]) => [number, Number(code)]);

  it('end as the table says, for the whole range of each channel, and only there', () => {
    for (const channel of CHANNELS) {
      const own = new Map(rowsOf(channel === 'sms' ? TEXT_ROWS : CALL_ROWS));
      const [prefix, other] = channel === 'sms' ? ['+1555002', '+1555001'] : ['+1555001', '+1555002'];
      const endings = Array.from({ length: 10_000 }, (_, n) => String(n).padStart(4, '0'));
      const wrong = endings.filter(
        (last) =>
          simulatedOutcome(channel, prefix + last) !== (own.get(last) ?? null) ||
          isSimulated(channel, other + last),
      );
      expect(wrong).toEqual([]);
      expect(isSimulated(channel, `${prefix}0001`)).toBe(true);
      expect(isSimulated(channel, `${prefix}00011`)).toBe(false);
    }
  });
});

describe('The frequency limits of emails', () => {
  const rules = { ...DEFAULT_RULES, testEmails: ['test@example.com'] };
  const email = (sendType: 'bulk' | 'transactional', sent: number, address = 'Ada@example.com') =>
    emailFrequencyRefusal(rules, { address, sendType, sent });

  it('are 15 bulk and 30 transactional ones, but none for test addresses', () => {
    expect([email('bulk', 14), email('bulk', 15)]).toEqual([null, 5019]);
    expect([email('transactional', 29), email('transactional', 30)]).toEqual([null, 5020]);
    expect([email('bulk', 99, 'TEST@example.com'), email('transactional', 99, 'test@example.com')]).toEqual([
      null,
      null,
    ]);
  });

  it('count from three days before, or one', () => {
    expect(emailsCountFromMs(rules, 'bulk', NOON)).toBe(NOON - 3 * DAY_MS);
    expect(emailsCountFromMs(rules, 'transactional', NOON)).toBe(NOON - DAY_MS);
    expect(attemptsCountFromMs(rules, NOON)).toBe(NOON - 3 * DAY_MS);
  });
});
