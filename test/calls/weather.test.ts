import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import pg from 'pg';
import WebSocket from 'ws';
import { signPlayPlan } from '../../src/features/carriers/index.ts';
import { until } from '../_util/index.ts';
import { AdvancedClock, DRIVERS } from '../socket/world.ts';
import { SIDS } from './stream.double.ts';
import { callsWorld, sample } from './world.ts';
import type { CallsWorld } from './world.ts';

/** Takes the database away from everybody, and gives it back. */
async function outage(url: string): Promise<() => Promise<void>> {
  const name = new URL(url).pathname.slice(1);
  const admin = new pg.Client({ connectionString: inject('clusterUrl') });
  await admin.connect();
  await admin.query(`alter database ${name} with allow_connections false`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  return async () => {
    await admin.query(`alter database ${name} with allow_connections true`);
    await admin.end();
  };
}

interface Frame {
  readonly event: string;
  readonly media?: { readonly payload: string };
  readonly mark?: { readonly name: string };
}

describe('a call that hears, in bad weather', () => {
  const clock = new AdvancedClock();
  let world: CallsWorld;
  beforeEach(async () => {
    world = await callsWorld({ driver: DRIVERS[0] ?? 'ws', clock });
  });
  afterEach(() => world.close());

  it('is played while the database is away, and told of once when it is back', async () => {
    const speech = await world.store(1_000);
    const plan = world.plan({ onSpeech: speech.key });
    const restore = await outage(world.url);
    const double = await world.call(plan, { answer: sample('live-hello.wav') });
    expect(double.sound.equals(speech.audio)).toBe(true);
    expect(await world.gateway.journal.flush(100)).toBe(false);
    await restore();
    expect(await world.heard(plan)).toMatchObject({ played: 'speech', isHeardWhole: true });
    expect(await world.told(plan.sendId)).toHaveLength(1);
  });

  /** A stream on which nothing comes but what the test sends. */
  const stream = async (plan: ReturnType<CallsWorld['plan']>) => {
    const socket = new WebSocket(`${world.wsUrl}/carrier/ws/twilio`, {
      headers: { 'x-twilio-signature': 'of the platform' },
    });
    const frames: Frame[] = [];
    socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Frame));
    await once(socket, 'open');
    const send = (frame: object): void => socket.send(JSON.stringify(frame));
    const customParameters = { play_plan: signPlayPlan(plan, world.masterKey) };
    send({ event: 'start', streamSid: SIDS.streamSid, start: { ...SIDS, callSid: 'CA1', customParameters } });
    await until(() => world.gateway.admission.sessions === 1 && world.messages.pending === 0);
    return { socket, frames, send };
  };

  it('ends by the wall when the wire carries nothing, as the plan says', async () => {
    const speech = await world.store(1_500);
    const plan = world.plan({ onSpeech: speech.key, noVerdict: 'play_speech' });
    const { socket, frames, send } = await stream(plan);
    // The timeout of detection: nobody was heard in 45 s.
    clock.advance(46_000);
    const mark = await until(() => frames.find((frame) => frame.event === 'mark'));
    const closed = once(socket, 'close');
    send({ event: 'mark', mark: mark.mark });
    expect((await closed)[0]).toBe(1000);
    const played = Buffer.concat(frames.map(({ media }) => Buffer.from(media?.payload ?? '', 'base64')));
    expect(played.equals(speech.audio)).toBe(true);
    expect(await world.heard(plan)).toMatchObject({ verdict: null, played: 'speech', isHeardWhole: true });
  });

  it('gives the place back when its message never comes from the storage', async () => {
    const speech = await world.store(1_500);
    world.storage.stat = () => new Promise(() => undefined);
    const plan = world.plan({ onSpeech: speech.key, noVerdict: 'play_speech' });
    const socket = new WebSocket(`${world.wsUrl}/carrier/ws/twilio`, {
      headers: { 'x-twilio-signature': 'of the platform' },
    });
    const closed = once(socket, 'close');
    await once(socket, 'open');
    const customParameters = { play_plan: signPlayPlan(plan, world.masterKey) };
    socket.send(JSON.stringify({ event: 'start', start: { ...SIDS, callSid: 'CA1', customParameters } }));
    await until(() => world.gateway.admission.sessions === 1);
    clock.advance(46_000);
    // The timeout asks for the message; how long it is waited for is by the wall too.
    const ends = setInterval(() => clock.advance(2_000), 100);
    expect((await closed)[0]).toBe(1000);
    clearInterval(ends);
    expect(await world.heard(plan)).toMatchObject({ played: null });
    expect(world.gateway.admission.sessions).toBe(0);
  });
});
