import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CarrierReceipt, CarrierResult } from '../../src/features/carriers/index.ts';
import { answers } from '../_util/carriers.ts';
import type { RecordingCarrier } from '../_util/carriers.ts';
import { DispatchWorld } from './dispatch.world.ts';
import type { SenderAccount, SendView } from './dispatch.world.ts';

const HOUR_MS = 3_600_000;

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
  world.carrier.answering = () => answers.ended();
});

type Sent = SendView & { readonly sendId: string };

const text = (to = world.number()) => ({ to, body: 'Hello.' });

const receipt = (
  sent: Sent,
  result: CarrierResult | null,
  more: Partial<CarrierReceipt> = {},
): CarrierReceipt => ({
  ...{
    carrierId: own.carrierId ?? '',
    teamId: account.teamId,
    carrierMessageId: sent.carrier_message_id ?? '',
  },
  ...{ sendId: null, attempt: null, result, status: result ? 'delivered' : 'queued', atMs: world.nowMs },
  ...more,
});

const results = async (sendId: string): Promise<number> =>
  (await world.kinds(sendId)).filter((kind) => kind === 'result').length;

describe('a result that comes later', () => {
  it('leaves the send in sent until its receipt ends it, once', async () => {
    const sent = await world.send(account, 'sms', text());
    expect(sent).toMatchObject({ state: 'sent', outcome_code: null });
    expect((await world.funds(account)).reserved).toBeCloseTo(0.0079);
    await world.results.receive(receipt(sent, null));
    expect((await world.view(sent.sendId)).state).toBe('sent');
    await world.results.receive(receipt(sent, { outcomeCode: 0, segments: 2 }));
    expect(await world.view(sent.sendId)).toMatchObject({ state: 'finished', outcome_code: 0, segments: 2 });
    expect(await world.funds(account)).toEqual({ balance: 100 - 0.0079, reserved: 0 });
    expect(await world.query('select 1 from outbox_later where key = $1', [sent.sendId])).toEqual([]);
  });

  it('twice, out of order, and after another result changes nothing', async () => {
    const sent = await world.send(account, 'sms', text());
    await world.results.receive(receipt(sent, { outcomeCode: 4004 }, { status: 'undelivered' }));
    await world.results.receive(receipt(sent, { outcomeCode: 4004 }, { status: 'undelivered' }));
    await world.results.receive(receipt(sent, { outcomeCode: 0 }));
    await world.results.receive(receipt(sent, null, { status: 'sending' }));
    expect(await world.view(sent.sendId)).toMatchObject({ outcome_code: 4004, reason: 'not_reachable' });
    expect(await results(sent.sendId)).toBe(1);
    expect(await world.funds(account)).toEqual({ balance: 100, reserved: 0 });
    expect(world.newsOf(account, 'contact.sms.status')).toHaveLength(1);
  });

  it('twenty at once end it once', async () => {
    const sent = await world.send(account, 'sms', text());
    const codes = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 0 : 4004));
    await Promise.all(codes.map((outcomeCode) => world.results.receive(receipt(sent, { outcomeCode }))));
    expect((await world.view(sent.sendId)).state).toBe('finished');
    expect(await results(sent.sendId)).toBe(1);
  });

  it('that never comes is 4090 after an hour for calls, three days for texts', async () => {
    const call = await world.send(account, 'voice_broadcast', {
      to: world.number(),
      media_on_beep: account.mediaId,
    });
    const sms = await world.send(account, 'sms', text());
    world.clock.advance(HOUR_MS - 1);
    await world.work();
    expect((await world.view(call.sendId)).state).toBe('sent');
    world.clock.advance(1);
    await world.work();
    expect(await world.view(call.sendId)).toMatchObject({ state: 'finished', outcome_code: 4090 });
    expect((await world.view(sms.sendId)).state).toBe('sent');
    world.clock.advance(71 * HOUR_MS);
    await world.work();
    expect(await world.view(sms.sendId)).toMatchObject({ state: 'finished', outcome_code: 4090 });
    expect(await world.funds(account)).toEqual({ balance: 100, reserved: 0 });
    world.clock.advance(-72 * HOUR_MS);
  });
});

describe('a receipt before the answer', () => {
  it('without a token is parked, and matched when the answer names its message', async () => {
    own.answering = async () => {
      const early = { carrierMessageId: 'early-1', result: { outcomeCode: 0 } as const, status: 'delivered' };
      const nothing = { sendId: null, attempt: null, atMs: world.nowMs };
      await world.results.receive({
        carrierId: own.carrierId ?? '',
        teamId: account.teamId,
        ...early,
        ...nothing,
      });
      return { kind: 'accepted', carrierMessageId: 'early-1' };
    };
    const sent = await world.send(account, 'sms', text());
    expect(sent).toMatchObject({ state: 'finished', outcome_code: 0, carrier_message_id: 'early-1' });
    expect(await world.query('select 1 from carrier_receipts')).toEqual([]);
    expect(await results(sent.sendId)).toBe(1);
  });

  it('with its token ends the send at once, and the answer changes nothing', async () => {
    own.answering = async ({ request }) => {
      if (!('sendId' in request)) throw new Error('a text has one');
      const token = { sendId: request.sendId, attempt: request.attempt };
      const told = { carrierMessageId: 'token-1', result: { outcomeCode: 4008 } as const, status: 'failed' };
      await world.results.receive({
        ...{ carrierId: own.carrierId ?? '', teamId: account.teamId, atMs: world.nowMs, ...token, ...told },
      });
      return { kind: 'accepted', carrierMessageId: 'token-1' };
    };
    const sent = await world.send(account, 'sms', text());
    expect(sent).toMatchObject({ state: 'finished', outcome_code: 4008 });
    expect(await results(sent.sendId)).toBe(1);
  });

  it('resolves what the carrier left open; what it does not resolve becomes 4090 after a moment', async () => {
    own.answering = () => answers.timedOut();
    const [resolved, open] = [
      await world.send(account, 'sms', text()),
      await world.send(account, 'sms', text()),
    ];
    expect([resolved.state, open.state]).toEqual(['sending', 'sending']);
    const token = { sendId: resolved.sendId, attempt: 1, carrierMessageId: 'late-1' };
    await world.results.receive(receipt(resolved, { outcomeCode: 0 }, token));
    world.clock.advance(10_000);
    await world.work();
    expect(await world.view(resolved.sendId)).toMatchObject({ state: 'finished', outcome_code: 0 });
    expect(await world.view(open.sendId)).toMatchObject({ state: 'finished', outcome_code: 4090 });
    expect(own.asked).toHaveLength(2);
  });

  it('about nothing of ours, of another account, connection or attempt ends nothing', async () => {
    const sent = await world.send(account, 'sms', text());
    const done = { outcomeCode: 0 } as const;
    const { ids } = world.accounts.services;
    await world.results.receive(receipt(sent, done, { carrierMessageId: 'nobody-knows' }));
    await world.results.receive(receipt(sent, null, { carrierMessageId: 'nobody-knows-2' }));
    await world.results.receive(receipt(sent, done, { teamId: (await world.account()).teamId }));
    await world.results.receive(receipt(sent, done, { carrierId: ids.uuid() }));
    await world.results.receive(receipt(sent, done, { sendId: sent.sendId, attempt: 2 }));
    await world.results.receive(receipt(sent, done, { sendId: sent.sendId, carrierMessageId: 'another' }));
    await world.results.receive(receipt(sent, done, { sendId: ids.uuid(), attempt: 1 }));
    expect((await world.view(sent.sendId)).state).toBe('sent');
    // A token that cannot be read does not make a known message unknown.
    await world.results.receive(receipt(sent, done, { sendId: 'not-an-id' }));
    expect((await world.view(sent.sendId)).state).toBe('finished');
  });
});

describe('what a result tells', () => {
  const call = (more: object = {}) => ({ to: world.number(), media_id: account.mediaId, ...more });

  it('contact.sms.status and the timeline of the contact', async () => {
    const to = world.number();
    const contactId = await world.contact(account, { phone_number: to });
    world.own.delete(account.teamId);
    await world.send(account, 'sms', text(to));
    const [told] = world.newsOf(account, 'contact.sms.status');
    expect(told).toEqual({
      ...{ team_id: account.teamId, contact_id: contactId, campaign_id: null, campaign_type: 'sms' },
      ...{ status: 'success', reason: 'success', reason_code: 0, to, from: '+12025550122', segments: 1 },
      drop_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    });
    const entries = await world.query('select type, data from timeline_entries where contact_id = $1', [
      contactId,
    ]);
    expect(entries).toEqual([{ type: 'sms', data: expect.objectContaining({ status: 'success', to }) }]);
  });

  it('never the message_id; send.finished names it for other slices', async () => {
    const sent = await world.send(account, 'sms', text('+15550020001'));
    expect(JSON.stringify(world.newsOf(account, 'contact.sms.status'))).not.toContain(sent.sendId);
    expect(world.newsOf(account, 'send.finished')[0]).toMatchObject({
      message_id: sent.sendId,
      reason_code: 0,
    });
  });

  it('contact.rvm.receipt for voicemails that were delivered, full or not set up, and for nothing else', async () => {
    world.own.delete(account.teamId);
    for (const outcomeCode of [0, 4001, 4002, 4000, 4005] as const) {
      world.carrier.answering = () => answers.ended({ outcomeCode });
      await world.send(account, 'rvm', call());
    }
    await world.send(account, 'voice_broadcast', { to: '+15550010001', media_on_beep: account.mediaId });
    const proofs = world.newsOf(account, 'contact.rvm.receipt');
    expect(proofs.map(({ reason_code }) => reason_code)).toEqual([0, 4001, 4002]);
    expect(proofs[0]).toMatchObject({
      proof_of_delivery_url: expect.stringMatching(
        /^https:\/\/api\.example\.com\/campaign\/public\/receipts\/[\w-]{32}$/,
      ),
      receipt_ready_at: world.nowMs,
    });
    expect(world.newsOf(account, 'contact.rvm.status').map(({ campaign_type }) => campaign_type)).toEqual([
      ...['rvm', 'rvm', 'rvm', 'rvm', 'rvm', 'voice_broadcast'],
    ]);
  });

  it('what a rule refused is no entry of the timeline', async () => {
    const to = world.number();
    const contactId = await world.contact(account, { phone_number: to });
    await world.accounts.services.dnc.add(account.caller, { phoneNumber: to });
    expect((await world.send(account, 'sms', text(to))).outcome_code).toBe(4016);
    expect(await world.query('select 1 from timeline_entries where contact_id = $1', [contactId])).toEqual(
      [],
    );
  });

  it('a contact that was deleted meanwhile does not keep its send from ending', async () => {
    const to = world.number();
    const contactId = await world.contact(account, { phone_number: to });
    const sent = await world.send(account, 'sms', text(to));
    await world.query('delete from contacts where id = $1', [contactId]);
    await world.results.receive(receipt(sent, { outcomeCode: 0 }));
    expect(await world.view(sent.sendId)).toMatchObject({ state: 'finished', contact_id: contactId });
  });

  it('a text of three segments and a spoken message cost what they are', async () => {
    world.own.delete(account.teamId);
    await world.send(account, 'sms', { to: world.number(), body: 'x'.repeat(400) });
    expect((await world.funds(account)).balance).toBeCloseTo(100 - 3 * 0.0079);
    const rvm = await world.send(account, 'rvm', {
      to: world.number(),
      tts_body: 'x'.repeat(101),
      voice_id: 'en-us',
    });
    expect(rvm).toMatchObject({ product_cost_micros: 20_000n, tts_fee_micros: 3_000n });
    expect((await world.funds(account)).balance).toBeCloseTo(100 - 3 * 0.0079 - 0.023);
  });
});
