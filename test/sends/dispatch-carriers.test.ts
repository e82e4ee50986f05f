import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answers } from '../_util/carriers.ts';
import { until } from '../_util/index.ts';
import { DispatchWorld } from './dispatch.world.ts';
import type { SenderAccount } from './dispatch.world.ts';

const HOUR_MS = 3_600_000;

let world: DispatchWorld;
let account: SenderAccount;

beforeAll(async () => {
  world = await DispatchWorld.start();
});
afterAll(() => world.close());
beforeEach(async () => {
  account = await world.account();
  world.carrier.answering = () => answers.ended();
});

const text = (to: string, more: object = {}) => ({ to, body: 'Hello.', ...more });

describe('carriers that do not do as they should', () => {
  it('a retry puts the send off by what the carrier asked for, and the attempt does not count', async () => {
    const to = world.number();
    world.carrier.answering = (_, number) =>
      number === before + 1 ? answers.tooMany(30_000) : answers.ended();
    const before = world.carrier.asked.length;
    const send = await world.send(account, 'sms', text(to));
    expect(send).toMatchObject({ state: 'queued', attempt: 1 });
    expect(await world.funds(account)).toEqual({ balance: 100, reserved: 0 });
    expect(await world.query('select 1 from contact_attempts where phone_number = $1', [to])).toEqual([]);
    world.clock.advance(29_000);
    await world.work();
    expect(world.carrier.to(to)).toHaveLength(1);
    world.clock.advance(1_000);
    await world.work();
    expect(await world.view(send.sendId)).toMatchObject({ state: 'finished', outcome_code: 0, attempt: 2 });
    expect((await world.funds(account)).reserved).toBe(0);
  });

  it('a connection that rests, or whose rate is used up, is waited for: no attempt, no step, no money', async () => {
    world.carrier.wait = { afterMs: 60_000, detail: 'The carrier is paused.' };
    const to = world.number();
    const { sendId } = await world.send(account, 'sms', text(to));
    for (let minute = 0; minute < 30; minute += 1) {
      world.clock.advance(60_000);
      await world.work();
    }
    expect(await world.view(sendId)).toMatchObject({ state: 'queued', attempt: 0 });
    expect(await world.steps(sendId)).toEqual([]);
    expect(await world.funds(account)).toMatchObject({ reserved: 0 });
    world.carrier.wait = null;
    world.clock.advance(60_000);
    await world.work();
    expect(await world.view(sendId)).toMatchObject({ state: 'finished', outcome_code: 0, attempt: 1 });
  });

  it('a connection that rests for 72 hours ends it', async () => {
    world.carrier.wait = { afterMs: 60_000, detail: 'The carrier is paused.' };
    const { sendId } = await world.send(account, 'sms', text(world.number()));
    world.clock.advance(72 * 3_600_000 - 120_000);
    await world.work();
    expect(await world.view(sendId)).toMatchObject({ state: 'queued' });
    world.clock.advance(120_000);
    await world.work();
    const detail = 'The carrier is paused.';
    expect(await world.view(sendId)).toMatchObject({ outcome_code: 6003, detail, attempt: 0 });
    world.carrier.wait = null;
  });

  it('a carrier that takes nothing for 15 minutes ends it with its own words', async () => {
    world.carrier.answering = () => answers.noConnection();
    const to = world.number();
    const sendId = await world.accept(account, 'sms', text(to));
    const startMs = world.nowMs;
    for (let round = 0; round < 100 && (await world.view(sendId)).state !== 'finished'; round += 1) {
      await world.work();
      world.clock.advance(15_000);
    }
    expect(await world.view(sendId)).toMatchObject({
      ...{ state: 'finished', outcome_code: 6003, detail: 'The connection was refused.' },
    });
    expect(world.nowMs - startMs).toBeLessThan(16 * 60_000);
    expect(world.carrier.to(to).length).toBeGreaterThan(10);
    expect(await world.funds(account)).toEqual({ balance: 100, reserved: 0 });
  });

  it.each([
    ['times out', answers.timedOut],
    ['answers garbage', answers.garbage],
    [
      'throws',
      () => {
        throw new Error('the socket hung up');
      },
    ],
  ])('one that %s makes 4090, and is never asked again', async (_, answering) => {
    const to = world.number();
    world.carrier.answering = answering;
    const send = await world.send(account, 'sms', text(to));
    expect(send).toMatchObject({ state: 'finished', outcome_code: 4090, reason: 'result_unknown' });
    world.clock.advance(HOUR_MS);
    await world.work();
    expect(world.carrier.to(to)).toHaveLength(1);
    expect(await world.funds(account)).toEqual({ balance: 100, reserved: 0 });
  });

  it('a handler killed between the commit of sending and the answer leaves 4090, and no second request', async () => {
    const to = world.number();
    const sendId = await world.accept(account, 'sms', text(to));
    world.carrier.answering = () => new Promise(() => undefined);
    const relay = world.relay();
    const poked = relay.poke();
    await until(() => world.carrier.to(to).length > 0);
    expect(await world.view(sendId)).toMatchObject({ state: 'sending', attempt: 1 });
    // It never comes back; its lease runs out.
    world.carrier.answering = () => answers.ended();
    world.clock.advance(121_000);
    await world.work();
    expect(await world.view(sendId)).toMatchObject({ state: 'finished', outcome_code: 4090 });
    expect(world.carrier.to(to)).toHaveLength(1);
    expect((await world.kinds(sendId)).filter((kind) => kind === 'result')).toHaveLength(1);
    await relay.stop({ graceMs: 0 });
    void poked;
  });
});
