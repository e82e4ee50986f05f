import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answers } from '../_util/carriers.ts';
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

describe('a send that nothing speaks against', () => {
  it('goes to the carrier once, is paid, and shows each step', async () => {
    const to = world.number();
    const send = await world.send(account, 'sms', text(to));
    expect(send).toMatchObject({
      state: 'finished',
      outcome_code: 0,
      reason: 'success',
      attempt: 1,
      segments: 1,
    });
    expect(world.carrier.to(to)).toHaveLength(1);
    expect(world.carrier.to(to)[0]).toMatchObject({
      work: 'text',
      request: { sendId: send.sendId, attempt: 1, from: '+12025550122', body: 'Hello.', statusUrl: null },
    });
    expect(await world.kinds(send.sendId)).toEqual([
      'decided',
      'carrier_request',
      'carrier_answer',
      'result',
    ]);
    expect(await world.funds(account)).toEqual({ balance: 100 - 0.0079, reserved: 0 });
  });

  it('is a drop, a call with both messages, or a call of an agent, by its channel', async () => {
    const [rvm, broadcast, agent] = [world.number(), world.number(), world.number()];
    const { mediaId, agentId } = account;
    await world.send(account, 'rvm', { to: rvm, media_id: mediaId });
    await world.send(account, 'voice_broadcast', { to: broadcast, media_on_beep: mediaId });
    await world.send(account, 'ai_broadcast', { to: agent, agent_id: agentId, caller_id: '+12025550177' });
    expect(world.carrier.to(rvm)[0]?.work).toBe('drop');
    expect(world.carrier.to(broadcast)[0]).toMatchObject({
      work: 'call',
      request: { channel: 'voice_broadcast' },
    });
    expect(world.carrier.to(agent)[0]).toMatchObject({
      work: 'call',
      request: { channel: 'ai_broadcast', from: '+12025550177' },
    });
  });

  it('through a carrier of its own an rvm is a call that plays after the beep', async () => {
    const own = world.connect(account);
    const to = world.number();
    await world.send(account, 'rvm', { to, tts_body: 'Hi {{contact.first_name|there}}', voice_id: 'en-us' });
    const asked = own.to(to)[0];
    if (asked?.work !== 'call') throw new Error('it should be a call');
    expect(asked.request.statusUrl).toContain(own.carrierId);
    const plan = JSON.parse(asked.request.stream.parameters.plan ?? '');
    expect(plan).toMatchObject({ onSpeech: null, noVerdict: 'hang_up', teamId: account.teamId, attempt: 1 });
    expect(plan.onBeep).toMatch(/^spoken-/);
    expect(world.spoken.at(-1)).toEqual({ voiceId: 'en-us', text: 'Hi there' });
  });
});

describe('rules', () => {
  it('do-not-contact refuses with 4016, whatever the brand of the entry says of other brands', async () => {
    const [all, mine, other] = [world.number(), world.number(), world.number()];
    const { dnc } = world.accounts.services;
    await dnc.add(account.caller, { phoneNumber: all });
    await dnc.add(account.caller, { phoneNumber: mine, brandId: account.brandId });
    const [brand] = await world.query<{ id: string }>(
      `insert into brands (id, team_id, company_name, created_by) values (gen_random_uuid(), $1, 'Other', $2) returning id`,
      [account.teamId, account.ownerId],
    );
    await dnc.add(account.caller, { phoneNumber: other, brandId: brand?.id });
    expect((await world.send(account, 'sms', text(all))).outcome_code).toBe(4016);
    expect((await world.send(account, 'sms', text(mine))).outcome_code).toBe(4016);
    expect((await world.send(account, 'sms', text(other))).outcome_code).toBe(0);
  });

  it('the fourth attempt in three days is 4013, over all phone channels; refused ones do not count', async () => {
    const to = world.number();
    await world.send(account, 'rvm', { to, media_id: account.mediaId });
    await world.send(account, 'sms', { to });
    await world.send(account, 'sms', text(to));
    world.carrier.answering = () => answers.refused();
    await world.send(account, 'sms', text(to));
    world.carrier.answering = () => answers.ended();
    expect((await world.send(account, 'sms', text(to))).outcome_code).toBe(0);
    const fourth = await world.send(account, 'sms', text(to));
    expect(fourth).toMatchObject({ outcome_code: 4013, state: 'finished', attempt: 0 });
    expect(await world.kinds(fourth.sendId)).toEqual(['decided', 'result']);
    world.clock.advance(73 * HOUR_MS);
    expect((await world.send(account, 'sms', text(to))).outcome_code).toBe(0);
    world.clock.advance(-73 * HOUR_MS);
  });

  it('without funds it is 3000, in testing mode 3040, without a texting campaign 6009', async () => {
    const poor = await world.account({ funds: 0.005 });
    expect((await world.send(poor, 'sms', text(world.number()))).outcome_code).toBe(3000);
    await world.query('update teams set test_mode = true where id = $1', [poor.teamId]);
    expect((await world.send(poor, 'sms', text(world.number()))).outcome_code).toBe(3040);
    const unregistered = await world.account();
    await world.query(`update brands set texting_campaign_status = 'none' where team_id = $1`, [
      unregistered.teamId,
    ]);
    expect((await world.send(unregistered, 'sms', text(world.number()))).outcome_code).toBe(6009);
  });

  it('an account whose subscription is not paid has no funds', async () => {
    await world.query(`update teams set dunning_tier = 'suspended' where id = $1`, [account.teamId]);
    expect((await world.send(account, 'sms', text(world.number()))).outcome_code).toBe(3000);
  });

  it('consent counts only when the account demands it', async () => {
    const to = world.number();
    const contactId = await world.contact(account, { phone_number: to });
    expect((await world.send(account, 'sms', text(to))).outcome_code).toBe(0);
    await world.query(
      'insert into dialing_rules (team_id, texts_need_consent, updated_by) values ($1, true, $2)',
      [...[account.teamId, account.ownerId]],
    );
    expect((await world.send(account, 'sms', text(to))).outcome_code).toBe(6011);
    await world.query(
      `insert into consents (id, team_id, contact_id, consent_type, phone_number, consent_text, consent_text_hash,
         consent_method, granted_by) values (gen_random_uuid(), $1, $2, 'sms_optin', $3, 'Yes', 'x', 'phone', $4)`,
      [account.teamId, contactId, to, account.ownerId],
    );
    expect((await world.send(account, 'sms', text(to))).outcome_code).toBe(0);
    await world.query('update consents set revoked_at = now() where contact_id = $1', [contactId]);
    expect((await world.send(account, 'sms', text(to))).outcome_code).toBe(6005);
  });
});

describe('outside calling hours', () => {
  const NIGHT_MS = 12 * HOUR_MS;

  it('a text fails with 4011; a voicemail is held and goes out in the morning', async () => {
    world.clock.advance(NIGHT_MS);
    const to = world.number();
    expect((await world.send(account, 'sms', text(to))).outcome_code).toBe(4011);
    const held = await world.send(account, 'rvm', { to, media_id: account.mediaId });
    expect(held).toMatchObject({ state: 'held', outcome_code: null, phone_number: to });
    expect(held.held_until?.toISOString()).toBe('2026-03-03T13:00:00.000Z');
    expect(await world.kinds(held.sendId)).toEqual(['decided', 'held']);
    await world.work();
    expect(world.carrier.to(to)).toEqual([]);
    world.clock.advance(9 * HOUR_MS);
    await world.work();
    expect(await world.view(held.sendId)).toMatchObject({
      state: 'finished',
      outcome_code: 0,
      held_until: null,
    });
    expect(world.carrier.to(to)).toHaveLength(1);
    world.clock.advance(-NIGHT_MS - 9 * HOUR_MS);
  });

  it('what cannot go out for three days ends as tcpa_expired', async () => {
    await world.query(
      `insert into dialing_rules (team_id, hours_start_minute, hours_end_minute, updated_by) values ($1, 0, 1, $2)`,
      [account.teamId, account.ownerId],
    );
    const sendId = await world.accept(account, 'rvm', { to: world.number(), media_id: account.mediaId });
    let moved = 0;
    await world.work();
    while ((await world.view(sendId)).state === 'held') {
      const until = (await world.view(sendId)).held_until?.getTime() ?? 0;
      // A minute late each time: the window of one minute is over.
      const step = until + 120_000 - world.nowMs;
      world.clock.advance(step);
      moved += step;
      await world.work();
    }
    expect(await world.view(sendId)).toMatchObject({
      state: 'finished',
      outcome_code: 4011,
      reason: 'tcpa_expired',
    });
    expect(moved).toBeGreaterThanOrEqual(3 * 24 * HOUR_MS);
    world.clock.advance(-moved);
  });
});

describe('two at once', () => {
  it('of two sends racing for the last allowed attempt one goes', async () => {
    const to = world.number();
    await world.send(account, 'sms', text(to));
    await world.send(account, 'sms', text(to));
    const ids = [await world.accept(account, 'sms', text(to)), await world.accept(account, 'sms', text(to))];
    const relays = [world.relay(), world.relay()];
    await Promise.all(relays.map((relay) => relay.poke()));
    await Promise.all(relays.map((relay) => relay.stop({ graceMs: 0 })));
    const codes = await Promise.all(ids.map(async (id) => (await world.view(id)).outcome_code));
    expect(codes.sort()).toEqual([0, 4013]);
    expect(world.carrier.to(to)).toHaveLength(3);
  });

  it('of twenty sends in one batch to one number three go', async () => {
    const to = world.number();
    const ids: string[] = [];
    for (let i = 0; i < 20; i += 1) ids.push(await world.accept(account, 'sms', text(to)));
    await world.work();
    const codes = await Promise.all(ids.map(async (id) => (await world.view(id)).outcome_code));
    expect(codes.filter((code) => code === 0)).toHaveLength(3);
    expect(codes.filter((code) => code === 4013)).toHaveLength(17);
    expect(world.carrier.to(to)).toHaveLength(3);
  });

  it('of two sends racing for the last funds one goes', async () => {
    const poor = await world.account({ funds: 0.01 });
    const ids = [world.number(), world.number()].map((to) => world.accept(poor, 'sms', text(to)));
    const sendIds = await Promise.all(ids);
    await world.work();
    const codes = await Promise.all(sendIds.map(async (id) => (await world.view(id)).outcome_code));
    expect(codes.sort()).toEqual([0, 3000]);
    expect((await world.funds(poor)).reserved).toBe(0);
  });

  it('an opt-out that commits after the rules were asked stops a send that is on its way', async () => {
    const own = world.connect(account);
    const to = world.number();
    const sendId = await world.accept(account, 'rvm', { to, tts_body: 'Hello.', voice_id: 'en-us' });
    // The audio is made between the first look at the rules and the attempt.
    const speak = async (): Promise<string> => {
      await world.accounts.services.dnc.add(account.caller, { phoneNumber: to });
      return 'spoken';
    };
    await world.work(world.handlers({ audio: { ...world.options.audio, speak } }));
    expect(await world.view(sendId)).toMatchObject({ outcome_code: 4016, attempt: 0 });
    expect(own.asked).toEqual([]);
  });
});
