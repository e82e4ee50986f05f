import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detectionPolicy, parseRetryAfter } from '../../src/features/webhooks/delivery.policy.rules.ts';
import type { AttemptResult } from '../../src/features/webhooks/delivery.policy.rules.ts';
import { classifyFault, excerptOf, mergeHeaders } from '../../src/features/webhooks/delivery.rules.ts';
import { withoutTranscript } from '../../src/features/webhooks/transcript.rules.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
const answer = (status: number, retryAfter?: string): AttemptResult => ({
  kind: 'answer',
  status,
  retryAfter,
});
const decide = (result: AttemptResult, attempt = 1, sinceFirstMs = 0, random = 0.5) =>
  detectionPolicy.decide({ attempt, firstStartedMs: NOW_MS - sinceFirstMs, nowMs: NOW_MS, result }, random);

describe('the policy of detection webhooks', () => {
  it.each([200, 201, 204, 299])('%i is delivered', (status) => {
    expect(decide(answer(status))).toEqual({ state: 'delivered' });
  });

  it.each([300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 408, 409, 410, 413, 418, 499])(
    '%i is final',
    (status) => {
      expect(decide(answer(status, '5'))).toEqual({ state: 'failed' });
    },
  );

  it.each([500, 501, 502, 503, 504, 599, 429])('%i is tried again', (status) => {
    expect(decide(answer(status)).state).toBe('pending');
  });

  it('tries a timeout or lost connection again, but not a refused target', () => {
    expect(decide({ kind: 'fault', retryable: true }).state).toBe('pending');
    expect(decide({ kind: 'fault', retryable: false })).toEqual({ state: 'failed' });
  });

  it('ends after four attempts', () => {
    for (const status of [429, 503]) {
      expect(decide(answer(status), 3, 13_000).state).toBe('pending');
      expect(decide(answer(status), 4, 43_000)).toEqual({ state: 'failed' });
    }
  });

  it.each([
    ['fails at once', 0],
    ['runs into every timeout', 10_000],
  ])('makes four attempts in about 45 s when the receiver %s', (_name, durationMs) => {
    let startMs = 0;
    const starts = [0];
    for (let attempt = 1; attempt < 4; attempt += 1) {
      const decision = decide({ kind: 'fault', retryable: true }, attempt, startMs + durationMs);
      if (decision.state !== 'pending') throw new Error('ended early');
      const inMs = decision.retryAtMs - NOW_MS;
      startMs += durationMs + inMs;
      starts.push(startMs);
    }
    expect(starts.at(-1)).toBeGreaterThanOrEqual(40_000);
    expect(starts.at(-1)).toBeLessThanOrEqual(50_000);
  });

  it('backs off exponentially, with jitter to either side', () => {
    const inMs = (attempt: number, random: number): number => {
      const decision = decide(answer(503), attempt, [0, 0, 3_000, 13_000][attempt], random);
      return decision.state === 'pending' ? decision.retryAtMs - NOW_MS : -1;
    };
    expect([1, 2, 3].map((attempt) => inMs(attempt, 0.5))).toEqual([3_000, 10_000, 30_000]);
    expect([inMs(2, 0), inMs(2, 1)]).toEqual([9_000, 11_000]);
  });

  it('waits as long as a 429 asks, never less, and at most 33 s', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (seconds, random) => {
          const decision = decide(answer(429, String(seconds)), 1, 0, random);
          if (decision.state !== 'pending') return false;
          const inMs = decision.retryAtMs - NOW_MS;
          return inMs >= Math.min(seconds, 30) * 1_000 && inMs <= 33_000;
        },
      ),
    );
  });

  it('heeds Retry-After on a 429 only', () => {
    expect(decide(answer(503, '20'))).toEqual({ state: 'pending', retryAtMs: NOW_MS + 3_000 });
  });

  it.each([
    [undefined, null],
    ['', null],
    ['soon', null],
    ['-1', null],
    ['2.5', null],
    ['1e3', null],
    ['0', 0],
    ['7', 7_000],
    [' 7 ', 7_000],
    ['31', 30_000],
    ['9999999999', 30_000],
    ['99999999999999999999', null],
    ['Sun, 01 Mar 2026 12:00:12 GMT', 12_000],
    ['Sunday, 01-Mar-26 12:00:12 GMT', 12_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['Sun, 01 Mar 2099 00:00:00 GMT', 30_000],
    ['Sun, 99 Mar 2026', null],
  ])('reads Retry-After %j as %j', (value, expected) => {
    expect(parseRetryAfter(value, NOW_MS)).toBe(expected);
  });

  it('signs timestamp and raw body with the key', () => {
    const body = '{"ü":1}';
    const headers = detectionPolicy.sign({ body, key: 'tgd_key', nowMs: NOW_MS, eventId: 'e' });
    const digest = createHmac('sha256', 'tgd_key').update(`${NOW_MS}.${body}`, 'utf8').digest('hex');
    expect(headers).toEqual({ 'X-Signature': `v1=hmac-sha256,${digest}`, 'X-Timestamp': String(NOW_MS) });
  });
});

describe('parts of an attempt', () => {
  it('keeps the names that are ours, whatever their case', () => {
    const merged = mergeHeaders(
      { 'x-signature': 'forged', 'CONTENT-type': 'text/plain', 'X-Mine': 'yes' },
      { 'X-Signature': 's' },
    );
    expect(merged).toEqual({
      'Content-Type': 'application/json',
      'User-Agent': 'Tonegate-Webhooks/1',
      'X-Signature': 's',
      'X-Mine': 'yes',
    });
  });

  it('keeps at most 1 KiB of an answer, whole characters, no NUL', () => {
    expect(excerptOf(Buffer.alloc(0))).toBeNull();
    expect(excerptOf(Buffer.from('a\0b'))).toBe('ab');
    expect(excerptOf(Buffer.from('ü'.repeat(600)))).toBe('ü'.repeat(512));
    expect(excerptOf(Buffer.from(`x${'ü'.repeat(600)}`))).toBe(`x${'ü'.repeat(511)}`);
    expect(excerptOf(Buffer.from([0xff, 0xfe, 0x41]))).toBe('\ufffd\ufffdA');
  });

  it('names faults in a word', () => {
    const word = (code: string): string => classifyFault(Object.assign(new Error('x'), { code })).word;
    expect(
      [
        'ENOTFOUND',
        'ECONNREFUSED',
        'ECONNRESET',
        'CERT_HAS_EXPIRED',
        'ERR_TLS_CERT_ALTNAME_INVALID',
        'X',
      ].map(word),
    ).toEqual([...['dns', 'connection_refused', 'connection_lost', 'tls', 'tls', 'connection_failed']]);
    expect(classifyFault('no error')).toEqual({ word: 'connection_failed', retryable: true });
  });

  it('takes what was said out of a body and leaves the rest', () => {
    const body = {
      event: 'detection',
      data: { type: 'voicemail', evidence: { words: ['please', 'leave'], level_db: -20 } },
    };
    expect(JSON.parse(withoutTranscript(JSON.stringify(body)) ?? '')).toEqual({
      event: 'detection',
      data: { type: 'voicemail', evidence: { level_db: -20 } },
    });
    const transcript = { event: 'transcript', data: { text: 'hello', is_final: true } };
    expect(withoutTranscript(JSON.stringify(transcript))).not.toContain('hello');
    expect(withoutTranscript('{"event":"beep"}')).toBeNull();
  });
});
