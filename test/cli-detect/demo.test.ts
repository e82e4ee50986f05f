import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { faultsOf, webhookFaults, type SampleTruth } from '../../src/main/cli/demo/answer.rules.ts';
import { faultOf } from '../../src/main/cli/demo/sends.ts';
import { readyLineUrls } from '../../src/main/cli/demo/service.process.ts';
import { verify } from '../../src/main/cli/demo/webhook.receiver.ts';
import type { WireEvent } from '../../src/main/cli/detect/call.client.ts';
import { eventLine } from '../../src/main/cli/detect/event.printer.ts';

const at = (event: string, timestampMs: number, payload: Record<string, unknown> = {}): WireEvent => ({
  type: 'event',
  event,
  payload: { session_id: 's', timestamp_ms: timestampMs, ...payload },
});
const END = [at('close', 9000), at('stopped', 9000)];
const TRUTH: SampleTruth = {
  file: 'x.wav',
  description: 'x',
  verdict: 'voicemail',
  durationMs: 9000,
  speechStartMs: 500,
  beep: { endMs: 6000, frequencyHz: 1000 },
};
const RIGHT = [
  at('detection', 2000, { type: 'voicemail', is_final: false }),
  at('beep', 6010, { frequency_hz: 1000.4 }),
  at('detection', 6120, { type: 'voicemail', is_final: true }),
  ...END,
];

describe('the demo’s judgement', () => {
  it('finds no fault in a call that was heard right', () => {
    expect(faultsOf(TRUTH, RIGHT)).toEqual([]);
  });

  it.each<[string, WireEvent[], string]>([
    ['no verdict', END, 'no verdict'],
    [
      'another verdict',
      [...RIGHT.slice(0, 2), at('detection', 7000, { type: 'live_person' }), ...END],
      'live_person instead',
    ],
    ['a verdict that is not final', [RIGHT[0]!, RIGHT[1]!, ...END], 'not final'],
    ['a missing beep', [RIGHT[2]!, ...END], 'was not heard'],
    ['a second beep', [RIGHT[1]!, ...RIGHT], '2 beeps'],
    ['a beep at another time', [at('beep', 6050, { frequency_hz: 1000 }), RIGHT[2]!, ...END], '50 ms off'],
    ['another pitch', [at('beep', 6000, { frequency_hz: 1010 }), RIGHT[2]!, ...END], '10.0 Hz off'],
    [
      'a voice before anybody spoke',
      [at('detection', 400, { type: 'live_person' }), ...RIGHT],
      'before anybody spoke',
    ],
    ['a session without an end', RIGHT.slice(0, -1), 'did not end'],
  ])('names %s', (_, events, fault) => {
    expect(faultsOf(TRUTH, events).join('; ')).toContain(fault);
  });

  it('wants one webhook for each event and none besides', () => {
    const deliveries = RIGHT.map(({ event, payload }) => ({
      event,
      data: { timestamp_ms: payload.timestamp_ms },
    }));
    expect(webhookFaults(RIGHT, deliveries)).toEqual([]);
    expect(webhookFaults(RIGHT, deliveries.slice(1))).toEqual(['no webhook of detection']);
    expect(webhookFaults(RIGHT.slice(1), deliveries)).toEqual([
      'a webhook of detection at 2000 without its event',
    ]);
  });
});

describe('the demo’s receiver', () => {
  const body = Buffer.from('{"delivery_id":"d1","event":"beep","call_id":"x.wav","data":{"timestamp_ms":5}}');
  const signed = (timestamp: string, key: string): Record<string, string> => ({
    'x-timestamp': timestamp,
    'x-signature': `v1=hmac-sha256,${createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex')}`,
    'x-delivery-id': 'd1',
    'x-event': 'beep',
  });

  it('believes a delivery that is signed with the Detection key', () => {
    const delivery = verify(signed(String(Date.now()), 'key'), body, 'key');
    expect(delivery).toEqual({ deliveryId: 'd1', event: 'beep', callId: 'x.wav', data: { timestamp_ms: 5 } });
  });

  it('refuses another key, an old timestamp and headers of another delivery', () => {
    const now = String(Date.now());
    expect(verify(signed(now, 'other'), body, 'key')).toBe('signature');
    expect(verify(signed(String(Date.now() - 301_000), 'key'), body, 'key')).toContain('timestamp');
    expect(verify({ ...signed(now, 'key'), 'x-delivery-id': 'd2' }, body, 'key')).toBe('headers');
  });
});

describe('the demo’s judgement of sends', () => {
  const id = '0197f1a0-0000-7000-8000-000000000000';
  const right = { status: 'success', reason_code: 0 };

  it('takes a result of delivered, and nothing else', () => {
    expect(faultOf(id, right)).toBeNull();
    expect(faultOf('400 {}', right)).toContain('not accepted: 400 {}');
    expect(faultOf(id, undefined)).toContain('no result');
    expect(faultOf(id, { ...right, reason_code: 4000 })).toContain('not delivered');
    expect(faultOf(id, { ...right, status: 'failure' })).toContain('not delivered');
    expect(faultOf(id, {})).toContain('not delivered');
  });
});

describe('lines', () => {
  it('finds the addresses in the ready line alone', () => {
    const urls = { http: 'http://127.0.0.1:2', detect: 'ws://127.0.0.1:1' };
    expect(readyLineUrls(JSON.stringify({ event: 'ready', ...urls }))).toEqual(urls);
    expect(readyLineUrls('{"event":"ready"}')).toBeUndefined();
    expect(readyLineUrls('hello')).toBeUndefined();
  });

  it('says what matters of an event', () => {
    const verdict = at('detection', 1980, {
      type: 'live_person',
      confidence: 0.8,
      reason: 'short_answer',
      is_final: true,
    });
    expect(eventLine(verdict)).toBe('   1.98 s  detection     live_person 0.80  short_answer, final');
    expect(eventLine(at('error', 0, { code: 'session_cap', error: 'full' }))).toContain('session_cap: full');
  });
});
