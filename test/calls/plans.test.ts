import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signPlayPlan } from '../../src/features/carriers/index.ts';
import { socketSchemas } from '../../src/features/detection/index.ts';
import { until } from '../_util/index.ts';
import { wavOf } from '../platform/audio/wav.ts';
import { silence } from '../socket/audio.ts';
import { expectSchema } from '../socket/client.ts';
import { DRIVERS, socketWorld } from '../socket/world.ts';
import { StreamDouble } from './stream.double.ts';
import { callsWorld, sample } from './world.ts';
import type { CallsWorld, StoredMessage } from './world.ts';

const HELLO = sample('live-hello.wav');

describe('the plan of a call that hears', () => {
  let world: CallsWorld;
  let speech: StoredMessage;
  beforeAll(async () => {
    world = await callsWorld({ driver: DRIVERS[0] ?? 'ws' });
    speech = await world.store(1_000);
  });
  afterAll(() => world.close());

  const open = (parameters: Record<string, string>, answer = HELLO): Promise<StreamDouble> =>
    StreamDouble.run({ url: `${world.wsUrl}/carrier/ws/twilio`, parameters, answer });

  const sign = (changes: Parameters<CallsWorld['plan']>[0], key = world.masterKey): string =>
    signPlayPlan(world.plan({ onSpeech: speech.key, ...changes }), key);

  const tampered = (token: string): string => {
    const [body = '', signature = ''] = token.split('.');
    const text = Buffer.from(body, 'base64url').toString().replace('"attempt":1', '"attempt":2');
    return `${Buffer.from(text).toString('base64url')}.${signature}`;
  };

  it.each([
    ['that was changed', () => tampered(sign({}))],
    ['of another service', () => sign({}, randomBytes(32))],
    ['without its signature', () => sign({}).split('.')[0] ?? ''],
    ['that has expired', () => sign({ expiresAtMs: 1 })],
    ['of nonsense', () => 'nonsense'],
  ])('closes with 1008 for a plan %s, and tells nobody', async (_what, token) => {
    const account = await world.createAccount();
    // A good key beside it does not help.
    const double = await open({ play_plan: token(), api_key: account.detectionKey });
    expect(double.closed).toEqual({ code: 1008, reason: 'play_plan refused' });
    expect(double.sound).toHaveLength(0);
    await world.gateway.journal.flush(20_000);
    const { rows } = await world.db.query('select 1 from outbox', []);
    expect(rows).toEqual([]);
  });

  it('closes with 1008 where nothing can be played', async () => {
    const other = await socketWorld({ driver: DRIVERS[0] ?? 'ws' });
    const url = `${other.wsUrl}/carrier/ws/twilio`;
    const double = await StreamDouble.run({ url, parameters: { play_plan: sign({}) }, answer: HELLO });
    expect(double.closed?.code).toBe(1008);
    await other.close();
  });

  it('takes an empty plan for none: the key decides', async () => {
    const account = await world.createAccount();
    const double = await open({ play_plan: '', api_key: account.detectionKey }, silence(100));
    // The answer goes on in silence until the session has heard its 300 s, or the line is hung up.
    expect(double.closed).toEqual({ code: 1000, reason: 'stop' });
    expect(double.sound).toHaveLength(0);
  });

  it('plays to an account without funds and beside its full detection sessions', async () => {
    const { teamId } = await world.createAccount({ funds: '0', concurrentSessions: 1 });
    const plans = [1, 2, 3].map((attempt) => world.plan({ teamId, attempt, onSpeech: speech.key }));
    const doubles = await Promise.all(plans.map((plan) => world.call(plan, { answer: HELLO })));
    for (const double of doubles) expect(double.sound.equals(speech.audio)).toBe(true);
    for (const plan of plans)
      expect(await world.heard(plan)).toMatchObject({ teamId, attempt: plan.attempt, isHeardWhole: true });
  });

  const unplayable: readonly (readonly [string, () => Promise<string>])[] = [
    ['is not there', async () => '0b9c3c1e-5b6e-4f0a-9d53-6a0c2f3f6a11'],
    ['has a key that is no key of ours', async () => '../../etc/passwd'],
    ['is no WAV', () => world.put(Buffer.from('ID3 and so on, no WAV at all'))],
    ['has 16 kHz', () => world.put(wavOf(Buffer.alloc(32_000), { rateHz: 16_000 }))],
    ['has no audio', () => world.put(wavOf(Buffer.alloc(0)))],
    ['is longer than 10 minutes', () => world.put(wavOf(Buffer.alloc(601 * 16_000)))],
    ['is larger than 25 MiB', () => world.put(Buffer.alloc(25 * 1024 * 1024 + 1))],
  ];

  it.each(unplayable)('ends without a sound when the message %s', async (_what, key) => {
    const plan = world.plan({ onSpeech: await key() });
    const double = await world.call(plan, { answer: HELLO });
    expect(double.sound).toHaveLength(0);
    expect(double.closed?.code).toBe(1000);
    expect(await world.heard(plan)).toMatchObject({ verdict: 'live_person', played: null });
  });

  it('lives with frames that make no sense, and answers only what the schemas say', async () => {
    const plan = world.plan({ onSpeech: speech.key, optOutDigit: '9' });
    const odd = [null, 7, 'mark', [], {}, { name: 7 }, { name: 'speech-1' }, { digit: 9 }, { digit: '99' }];
    const double = await world.call(plan, {
      answer: HELLO,
      odd: odd.flatMap((value) => [
        { event: 'mark', mark: value },
        { event: 'dtmf', dtmf: value },
      ]),
    });
    expect(double.sound.equals(speech.audio)).toBe(true);
    expect(await world.heard(plan)).toMatchObject({ isHeardWhole: true, optOut: false });
    expect(double.frames.length).toBeGreaterThan(1);
    for (const frame of double.frames) expectSchema(`platform.send_${String(frame['event'])}`, frame);
    expect(Object.keys(socketSchemas())).toContain('platform.send_clear');
  });
});

describe('a process that takes one session', () => {
  it('tells of a call that it could not hear', async () => {
    const world = await callsWorld({ driver: DRIVERS[0] ?? 'ws', maxSessions: 1 });
    const speech = await world.store(1_000);
    const first = world.plan({ onSpeech: speech.key });
    const second = world.plan({ onSpeech: speech.key });
    let refused: StreamDouble | undefined;
    await world.call(first, {
      answer: HELLO,
      onStarted: async () => {
        await until(() => world.messages.pending === 0);
        refused = await world.call(second, { answer: HELLO, onStarted: async () => undefined });
      },
    });
    expect(refused?.closed).toEqual({ code: 1013, reason: 'no session is free' });
    expect(await world.heard(second)).toMatchObject({ verdict: null, played: null, durationMs: 0 });
    expect(await world.heard(first)).toMatchObject({ played: 'speech', isHeardWhole: true });
    await world.close();
  });

  it('tells of the calls that its end cut off', async () => {
    const world = await callsWorld({ driver: DRIVERS[0] ?? 'ws' });
    const speech = await world.store(1_000);
    const plan = world.plan({ onSpeech: speech.key });
    const double = await world.call(plan, { answer: HELLO, onStarted: () => world.gateway.drain(0) });
    expect(double.closed?.code).toBe(1001);
    expect(await world.heard(plan)).toMatchObject({ verdict: null, played: null });
    await world.close();
  });
});
