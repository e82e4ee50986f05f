import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../_util/index.ts';
import { OWN, TextsWorld } from './world.ts';

const bodiesOf = (texts: { body: string }[]): string[] => texts.map((text) => text.body);
const idsOf = (texts: { message_id: string }[]): string[] => texts.map((text) => text.message_id);
const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('A text thread', () => {
  let world: TextsWorld;
  let account: TestAccount;
  let numbers = 0;

  beforeAll(async () => {
    world = await TextsWorld.start();
    account = await world.around.account();
  });
  afterAll(() => world.stop());
  beforeEach(() => {
    world.told();
    world.asked.length = 0;
  });

  const number = (): string => `+1202555${String(3_000 + (numbers += 1)).padStart(4, '0')}`;
  const newContact = async (): Promise<[contactId: string, phone: string]> => {
    const phone = number();
    return [await world.around.contact(account.caller, { phone }), phone];
  };
  const get = (contactId: string, query = '') => world.request('GET', contactId, { as: account, query });
  const reply = (contactId: string, body: unknown, as = account) =>
    world.request('POST', contactId, { as, body });

  it('shows texts both ways, newest first, page by page', async () => {
    const [contactId, phone] = await newContact();
    for (const body of ['one', 'two', 'three']) await world.receive(account, phone, body);
    world.around.clock.advance(1_000);
    await reply(contactId, { body: 'four' });
    const all = await get(contactId);
    expect(all.status).toBe(200);
    expect(bodiesOf(all.data)).toEqual(['four', 'three', 'two', 'one']);
    expect(all.data[0]).toMatchObject({
      direction: 'outbound',
      to: phone,
      from: null,
      created_by: account.ownerId,
    });
    expect(all.data[3]).toMatchObject({ direction: 'inbound', from: phone, to: OWN, contact_id: contactId });
    const page = await get(contactId, '?limit=2&skip=1');
    expect(bodiesOf(page.data)).toEqual(['three', 'two']);
    expect((await get(contactId, '?limit=100000&skip=9')).data).toEqual([]);
  });

  it.each(['?limit=0', '?skip=-1', '?limit=many'])('refuses the page %s', async (query) => {
    const [contactId] = await newContact();
    expect((await get(contactId, query)).status).toBe(400);
  });

  it('is answered by a send to the number that wrote last, over the line it wrote to', async () => {
    const mobile = number();
    const phone = number();
    const contactId = await world.around.contact(account.caller, { phone, mobile_phone: mobile });
    const { lines } = world.around.services.lookups;
    const line = await lines.create(account.caller, { name: 'Texts', type: 'sms' });
    await world.around.db.query(
      `insert into phone_numbers (id, team_id, phone_number, phone_line_id) values (gen_random_uuid(), $1, $2, $3)
       on conflict (team_id, phone_number) do update set phone_line_id = excluded.phone_line_id`,
      [account.teamId, OWN, line.lineId],
    );
    await world.receive(account, mobile, 'Hello');
    world.around.clock.advance(1);
    const answer = await reply(contactId, {
      body: 'Hi {{contact.first_name}}',
      media_urls: ['https://example.com/a'],
    });
    expect(answer.status).toBe(201);
    expect(answer.data).toEqual({ status: 'queued', message_id: expect.any(String) as string });
    const request = {
      ...{ contact_id: contactId, to: mobile, phone_line_id: line.lineId },
      ...{ body: 'Hi {{contact.first_name}}', media_urls: ['https://example.com/a'] },
    };
    expect(world.asked).toMatchObject([{ channel: 'sms', version: 2, request }]);
    expect(world.asked[0]?.caller.userId).toBe(account.ownerId);
    const [shown] = (await get(contactId)).data;
    expect(shown).toMatchObject({ message_id: answer.data.message_id, to: mobile });
    // A line that is named wins; one that is gone is named no more.
    const other = await lines.create(account.caller, { name: 'More texts', type: 'sms' });
    await reply(contactId, { body: 'Again', phone_line_id: other.lineId });
    expect(world.asked.at(-1)?.request).toMatchObject({ phone_line_id: other.lineId });
    await lines.remove(account.caller, line.lineId);
    await reply(contactId, { body: 'And again' });
    expect(world.asked.at(-1)?.request).not.toHaveProperty('phone_line_id');
  });

  it('goes to the first number of a contact that never wrote', async () => {
    const [contactId, phone] = await newContact();
    await reply(contactId, { media_ids: [NOBODY] });
    expect(world.asked[0]?.request).toEqual({
      ...{ contact_id: contactId, to: phone, body: '', media_ids: [NOBODY] },
    });
  });

  it('cannot be answered where the contact has no number', async () => {
    const made = await world.around.services.contactImport.create(account.caller, {
      named: { email: `nobody-${number().slice(1)}@example.com` },
    });
    const refused = await reply(made.inserted[0] ?? '', { body: 'Hello' });
    expect([refused.status, refused.body.detail]).toEqual([422, 'No phone number for contact']);
    expect(world.asked).toEqual([]);
  });

  it.each([
    [{}],
    [{ body: '   ' }],
    [{ body: 'x'.repeat(1_601) }],
    [{ body: 7 }],
    [{ body: 'Hello', media_urls: Array.from({ length: 11 }, () => 'https://example.com') }],
    [{ body: 'Hello', phone_line_id: 'mine' }],
  ])('takes no reply %j', async (body) => {
    const [contactId] = await newContact();
    expect((await reply(contactId, body)).status).toBe(400);
    expect(world.asked).toEqual([]);
  });

  it('is read with contacts:read and answered with sms:send', async () => {
    const [contactId] = await newContact();
    const { apiKeys } = world.around.services;
    const reader = await apiKeys.create(account.caller, { scopes: ['contacts:read'] });
    const sender = await apiKeys.create(account.caller, { scopes: ['sms:send'] });
    const statusOf = async (method: string, as: { key: string; secret: string }) =>
      (await world.request(method, contactId, { as, ...(method === 'POST' ? { body: { body: 'Hi' } } : {}) }))
        .status;
    expect([await statusOf('GET', reader), await statusOf('POST', reader)]).toEqual([200, 403]);
    expect([await statusOf('GET', sender), await statusOf('POST', sender)]).toEqual([403, 201]);
  });

  it('of another account, of nobody or of no id is not there, nor answered', async () => {
    const [contactId, phone] = await newContact();
    await world.receive(account, phone, 'Hello');
    const other = await world.around.account();
    for (const [id, as] of [
      [contactId, other],
      [NOBODY, account],
      ['nobody', account],
    ] as const) {
      expect((await world.request('GET', id, { as })).status).toBe(404);
      expect((await reply(id, { body: 'Hi' }, as)).status).toBe(404);
    }
    expect(world.asked).toEqual([]);
  });

  describe('hears what became of sends', () => {
    const put = async (of: {
      contactId: string | null;
      phone: string;
      outcome: number;
      attempt?: number;
      channel?: string;
    }) => {
      const { services, db } = world.around;
      const id = services.ids.timed(services.clock.nowMs());
      const { contactId, phone, outcome, attempt = 1, channel = 'sms' } = of;
      await db.query('select make_send_partitions($1, $1)', [new Date(services.clock.nowMs())]);
      await db.query(
        `insert into sends (id, team_id, channel, state, request, created_by, contact_id, phone_number, caller_id, attempt,
           outcome_code, created_at)
         values ($1, $2, $3, 'finished', $4, $5, $6, $7, $8, $9, $10, $11)`,
        [
          ...[
            id,
            account.teamId,
            channel,
            JSON.stringify({ body: 'Offer', media_urls: ['https://example.com/b'] }),
          ],
          ...[account.ownerId, contactId, phone, OWN, attempt, outcome, new Date(services.clock.nowMs())],
        ],
      );
      return id;
    };
    const hear = async (messageIds: string[], channel = 'sms') => {
      const { outbox, clock } = world.around.services;
      const news = messageIds.map((messageId) => ({
        ...{ teamId: account.teamId, event: 'send.finished', atMs: clock.nowMs() },
        data: { message_id: messageId, channel },
      }));
      await outbox.tx((tx) => world.threads.hear(tx, news));
    };

    it('shows those that left, once, and tells of those that arrived', async () => {
      const [contactId, phone] = await newContact();
      const arrived = await put({ contactId, phone, outcome: 0 });
      const failed = await put({ contactId, phone, outcome: 4004 });
      const refused = await put({ contactId, phone, outcome: 4016, attempt: 0 });
      await hear([arrived, failed, refused]);
      await hear([failed]);
      const { data } = await get(contactId);
      expect(idsOf(data).sort()).toEqual([arrived, failed].sort());
      expect(data[0]).toMatchObject({
        from: OWN,
        to: phone,
        body: 'Offer',
        media_urls: ['https://example.com/b'],
      });
      expect(world.told()).toEqual([
        [
          'contact.msg.sent',
          { team_id: account.teamId, contact_id: contactId, message_id: arrived, to: phone, from: OWN },
        ],
      ]);
    });

    it('has nothing to show of other channels and of contacts that are gone', async () => {
      const [contactId, phone] = await newContact();
      const call = await put({ contactId, phone, outcome: 0, channel: 'rvm' });
      const lost = await put({ contactId: NOBODY, phone, outcome: 0 });
      await hear([call], 'rvm');
      await hear([call, lost]);
      expect((await get(contactId)).data).toEqual([]);
      expect(world.told()).toEqual([]);
    });

    it('completes a reply with the number it was sent from', async () => {
      const [contactId, phone] = await newContact();
      const messageId = await put({ contactId, phone, outcome: 0 });
      await world.around.db.query(
        `insert into text_messages (id, team_id, contact_id, direction, phone_number, body, send_id)
         values ($1, $2, $3, 'outbound', $4, 'Offer', $1)`,
        [messageId, account.teamId, contactId, phone],
      );
      await hear([messageId]);
      expect((await get(contactId)).data).toMatchObject([{ message_id: messageId, from: OWN }]);
    });
  });
});
