import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { DetectionIdentity } from '../../src/features/credentials/index.ts';
import { Keyring, KeyringUnavailable } from '../../src/features/detection/keyring.service.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { until } from '../_util/index.ts';

const identity = (teamId = randomUUID()): DetectionIdentity => ({
  keyId: randomUUID(),
  teamId,
  createdBy: randomUUID(),
  expiresAtMs: null,
  revoked: false,
  detectionOn: true,
  hasFunds: true,
  concurrentSessions: 10,
  platformToken: null,
  keepTranscripts: false,
});

/** The look-up is outside the keyring: here it is told what to answer and counts how often it is asked. */
class Lookup {
  asked = 0;
  answer: (key: string) => Promise<DetectionIdentity | null>;
  constructor(answer: (key: string) => Promise<DetectionIdentity | null>) {
    this.answer = answer;
  }
  byKey(key: string): Promise<DetectionIdentity | null> {
    this.asked++;
    return this.answer(key);
  }
}

describe('the keyring', () => {
  it('asks once for many, and again after 15 s', async () => {
    const known = identity();
    const lookup = new Lookup(() => Promise.resolve(known));
    const clock = new ManualClock(0);
    const keyring = new Keyring(lookup, clock);
    expect(keyring.peek('a')).toBeUndefined();
    const found = await Promise.all(Array.from({ length: 50 }, () => keyring.get('a')));
    expect(found.every((one) => one === known)).toBe(true);
    expect(lookup.asked).toBe(1);
    clock.advance(14_999);
    expect(keyring.peek('a')).toBe(known);
    clock.advance(1);
    expect(keyring.peek('a')).toBeUndefined();
    await keyring.get('a');
    expect(lookup.asked).toBe(2);
  });

  it('reads again at once after news of the account, of it alone', async () => {
    const known = identity();
    const lookup = new Lookup(() => Promise.resolve(known));
    const keyring = new Keyring(lookup, new ManualClock(0));
    await keyring.get('a');
    keyring.invalidate(randomUUID());
    expect(keyring.peek('a')).toBe(known);
    keyring.invalidate(known.teamId);
    expect(keyring.peek('a')).toBeUndefined();
    await keyring.get('a');
    keyring.invalidate('');
    expect(keyring.peek('a')).toBeUndefined();
  });

  it('does not take an answer for fresh that was asked for before the news', async () => {
    const known = identity();
    let answer: (found: DetectionIdentity) => void = () => undefined;
    const lookup = new Lookup(() => new Promise((resolve) => (answer = resolve)));
    const keyring = new Keyring(lookup, new ManualClock(0));
    const reading = keyring.get('a');
    await until(() => lookup.asked === 1);
    keyring.invalidate(known.teamId);
    answer(known);
    await reading;
    expect(keyring.peek('a')).toBeUndefined();
  });

  it('serves the last answer for 60 s while the database is away, then nothing', async () => {
    const known = identity();
    const lookup = new Lookup(() => Promise.resolve(known));
    const clock = new ManualClock(0);
    const keyring = new Keyring(lookup, clock);
    await keyring.get('a');
    lookup.answer = () => Promise.reject(new Error('gone'));
    clock.advance(59_000);
    expect(await keyring.get('a')).toBe(known);
    clock.advance(1_001);
    await expect(keyring.get('a')).rejects.toThrow(KeyringUnavailable);
    await expect(keyring.get('b')).rejects.toThrow(KeyringUnavailable);
  });

  it('remembers unknown keys for a moment', async () => {
    const lookup = new Lookup(() => Promise.resolve(null));
    const clock = new ManualClock(0);
    const keyring = new Keyring(lookup, clock);
    expect([await keyring.get('a'), await keyring.get('a')]).toEqual([null, null]);
    expect(lookup.asked).toBe(1);
    clock.advance(2_000);
    await keyring.get('a');
    expect(lookup.asked).toBe(2);
  });

  it('keeps a flood of wrong keys in a small room, and known keys out of it', async () => {
    const known = identity();
    let atOnce = 0;
    let most = 0;
    const waiting: Array<() => void> = [];
    const lookup = new Lookup(async (key) => {
      if (key === 'good') return known;
      most = Math.max(most, ++atOnce);
      await new Promise<void>((resolve) => waiting.push(resolve));
      atOnce--;
      return null;
    });
    const keyring = new Keyring(lookup, new ManualClock(0));
    await keyring.get('good');
    const flood = Array.from({ length: 2_000 }, (_, i) =>
      keyring.get(`wrong-${i}`).then(
        () => 'judged',
        (error: unknown) => (error instanceof KeyringUnavailable ? 'turned away' : 'fault'),
      ),
    );
    expect(await keyring.get('good')).toBe(known);
    let isOver = false;
    const results = Promise.all(flood).finally(() => (isOver = true));
    await until(() => {
      waiting.splice(0).forEach((resolve) => resolve());
      return isOver;
    });
    const counts = (await results).reduce<Record<string, number>>(
      (sum, one) => ({ ...sum, [one]: (sum[one] ?? 0) + 1 }),
      {},
    );
    expect(most).toBeLessThanOrEqual(8);
    expect(counts).toEqual({ judged: 520, 'turned away': 1_480 });
  });
});
