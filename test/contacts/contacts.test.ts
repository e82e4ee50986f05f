import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContactsService, ImportService } from '../../src/features/contacts/index.ts';
import type { News } from '../../src/platform/outbox/index.ts';
import type { TestAccount } from '../_util/api.ts';
import { CONTACTS, ContactsWorld } from './contacts.world.ts';

describe('contacts', () => {
  let world: ContactsWorld;
  let other: TestAccount;
  const told: News[] = [];
  const listed = new Set<string>();

  beforeAll(async () => {
    // What is told and who is listed, seen from outside.
    world = await ContactsWorld.open({
      services: ({ db, outbox, clock, ids }) => {
        const writer = {
          ...{ db, outbox, clock, ids, regionOf: async () => 'US' },
          announce: async (_tx: unknown, news: readonly News[]) => void told.push(...news),
          isListed: async (_tx: unknown, _teamId: string, identifiers: readonly string[]) =>
            new Set(identifiers.filter((identifier) => listed.has(identifier))),
        };
        return { contacts: new ContactsService(writer), contactImport: new ImportService(writer) };
      },
    });
    other = await world.api.account();
  });
  afterAll(() => world.close());

  it('are changed field by field: null and the empty text take a value away, what is not given stays', async () => {
    const id = await world.make({
      first_name: 'Ada',
      last_name: 'Example',
      phone: '+12025550101',
      city: 'Springfield',
    });
    const changed = await world.put(id, {
      first_name: 'Grace',
      last_name: null,
      city: '',
      company: 'Example Ltd',
    });
    expect(changed.data).toEqual({ contact_id: id, updated: true });
    expect(await world.read(id)).toMatchObject({
      ...{ first_name: 'Grace', last_name: null, company: 'Example Ltd', phone_number: '+12025550101' },
      field_data: [],
    });
    await world.put(id, { phone: '020 7946 0958', region: 'GB', mobile_phone: '+12025550102' });
    expect(await world.read(id)).toMatchObject({
      ...{ phone_number: '+442079460958', region: 'GB', mobile_phone: '+12025550102' },
      phone_numbers: ['+442079460958', '+12025550102'],
    });
    await world.put(id, { phone_number: null, mobile_phone: null });
    expect(await world.read(id)).toMatchObject({ phone_number: null, region: null, phone_numbers: [] });
  });

  it('can be sent back as they came', async () => {
    const id = await world.make({
      first_name: 'Ada',
      phone: '+12025550103',
      email: 'back@example.com',
      state: 'IL',
    });
    const before = await world.read(id);
    expect((await world.put(id, before)).status).toBe(200);
    expect(await world.read(id)).toEqual({ ...before, updated_at: expect.any(Number) });
  });

  it('refuse a phone, email or record id of another contact with 409, and values that are none with 400', async () => {
    await world.make({ phone: '+12025550104', email: 'first@example.com', record_id: 'first' });
    const id = await world.make({ phone: '+12025550105', email: 'second@example.com', record_id: 'second' });
    for (const body of [
      { phone: '(202) 555-0104' },
      { email: 'FIRST@example.com' },
      { record_id: 'first' },
    ]) {
      expect((await world.put(id, { first_name: 'X', ...body })).status).toBe(409);
    }
    const faults = [{ phone: '12' }, { email: 'nobody' }, { first_name: 'x'.repeat(201) }, { region: 'XX' }];
    for (const body of [
      ...faults,
      { first_name: { a: 1 } },
      { field_data: [{ type: 'none', value: 'x' }] },
    ]) {
      expect((await world.put(id, body)).status, JSON.stringify(body)).toBe(400);
    }
    expect(await world.read(id)).toMatchObject({
      first_name: null,
      phone_number: '+12025550105',
      uid: 'second',
    });
    expect((await world.put(id, { email: 'SECOND@example.com' })).status).toBe(200);
  });

  it('of another world.account are not found, whatever is asked of them', async () => {
    const id = await world.make({ first_name: 'Ada', phone: '+12025550106' });
    for (const unknown of [id, randomUUID(), 'not-an-id']) {
      const as = unknown === id ? other : world.account;
      expect((await world.get(`/${unknown}`, as)).status).toBe(404);
      expect((await world.put(unknown, { first_name: 'X' }, as)).status).toBe(404);
      expect((await world.api.request('DELETE', `${CONTACTS}/${unknown}`, { as })).status).toBe(404);
    }
    expect(await world.read(id)).toMatchObject({ first_name: 'Ada' });
    expect((await world.get('', other)).data).toEqual({ contacts: [], total_contacts: 0, next_cursor: null });
    expect((await world.get('/search?phone=%2B12025550106', other)).data.contacts).toEqual([]);
  });

  it('are deleted with what surrounds them and leave their lists', async () => {
    const { data: list } = await world.api.request('POST', '/contact/public/lists', {
      as: world.account,
      body: { list_name: 'L' },
    });
    const id = await world.make({ phone: '+12025550107', list_ids: [list.list_id] });
    await world.make({ phone: '+12025550108', list_ids: [list.list_id] });
    await world.api.request('POST', `${CONTACTS}/${id}/notes`, {
      as: world.account,
      body: { note: 'Hello' },
    });
    const deleted = await world.api.request('DELETE', `${CONTACTS}/${id}`, { as: world.account });
    expect(deleted.data).toEqual({ contact_id: id, deleted: true });
    expect((await world.get(`/${id}`)).status).toBe(404);
    expect(
      (await world.api.request('GET', `/contact/public/lists/${list.list_id}`, { as: world.account })).data,
    ).toMatchObject({
      contact_count: 1,
    });
    expect((await world.get('/search?phone=%2B12025550107')).data.total_contacts).toBe(0);
    expect(await world.make({ phone: '+12025550107' })).not.toBe(id);
  });

  it('tell what happened to them within the change: created, updated, deleted', async () => {
    told.length = 0;
    const id = await world.make({ first_name: 'Ada', phone: '+12025550109' });
    await world.put(id, { first_name: 'Grace' });
    await world.api.request('POST', CONTACTS, {
      as: world.account,
      body: { phone: '+12025550109', last_name: 'Example' },
    });
    await world.api.request('POST', CONTACTS, {
      as: world.account,
      body: { phone: '+12025550109', first_name: 'Ignored' },
    });
    await world.api.request('DELETE', `${CONTACTS}/${id}`, { as: world.account });
    expect(told.map(({ event, teamId }) => [event, teamId])).toEqual([
      ['contact.created', world.account.teamId],
      ['contact.updated', world.account.teamId],
      ['contact.updated', world.account.teamId],
      ['contact.deleted', world.account.teamId],
    ]);
    expect(told.every(({ data }) => data.contact_id === id && data.team_id === world.account.teamId)).toBe(
      true,
    );
    expect(told.map(({ data }) => [data.first_name, data.last_name])).toEqual([
      ['Ada', null],
      ['Grace', null],
      ['Grace', 'Example'],
      ['Grace', 'Example'],
    ]);
  });

  it('start with dnc true when an identifier is listed, and become so with a new one, never by an old one', async () => {
    for (const identifier of ['+12025550110', 'listed@example.com', '+12025550111']) listed.add(identifier);
    const byPhone = await world.make({ phone: '+12025550110' });
    const byEmail = await world.make({ email: 'Listed@Example.com' });
    const later = await world.make({ phone: '+12025550112' });
    expect([
      (await world.read(byPhone)).dnc,
      (await world.read(byEmail)).dnc,
      (await world.read(later)).dnc,
    ]).toEqual([true, true, false]);
    await world.put(later, { mobile_phone: '+12025550111' });
    expect((await world.read(later)).dnc).toBe(true);
    await world.database.db.query('update contacts set dnc = false where id = $1', [byPhone]);
    await world.put(byPhone, { first_name: 'Ada' });
    await world.api.request('POST', CONTACTS, {
      as: world.account,
      body: { phone: '+12025550110', last_name: 'Example' },
    });
    expect((await world.read(byPhone)).dnc).toBe(false);
  });

  it('show consents while they hold, for numbers they have, and pinned notes', async () => {
    const id = await world.make({ phone: '+12025550115' });
    const consent = (type: string, phone: string, revoked: Date | null) =>
      world.database.db.query(
        `insert into consents (id, team_id, contact_id, consent_type, phone_number, consent_text, consent_text_hash,
           consent_method, granted_by, revoked_at) values ($1, $2, $3, $4, $5, 'yes', 'h', 'paper', $6, $7)`,
        [randomUUID(), world.account.teamId, id, type, phone, world.account.ownerId, revoked],
      );
    await consent('sms_optin', '+12025559998', null);
    await consent('tcpa_optin', '+12025550115', new Date());
    expect(await world.read(id)).toMatchObject({ has_sms_consent: false, has_tcpa_consent: false });
    await consent('sms_optin', '+12025550115', null);
    await world.database.db.query(
      `insert into contact_notes (id, team_id, contact_id, user_id, note, note_text, pinned, created_by, created_at)
       values ($1, $2, $3, $4, '<b>Hi</b>', 'Hi', true, $4, to_timestamp(1700000000)), ($5, $2, $3, $4, 'x', 'x', false, $4, now())`,
      [randomUUID(), world.account.teamId, id, world.account.ownerId, randomUUID()],
    );
    expect(await world.read(id)).toMatchObject({
      ...{ has_sms_consent: true, has_tcpa_consent: false, has_email_consent: false },
      pinned_notes: [
        {
          note: '<b>Hi</b>',
          note_text: 'Hi',
          created_by: world.account.ownerId,
          created_at: 1_700_000_000_000,
        },
      ],
    });
  });

  it('need the scopes of contacts', async () => {
    const writer = await world.api.account({ scopes: ['contacts:write', 'lists:read'] });
    const reader = await world.api.account({ scopes: ['contacts:read', 'lists:write'] });
    const id = randomUUID();
    const ask = (as: TestAccount, method: string, path: string) =>
      world.api.request(method, `${CONTACTS}${path}`, { as, ...(method === 'PUT' ? { body: {} } : {}) });
    for (const path of ['', '/search?email=a@example.com', `/${id}`])
      expect((await ask(writer, 'GET', path)).status).toBe(403);
    for (const method of ['PUT', 'DELETE']) expect((await ask(reader, method, `/${id}`)).status).toBe(403);
  });
});
