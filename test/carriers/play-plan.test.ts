import { createHmac, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signPlayPlan, verifyPlayPlan } from '../../src/features/carriers/index.ts';
import type { PlayPlan } from '../../src/features/carriers/index.ts';
import { readStatusToken, statusPath } from '../../src/features/carriers/status-token.rules.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
const masterKey = randomBytes(32);
const by = { masterKeys: [masterKey], nowMs: NOW_MS };

const plan = (over: Partial<PlayPlan> = {}): PlayPlan => ({
  ...{ sendId: randomUUID(), teamId: randomUUID(), attempt: 1, onSpeech: randomUUID(), onBeep: randomUUID() },
  ...{ noVerdict: 'play_speech', optOutDigit: '9', expiresAtMs: NOW_MS + 60_000 },
  ...over,
});

describe('a play plan', () => {
  it('comes back as it was signed, whatever is in it', () => {
    const one = plan({ onBeep: null, optOutDigit: null, noVerdict: 'hang_up', onSpeech: 'Grüße.wav' });
    expect(verifyPlayPlan(signPlayPlan(one, masterKey), by)).toEqual(one);
  });

  it('is JSON and HMAC-SHA256 in base64url, under a key of its own from MASTER_KEY', () => {
    const one = plan();
    const [body = '', signature] = signPlayPlan(one, masterKey).split('.');
    const key = Buffer.from(hkdfSync('sha256', masterKey, '', 'play plan', 32));
    expect(JSON.parse(Buffer.from(body, 'base64url').toString())).toEqual(one);
    expect(signature).toBe(createHmac('sha256', key).update(body).digest('base64url'));
  });

  it('fits a parameter of a Twilio stream with its name', () => {
    expect(signPlayPlan(plan(), masterKey).length + 'play_plan'.length).toBeLessThan(500);
  });

  it('ends at its time', () => {
    const token = signPlayPlan(plan({ expiresAtMs: NOW_MS + 1 }), masterKey);
    expect(verifyPlayPlan(token, by)).not.toBeNull();
    expect(verifyPlayPlan(token, { ...by, nowMs: NOW_MS + 1 })).toBeNull();
  });

  it('holds under a former key while it is listed, and under no other', () => {
    const token = signPlayPlan(plan(), masterKey);
    expect(verifyPlayPlan(token, { ...by, masterKeys: [randomBytes(32), masterKey] })).not.toBeNull();
    expect(verifyPlayPlan(token, { ...by, masterKeys: [randomBytes(32)] })).toBeNull();
    expect(verifyPlayPlan(token, { ...by, masterKeys: [] })).toBeNull();
  });

  it('is not taken with any character changed, added or left out', () => {
    const token = signPlayPlan(plan(), masterKey);
    const at = fc.nat({ max: token.length - 1 });
    const character = fc.constantFrom(...'abcXYZ019-_.=+/ \0é');
    fc.assert(
      fc.property(at, character, fc.constantFrom('change', 'add', 'drop'), (index, other, how) => {
        const rest = token.slice(how === 'add' ? index : index + 1);
        const changed = token.slice(0, index) + (how === 'drop' ? '' : other) + rest;
        fc.pre(changed !== token);
        expect(verifyPlayPlan(changed, by)).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['', '.', '..', 'a', 'a.', '.a', 'e30.', 'a.b.c'])('is not made up: %j', (token) => {
    expect(verifyPlayPlan(token, by)).toBeNull();
  });
});

describe('the token of a status address', () => {
  const of = { carrierId: randomUUID(), sendId: randomUUID(), attempt: 3 };
  const tokenOf = (path: string): string => path.split('/').at(-1) ?? '';

  it('names its attempt, to the connection it was given for', () => {
    const path = statusPath(of, masterKey);
    expect(path.startsWith(`/carrier/twilio/${of.carrierId}/status/`)).toBe(true);
    const { carrierId, ...attempt } = of;
    expect(readStatusToken(tokenOf(path), { carrierId, masterKeys: [masterKey] })).toEqual(attempt);
    expect(readStatusToken(tokenOf(path), { carrierId: randomUUID(), masterKeys: [masterKey] })).toBeNull();
    expect(readStatusToken(tokenOf(path), { carrierId, masterKeys: [randomBytes(32)] })).toBeNull();
  });

  it('is no play plan, nor the other way round', () => {
    const { carrierId } = of;
    expect(verifyPlayPlan(tokenOf(statusPath(of, masterKey)), by)).toBeNull();
    const masterKeys = [masterKey];
    expect(readStatusToken(signPlayPlan(plan(), masterKey), { carrierId, masterKeys })).toBeNull();
  });
});
