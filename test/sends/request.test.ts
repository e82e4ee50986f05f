import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SendChannel } from '../../src/features/delivery-rules/index.ts';
import { checkRequest, firstFault } from '../../src/features/sends/request.rules.ts';
import { DispatchWorld } from './dispatch.world.ts';
import type { SenderAccount } from './dispatch.world.ts';

const TO = '+12125550100';
const ID = '6f2c1f5e-6f3a-4d1b-9a55-1c1d1e1f2021';

/** The code of the first fault that can be seen in the body alone; null: none. */
const codeOf = (channel: SendChannel, body: unknown): number | null =>
  firstFault(checkRequest(channel, body).faults)?.code ?? null;

describe('a body alone', () => {
  it.each([
    ['rvm', { to: TO, media_id: ID }],
    ['rvm', { contact_id: ID, tts_body: 'Hello', voice_id: 'en-us', postal_code: '10001' }],
    ['rvm', { to: TO, audio_url: 'https://example.com/a.wav', caller_id: TO, brand_id: ID }],
    ['sms', { to: TO, body: 'x'.repeat(1_600), foreign_id: 'mine', callback_url: 'https://example.com' }],
    ['sms', { to: '+442079460000', media_urls: ['https://example.com/a.png'] }],
    ['sms', { to: TO, rcs_content: { title: 'Hi' } }],
    ['sms', { to: TO, body: 'Hi', phone_line_id: null, unknown_field: { a: [1] } }],
    ['voice_broadcast', { to: TO, media_on_speech: ID, tts_on_beep: 'Hi', voice_id: 'en-us' }],
    ['ai_broadcast', { to: TO, agent_id: ID, variables: { name: 'Ada' } }],
  ] as const)('%s with %j has no fault', (channel, body) => {
    expect(codeOf(channel, body)).toBeNull();
  });

  it.each([
    ['no number', 'sms', { body: 'Hi' }],
    ['an empty object', 'rvm', {}],
    ['no text', 'sms', { to: TO }],
    ['null as a value', 'sms', { to: TO, body: null }],
    ['no message', 'rvm', { to: TO }],
    ['no message for anybody', 'voice_broadcast', { to: TO }],
    ['no agent', 'ai_broadcast', { to: TO }],
  ] as const)('%s is 3030', (_, channel, body) => {
    expect(codeOf(channel, body)).toBe(3030);
  });

  it.each([
    ['a list', 'sms', [{ to: TO }]],
    ['a text', 'sms', 'hello'],
    ['null', 'sms', null],
    ['a number that is not E.164', 'sms', { to: '2125550100', body: 'Hi' }],
    ['a number as a number', 'sms', { to: 12125550100, body: 'Hi' }],
    ['too long a text', 'sms', { to: TO, body: 'x'.repeat(1_601) }],
    ['a text that is none', 'sms', { to: TO, body: { text: 'Hi' } }],
    ['an empty text', 'sms', { to: TO, body: '' }],
    ['media that is no list', 'sms', { to: TO, media_urls: 'https://example.com' }],
    ['rcs_content that is a list', 'sms', { to: TO, rcs_content: [1] }],
    ['a foreign_id that is too long', 'sms', { to: TO, body: 'Hi', foreign_id: 'x'.repeat(256) }],
    ['a callback_url that is no text', 'sms', { to: TO, body: 'Hi', callback_url: 7 }],
    ['two messages', 'rvm', { to: TO, media_id: ID, tts_body: 'Hi', voice_id: 'en-us' }],
    [
      'two messages for a machine',
      'voice_broadcast',
      { to: TO, media_on_beep: ID, tts_on_beep: 'Hi', voice_id: 'v' },
    ],
    ['variables that are none', 'ai_broadcast', { to: TO, agent_id: ID, variables: 'x' }],
    ['a caller_id that is no number', 'ai_broadcast', { to: TO, agent_id: ID, caller_id: 'Acme' }],
  ] as const)('%s is 3029', (_, channel, body) => {
    expect(codeOf(channel, body)).toBe(3029);
  });

  it('half of the pair of text and voice is 3002 or 3015', () => {
    expect(codeOf('rvm', { to: TO, tts_body: 'Hi' })).toBe(3002);
    expect(codeOf('rvm', { to: TO, voice_id: 'en-us' })).toBe(3015);
    expect(codeOf('rvm', { to: TO, media_id: ID, voice_id: 'en-us' })).toBe(3015);
    expect(codeOf('voice_broadcast', { to: TO, tts_on_speech: 'Hi' })).toBe(3002);
    expect(codeOf('voice_broadcast', { to: TO, media_on_speech: ID, voice_id: 'en-us' })).toBe(3015);
  });

  it('what is missing is told before what is wrong, and the detail names the field', () => {
    const { faults } = checkRequest('sms', { foreign_id: 7 });
    expect(firstFault(faults)).toEqual({ code: 3030, detail: 'to or contact_id is required.' });
    expect(faults.map(({ code }) => code).sort()).toEqual([3029, 3030, 3030]);
    expect(firstFault(checkRequest('sms', { to: 'x', body: 'Hi' }).faults)?.detail).toMatch(/^to /);
  });

  it('fields named like what every object has are plain data', () => {
    const body = JSON.parse(`{"to":"${TO}","body":"Hi","__proto__":{"to":1},"constructor":1}`);
    expect(codeOf('sms', body)).toBeNull();
    expect(codeOf('sms', JSON.parse('{"__proto__":{"to":"+12125550100","body":"Hi"}}'))).toBe(3030);
  });
});

describe('what a body names', () => {
  let world: DispatchWorld;
  let account: SenderAccount;
  let bare: SenderAccount;

  beforeAll(async () => {
    world = await DispatchWorld.start();
    account = await world.account();
    bare = await world.account({ isBare: true });
  });
  afterAll(() => world.close());

  const ended = async (
    channel: SendChannel,
    body: unknown,
    of: { as?: SenderAccount; acceptCode?: number; version?: 1 | 2 } = {},
  ) => {
    const { as = account, ...more } = of;
    const { state, outcome_code: code, reason, detail } = await world.send(as, channel, body, more);
    expect(state).toBe('finished');
    return { code, reason, detail };
  };

  it('3027 and 3028 come before everything else', async () => {
    expect((await ended('sms', [], { acceptCode: 3027 })).code).toBe(3027);
    expect(await ended('sms', {}, { acceptCode: 3028 })).toMatchObject({
      reason: 'idempotency_key_malformed',
    });
  });

  it('a contact without a number is 3030 with the text of the contract', async () => {
    const contact_id = await world.contact(account);
    expect(await ended('sms', { contact_id, body: 'Hi', foreign_id: 7 })).toEqual({
      ...{ code: 3030, reason: 'No phone number for contact', detail: 'No phone number for contact' },
    });
  });

  it("a contact is found by its id, its number is used, and it is of the caller's account only", async () => {
    const to = world.number();
    const contact_id = await world.contact(account, { mobile_phone: to });
    await ended('sms', { contact_id, body: 'Dear {{contact.first_name}} {{contact.last_name|Doe}}' });
    expect(world.carrier.to(to)[0]?.request).toMatchObject({ body: 'Dear Ada Doe' });
    expect((await ended('sms', { contact_id, body: 'Hi' }, { as: bare })).code).toBe(4010);
    const other = await world.account();
    expect((await ended('sms', { contact_id, body: 'Hi' }, { as: other })).code).toBe(3031);
  });

  it('a text to speak is bounded after its merge fields: 3021', async () => {
    const contact_id = await world.contact(account, {
      phone_number: world.number(),
      company: 'x'.repeat(100),
    });
    const body = (times: number) => ({
      ...{ contact_id, voice_id: 'en-us', tts_body: '{{contact.company}}'.repeat(times) },
    });
    expect((await ended('rvm', body(12))).code).toBe(0);
    expect((await ended('rvm', body(13))).code).toBe(3021);
    const broadcast = { to: world.number(), tts_on_speech: 'x'.repeat(1_201), voice_id: 'en-us' };
    expect((await ended('voice_broadcast', broadcast)).code).toBe(3021);
  });

  it('audio_url needs a carrier of the account: 3014', async () => {
    const body = { to: world.number(), audio_url: 'https://example.com/hello.wav' };
    expect((await ended('rvm', body)).code).toBe(3014);
    const owner = await world.account();
    world.connect(owner);
    expect((await ended('rvm', body, { as: owner })).code).toBe(0);
    const missing = { ...body, audio_url: 'https://example.com/missing.wav' };
    expect((await ended('rvm', missing, { as: owner })).code).toBe(3001);
  });

  it('media that was never uploaded is 3001, media that is not there 3031', async () => {
    const [pending] = await world.query<{ id: string }>(
      `insert into media (id, team_id, name, type, created_by) values (gen_random_uuid(), $1, 'New', 'audio', $2) returning id`,
      [account.teamId, account.ownerId],
    );
    expect((await ended('rvm', { to: world.number(), media_id: pending?.id })).code).toBe(3001);
    expect((await ended('rvm', { to: world.number(), media_id: ID })).code).toBe(3031);
    expect((await ended('rvm', { to: world.number(), media_id: 'nope' })).code).toBe(3031);
    const others = { to: world.number(), media_id: account.mediaId };
    expect((await ended('rvm', others, { as: await world.account() })).code).toBe(3031);
    expect((await ended('sms', { to: world.number(), media_ids: [account.mediaId, ID] })).code).toBe(3031);
  });

  it('no line is 4010, before what does not exist; a line that is not there or of another kind is no line', async () => {
    const body = { to: world.number(), media_id: account.mediaId };
    expect((await ended('rvm', body, { as: bare })).code).toBe(4010);
    expect((await ended('rvm', { ...body, phone_line_id: account.textLineId })).code).toBe(4010);
    expect((await ended('rvm', { ...body, phone_line_id: ID })).code).toBe(3031);
    expect((await ended('rvm', { ...body, phone_line_id: 'nope' })).code).toBe(3031);
  });

  it('a brand, an agent or a voice that does not exist is 3031', async () => {
    const to = world.number();
    const { mediaId: media_id, agentId: agent_id } = account;
    expect((await ended('rvm', { to, media_id, brand_id: ID })).code).toBe(3031);
    expect((await ended('ai_broadcast', { to, agent_id: ID })).code).toBe(3031);
    expect((await ended('ai_broadcast', { to, agent_id })).code).toBe(0);
    expect((await ended('rvm', { to, tts_body: 'Hi', voice_id: 'nobody' })).code).toBe(3031);
  });

  it('version 1 takes only brands that are allowed for it', async () => {
    const owner = await world.account();
    const body = { to: world.number(), media_id: owner.mediaId, brand_id: owner.brandId };
    expect((await ended('rvm', body, { as: owner, version: 1 })).code).toBe(0);
    await world.query('update brands set api_allowed = false where team_id = $1', [owner.teamId]);
    expect((await ended('rvm', body, { as: owner, version: 1 })).code).toBe(3031);
    expect((await ended('rvm', body, { as: owner })).code).toBe(0);
  });

  it.each([
    ['callback_url', { callback_url: 'https://10.0.0.1/hook' }],
    ['callback_url', { callback_url: 'http://example.com/hook' }],
    ['media_urls', { media_urls: ['https://[::1]/a.png'] }],
  ])('a private or plain address in %s is 3029 and names the field', async (field, more) => {
    const { code, detail } = await ended('sms', { to: world.number(), body: 'Hi', ...more });
    expect(code).toBe(3029);
    expect(detail).toContain(field);
  });

  it('simulated numbers need no line, no consent, no funds, and win over do-not-contact', async () => {
    const poor = await world.account({ isBare: true, funds: 0 });
    await world.accounts.services.dnc.add(poor.caller, { phoneNumber: ['+15550010001', '+15550020001'] });
    await world.query('update teams set test_mode = true where id = $1', [poor.teamId]);
    const before = world.carrier.asked.length;
    const text = (to: string) => ended('sms', { to, body: 'Hi' }, { as: poor });
    expect((await text('+15550020001')).code).toBe(0);
    expect((await text('+15550020005')).code).toBe(4008);
    expect((await text('+15550020090')).code).toBe(4016);
    expect((await text('+15550010001')).code).toBe(4010);
    const call = { to: '+15550010005', tts_on_speech: 'Hi', voice_id: 'en-us' };
    expect((await ended('voice_broadcast', call, { as: poor })).code).toBe(4006);
    for (let i = 0; i < 5; i += 1) expect((await text('+15550020001')).code).toBe(0);
    expect(world.carrier.asked).toHaveLength(before);
    expect(await world.funds(poor)).toEqual({ balance: 0, reserved: 0 });
    expect((await ended('sms', { to: '+15550020001' }, { as: poor })).code).toBe(3030);
  });
});
