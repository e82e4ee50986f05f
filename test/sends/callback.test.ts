import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answers } from '../_util/carriers.ts';
import { catchWebhooks } from '../_util/index.ts';
import type { Answer, Catcher } from '../_util/index.ts';
import { createCallbackHandler } from '../../src/features/sends/callback.jobs.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import { DispatchWorld } from './dispatch.world.ts';
import type { SenderAccount } from './dispatch.world.ts';

let world: DispatchWorld;
let account: SenderAccount;
let catcher: Catcher;
let answer: Answer;

beforeAll(async () => {
  world = await DispatchWorld.start();
  catcher = await catchWebhooks(() => answer);
});
afterAll(async () => {
  await catcher.close();
  await world.close();
});
beforeEach(async () => {
  account = await world.account();
  answer = { status: 200 };
  catcher.caught.length = 0;
});

/** Sends with a callback that a public check let pass; the receiver is here. */
async function send(more: object = {}, of: { version?: 1 | 2 } = {}): Promise<string> {
  const to = world.number();
  const checkUrl = async (): Promise<void> => undefined;
  const request = { to, body: 'Hello.', callback_url: catcher.url, ...more };
  const sendId = await world.accept(account, 'sms', request, of);
  await world.work(world.handlers({ net: { checkUrl } }));
  return sendId;
}

const callbackStep = async (sendId: string) =>
  (await world.steps(sendId)).filter(({ kind }) => kind === 'callback').map(({ detail }) => detail);

describe('callback_url', () => {
  it('gets one POST, not signed, with the fields of the contract', async () => {
    const to = world.number();
    const contactId = await world.contact(account, { phone_number: to });
    const sendId = await send({ to, foreign_id: 'mine' });
    expect(catcher.caught).toHaveLength(1);
    const [caught] = catcher.caught;
    expect(Object.keys(caught?.headers ?? {}).filter((name) => /signature|timestamp/.test(name))).toEqual([]);
    expect(caught?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(caught?.body ?? '')).toEqual({
      ...{ drop_id: expect.any(String), session_id: expect.any(String), log_id: expect.any(String) },
      ...{ team_id: account.teamId, contact_id: contactId, phone_number: to, caller_id: '+12025550122' },
      ...{ product_code: 'sms', status: 'success', reason: 'success', reason_code: 0, quantity: 1 },
      ...{ product_cost: 0.0079, compliance_fee: 0, tts_fee: 0, dnc: false, foreign_id: 'mine' },
      ...{ attempt_date: new Date(world.nowMs).toISOString(), proof_of_delivery_url: null },
    });
    expect(caught?.body).not.toContain(sendId);
    const [status] = world.newsOf(account, 'contact.sms.status');
    expect(JSON.parse(caught?.body ?? '').drop_id).toBe(status?.drop_id);
    expect(await callbackStep(sendId)).toEqual([{ state: 'delivered', status_code: 200, error: null }]);
    await world.work();
    expect(catcher.caught).toHaveLength(1);
  });

  it('is told of refusals too, with the detail that names the field', async () => {
    await send({ to: 'nobody' });
    const told = JSON.parse(catcher.caught[0]?.body ?? '');
    expect(told).toMatchObject({
      status: 'failure',
      reason: 'field_invalid',
      reason_code: 3029,
      quantity: 0,
    });
    expect(told.detail).toContain('to must be');
    expect(told.phone_number).toBeNull();
  });

  it('of version 1 has the fields of version 1', async () => {
    const to = world.number();
    await send({ to, foreign_id: 'old' }, { version: 1 });
    world.carrier.answering = () => answers.ended({ outcomeCode: 4004 });
    await send({ to }, { version: 1 });
    world.carrier.answering = () => answers.ended();
    await world.accounts.services.dnc.add(account.caller, { phoneNumber: to });
    await send({ to }, { version: 1 });
    expect(catcher.caught.map(({ body }) => JSON.parse(body))).toEqual([
      { foreign_id: 'old', status: 'delivered', phone_number: to, reason: 'success' },
      { foreign_id: null, status: 'failed', phone_number: to, reason: 'not_reachable' },
      { foreign_id: null, status: 'opted_out', phone_number: to, reason: 'do_not_contact' },
    ]);
  });

  it.each([
    ['an answer of 500', { status: 500 }, { state: 'failed', status_code: 500, error: null }],
    [
      'a redirect',
      { status: 302, headers: { location: '/elsewhere' } },
      { state: 'failed', status_code: 302, error: null },
    ],
    ['a hang-up', 'hangup', { state: 'failed', status_code: null, error: expect.any(String) }],
  ] as const)('%s is final: no second try', async (_, given, expected) => {
    answer = given;
    const sendId = await send();
    world.clock.advance(3_600_000);
    await world.work();
    world.clock.advance(-3_600_000);
    expect(catcher.caught).toHaveLength(1);
    expect(await callbackStep(sendId)).toEqual([expected]);
  });

  it('at a private address is an outcome that names it, and is never called', async () => {
    const sent = await world.send(account, 'sms', {
      to: world.number(),
      body: 'Hi',
      callback_url: catcher.url,
    });
    expect(sent).toMatchObject({ outcome_code: 3029, attempt: 0 });
    expect(sent.detail).toContain('callback_url');
    expect(catcher.caught).toEqual([]);
    expect(await world.query('select 1 from send_callbacks where send_id = $1', [sent.sendId])).toEqual([]);
  });

  it('whose name leads to a private address only when it is called is not reached', async () => {
    const { db } = world.accounts.services;
    const net = createNet({ allowPrivateTargets: false, logger: silentLogger });
    const checkUrl = async (): Promise<void> => undefined;
    const request = { to: world.number(), body: 'Hi', callback_url: catcher.url };
    const sendId = await world.accept(account, 'sms', request);
    const handlers = world.handlers({ net: { checkUrl } }).filter(({ topic }) => topic !== 'send.callback');
    await world.work([...handlers, createCallbackHandler({ db, clock: world.clock, net })]);
    await net.close();
    expect(catcher.caught).toEqual([]);
    const [step] = await callbackStep(sendId);
    expect(step).toMatchObject({ state: 'failed', error: expect.stringContaining('refused') });
  });
});
