import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallHeard } from '../../src/features/carriers/index.ts';
import { answers } from '../_util/carriers.ts';
import type { RecordingCarrier } from '../_util/carriers.ts';
import { until } from '../_util/index.ts';
import { DispatchWorld } from './dispatch.world.ts';
import type { SenderAccount } from './dispatch.world.ts';

let world: DispatchWorld;
let account: SenderAccount;
let own: RecordingCarrier;

beforeAll(async () => {
  world = await DispatchWorld.start();
});
afterAll(() => world.close());
beforeEach(async () => {
  account = await world.account();
  own = world.connect(account);
  own.answering = () => answers.accepted();
});

const text = (to: string) => ({ to, body: 'Hello.' });

const results = async (sendId: string): Promise<number> =>
  (await world.kinds(sendId)).filter((kind) => kind === 'result').length;

describe('a call that listened', () => {
  const heard = (more: Partial<CallHeard> = {}): CallHeard => ({
    ...{ teamId: account.teamId, attempt: 1, sessionId: world.accounts.services.ids.uuid(), callSid: 'CA1' },
    ...{ verdict: 'voicemail', beepAtMs: 4_000, played: 'beep', playedAtMs: 4_100, isHeardWhole: true },
    ...{ optOut: false, durationMs: 9_000 },
    ...more,
  });

  it.each([
    ['rvm', { played: 'beep', isHeardWhole: true }, 0],
    ['rvm', { played: 'beep', isHeardWhole: false }, 4000],
    ['rvm', { played: null, verdict: 'live_person' }, 4000],
    ['voice_broadcast', { played: 'speech', verdict: 'live_person', isHeardWhole: false }, 0],
    ['voice_broadcast', { played: null, verdict: 'silence' }, 4005],
    ['voice_broadcast', { played: null, verdict: 'unknown' }, 4004],
    ['voice_broadcast', { played: null, verdict: null }, 4005],
  ] as const)('of %s with %j ends with %i', async (channel, more, code) => {
    const message = channel === 'rvm' ? { media_id: account.mediaId } : { media_on_beep: account.mediaId };
    const sent = await world.send(account, channel, { to: world.number(), ...message });
    expect(sent.state).toBe('sent');
    const told = heard(more);
    const lane = `${account.teamId}:heard`;
    const row = { topic: 'send.heard', key: sent.sendId, lane, payload: { ...told } };
    const { outbox } = world.accounts.services;
    await outbox.tx((tx) => outbox.add(tx, [row, row]));
    await world.work();
    expect(await world.view(sent.sendId)).toMatchObject({
      ...{ state: 'finished', outcome_code: code, session_id: told.sessionId },
    });
    expect(await results(sent.sendId)).toBe(1);
  });

  it('a key pressed to opt out is a self-added entry, and dnc in the result', async () => {
    const to = world.number();
    const callback_url = 'https://example.com/hook';
    const sent = await world.send(account, 'voice_broadcast', {
      to,
      callback_url,
      media_on_speech: account.mediaId,
    });
    await world.results.heard(sent.sendId, heard({ played: 'speech', isHeardWhole: false, optOut: true }));
    const entries = await world.query('select self_added, method from dnc_entries where phone_number = $1', [
      to,
    ]);
    expect(entries).toEqual([{ self_added: true, method: 'phone' }]);
    const [callback] = await world.query<{ body: string }>(
      'select body from send_callbacks where send_id = $1',
      [sent.sendId],
    );
    expect(JSON.parse(callback?.body ?? '')).toMatchObject({ dnc: true, reason_code: 0 });
    expect((await world.send(account, 'sms', text(to))).outcome_code).toBe(4016);
  });

  it('of an attempt that is over ends nothing', async () => {
    const sent = await world.send(account, 'rvm', { to: world.number(), media_id: account.mediaId });
    await world.results.heard(sent.sendId, heard({ attempt: 7 }));
    await world.results.heard(sent.sendId, heard({ teamId: (await world.account()).teamId }));
    expect((await world.view(sent.sendId)).state).toBe('sent');
  });
});

describe('a process that stops', () => {
  it('hands back what it did not ask yet, and leaves open what it asked', async () => {
    const [first, second] = [world.number(), world.number()];
    const asked = await world.accept(account, 'sms', text(first));
    own.answering = (_, __, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    const relay = world.relay();
    const poked = relay.poke();
    await until(() => own.to(first).length > 0);
    const waiting = await world.accept(account, 'sms', text(second));
    await relay.stop({ graceMs: 0 });
    await poked;
    own.answering = () => answers.accepted();
    world.clock.advance(10_000);
    await world.work();
    world.clock.advance(10_000);
    await world.work();
    expect((await world.view(asked)).outcome_code).toBe(4090);
    expect((await world.view(waiting)).state).toBe('sent');
    expect([own.to(first).length, own.to(second).length]).toEqual([1, 1]);
  });
});
