import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lockNumbers } from '../../src/features/delivery-rules/index.ts';
import { until } from '../_util/index.ts';
import type { TestAccount } from '../_util/index.ts';
import { OWN, TextsWorld } from './world.ts';

const STOP_WORDS = ['STOP', 'stopall', 'Unsubscribe', 'cancel', 'END', 'quit', 'revoke', 'opt out'];

describe('Texts that come in', () => {
  let world: TextsWorld;
  let account: TestAccount;
  let numbers = 0;

  beforeAll(async () => {
    world = await TextsWorld.start();
    account = await world.around.account();
  });
  afterAll(() => world.stop());
  beforeEach(() => void world.told());

  /** A number of its own for each test. */
  const number = (): string => `+1202555${String(1_000 + (numbers += 1)).padStart(4, '0')}`;
  const newContact = async (): Promise<[contactId: string, phone: string]> => {
    const phone = number();
    return [await world.around.contact(account.caller, { phone }), phone];
  };
  const threadOf = (contactId: string) => world.threads.list(account.caller, contactId);

  it('are in the thread and the timeline, and told', async () => {
    const [contactId, phone] = await newContact();
    const line = await world.around.services.lookups.lines.create(account.caller, {
      ...{ name: 'Texts', type: 'sms' },
    });
    await world.around.db.query(
      `insert into phone_numbers (id, team_id, phone_number, phone_line_id) values (gen_random_uuid(), $1, $2, $3)`,
      [account.teamId, OWN, line.lineId],
    );
    const text = { ...world.text(account, phone, 'Hello 👋'), mediaUrls: ['https://example.com/a.png'] };
    await world.inbound.receive(text);
    const [message] = await threadOf(contactId);
    expect(message).toMatchObject({
      ...{ contactId, direction: 'inbound', phoneNumber: phone, ownNumber: OWN, body: 'Hello 👋' },
      ...{ mediaUrls: text.mediaUrls, phoneLineId: line.lineId, createdAtMs: text.atMs },
    });
    const parts = {
      ...{ message_id: message?.messageId, from: phone, to: OWN, body: 'Hello 👋' },
      media_urls: text.mediaUrls,
    };
    const [entry] = await world.around.services.timeline.list(account.caller, contactId, { type: 'sms' });
    expect(entry).toMatchObject({ type: 'sms', data: { ...parts, direction: 'inbound' } });
    expect(world.told()).toEqual([
      ['contact.msg.received', { team_id: account.teamId, contact_id: contactId, ...parts }],
    ]);
  });

  it('of unknown senders make a contact with that number', async () => {
    const phone = number();
    await world.receive(account, phone, 'Who is this?');
    const contact = await world.contactOf(account, phone);
    expect(contact).toMatchObject({ phoneNumber: phone, dnc: false });
    expect(await threadOf(contact?.contactId ?? '')).toHaveLength(1);
  });

  it('of a second number of a contact are in its thread', async () => {
    const [mobile, phone] = [number(), number()];
    const contactId = await world.around.contact(account.caller, { phone, mobile_phone: mobile });
    await world.receive(account, mobile, 'From my mobile');
    expect(await threadOf(contactId)).toHaveLength(1);
  });

  it('are taken once, however often and whoever tells them', async () => {
    const [contactId, phone] = await newContact();
    const text = world.text(account, phone, 'STOP');
    await Promise.all(Array.from({ length: 8 }, () => world.inbound.receive(text)));
    await world.inbound.receive(text);
    expect(await threadOf(contactId)).toHaveLength(1);
    expect(world.told().map(([event]) => event)).toEqual(['contact.msg.received', 'contact.msg.opt']);
  });

  it('that come first, many at once, make one contact', async () => {
    const phone = number();
    await Promise.all(Array.from({ length: 6 }, (_, n) => world.receive(account, phone, `Text ${n}`)));
    const contact = await world.contactOf(account, phone);
    expect(await threadOf(contact?.contactId ?? '')).toHaveLength(6);
  });

  it.each(STOP_WORDS)('saying %j opt out: entry, mark, consent and event', async (body) => {
    const [contactId, phone] = await newContact();
    const { consents, contacts, dnc } = world.around.services;
    await consents.grant(account.caller, contactId, {
      ...{ consentType: 'sms_optin', phoneNumber: phone, consentText: 'I agree.', consentMethod: 'paper' },
    });
    world.told();
    await world.receive(account, phone, body);
    const { entries } = await dnc.lookUp(account.caller, { phoneNumbers: phone });
    expect(entries).toMatchObject([{ phoneNumber: phone, brandId: null, selfAdded: true, method: 'sms' }]);
    expect((await contacts.get(account.caller, contactId)).dnc).toBe(true);
    const [consent] = await consents.list(account.caller, contactId);
    expect(consent?.revokedAtMs).toBe(world.around.clock.nowMs());
    expect(world.told().at(-1)).toEqual([
      'contact.msg.opt',
      { team_id: account.teamId, contact_id: contactId, phone_number: phone, opted_in: false },
    ]);
    await expect(dnc.remove(account.caller, { phoneNumber: phone })).rejects.toMatchObject({ status: 400 });
  });

  it.each(['START', 'yes', 'Unstop!'])('saying %j take the own opt-out back', async (body) => {
    const [contactId, phone] = await newContact();
    await world.receive(account, phone, 'STOP');
    world.told();
    await world.receive(account, phone, body);
    expect(await world.isListed(account, phone)).toBe(false);
    expect((await world.around.services.contacts.get(account.caller, contactId)).dnc).toBe(false);
    expect(world.told().at(-1)).toEqual([
      'contact.msg.opt',
      { team_id: account.teamId, contact_id: contactId, phone_number: phone, opted_in: true },
    ]);
  });

  it('saying START leave what the account itself listed', async () => {
    const [, phone] = await newContact();
    await world.around.services.dnc.add(account.caller, { phoneNumber: phone });
    world.told();
    await world.receive(account, phone, 'START');
    expect(await world.isListed(account, phone)).toBe(true);
    expect(world.told().map(([event]) => event)).toEqual(['contact.msg.received']);
  });

  it.each(['HELP', 'info', 'please stop calling', 'yes, at noon'])(
    'saying %j are messages, and no more',
    async (body) => {
      const [, phone] = await newContact();
      await world.receive(account, phone, body);
      expect(await world.isListed(account, phone)).toBe(false);
      expect(world.told().map(([event]) => event)).toEqual(['contact.msg.received']);
    },
  );

  it('of senders that are no number are kept without a contact, and opt nobody out', async () => {
    await world.receive(account, '72975', 'STOP');
    const { rows } = await world.around.db.query<{ contact_id: string | null }>(
      `select contact_id from text_messages where team_id = $1 and phone_number = '72975'`,
      [account.teamId],
    );
    expect(rows).toEqual([{ contact_id: null }]);
    expect(world.told()).toEqual([]);
  });

  it('are stored without what no text may hold', async () => {
    const [contactId, phone] = await newContact();
    await world.receive(account, phone, 'a\0b\ud800c'.padEnd(20_000, 'x'));
    const [message] = await threadOf(contactId);
    expect(message?.body.startsWith('abcx')).toBe(true);
    expect(message?.body.length).toBeLessThanOrEqual(10_000);
  });

  it('to one account are nothing to another', async () => {
    const other = await world.around.account();
    const [, phone] = await newContact();
    await world.receive(other, phone, 'STOP');
    expect(await world.isListed(account, phone)).toBe(false);
    expect(await world.isListed(other, phone)).toBe(true);
  });

  it('that opt out wait for a send to the number that is being committed', async () => {
    const [, phone] = await newContact();
    const { services } = world.around;
    let isTaken = false;
    let received: Promise<void> = Promise.resolve();
    await services.outbox.tx(async (tx) => {
      await lockNumbers(tx, [{ teamId: account.teamId, phoneNumber: phone }]);
      received = world.receive(account, phone, 'STOP').then(() => void (isTaken = true));
      // The opt-out is at the lock once the database says that somebody waits for one.
      await until(async () => {
        const { rowCount } = await world.around.db.query(
          `select 1 from pg_locks where locktype = 'advisory' and not granted`,
        );
        return (rowCount ?? 0) > 0;
      });
      expect(isTaken).toBe(false);
    });
    await received;
    expect(await world.isListed(account, phone)).toBe(true);
  });
});
