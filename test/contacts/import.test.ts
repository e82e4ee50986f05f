import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContactsWorld } from './contacts.world.ts';
import type { ImportAnswer } from './contacts.world.ts';

describe('importing contacts', () => {
  let world: ContactsWorld;
  beforeAll(async () => {
    world = await ContactsWorld.open();
  });
  afterAll(() => world.close());

  it('stores every column of a row and answers the new ids in the order of the rows', async () => {
    const [a, b] = [world.fresh(), world.fresh()];
    const types = [
      'record_id',
      'first_name',
      'last_name',
      'company',
      'email',
      'phone',
      'address1',
      'address2',
    ];
    types.push('city', 'state', 'postal', 'country');
    const row = ['r-1', 'Ada', 'Example', 'Example Ltd', a.email, a.phone, '1 Main St', 'Floor 2'];
    row.push('Springfield', 'IL', '62701', 'US');
    const data = await world.importRows(types, [row, ['r-2', null, '', ' ', b.email]]);
    expect(data).toMatchObject({ updated: [], rejected: [] });
    const [first, second] = await world.readAll(data.inserted);
    expect(first).toMatchObject({
      ...{ uid: 'r-1', first_name: 'Ada', last_name: 'Example', company: 'Example Ltd', postal: '62701' },
      ...{ email: a.email, phone_number: a.phone, phone_numbers: [a.phone], region: 'US', dnc: false },
      ...{ tags: [], list_ids: [], pinned_notes: [], owner_id: null, disposition_id: null, time_zone: null },
      ...{ has_sms_consent: false, has_tcpa_consent: false, has_email_consent: false },
    });
    expect(first?._id).toBe(first?.contact_id);
    expect(first?.field_data).toEqual([
      { type: 'address1', value: '1 Main St' },
      { type: 'address2', value: 'Floor 2' },
      { type: 'city', value: 'Springfield' },
      { type: 'state', value: 'IL' },
      { type: 'country', value: 'US' },
    ]);
    expect(second).toMatchObject({
      uid: 'r-2',
      first_name: null,
      last_name: null,
      email: b.email,
      field_data: [],
    });
  });

  it('fills only empty fields of a contact that is there, and replaces them when told to overwrite', async () => {
    const { phone, email } = world.fresh();
    const types = ['phone', 'first_name', 'last_name', 'email'];
    const { inserted } = await world.importRows(types, [[phone, 'Ada', '', '']]);
    const id = inserted[0]!.contact_id;
    const appended = await world.importRows(types, [[phone, 'Grace', 'Example', email]]);
    expect(appended).toEqual({ inserted: [], updated: [{ contact_id: id }], rejected: [] });
    expect(await world.read(id)).toMatchObject({ first_name: 'Ada', last_name: 'Example', email });
    await world.importRows(types, [[phone, 'Grace', '', null]], { conflict_mode: 'overwrite' });
    expect(await world.read(id)).toMatchObject({ first_name: 'Grace', last_name: 'Example', email });
  });

  it('knows an email in either case and a phone in any spelling', async () => {
    const { email, phone } = world.fresh();
    const { inserted } = await world.importRows(['email', 'phone'], [[email, phone]]);
    const digits = phone.slice(2);
    const spelled = `(${digits.slice(0, 3)}) ${digits.slice(3, 6)}-${digits.slice(6)}`;
    const again = await world.importRows(
      ['email', 'phone'],
      [
        [email.toUpperCase(), null],
        [null, spelled],
        [null, Number(digits)],
      ],
    );
    expect(again).toEqual({ inserted: [], updated: inserted, rejected: [] });
  });

  it('merges rows of one call that repeat a phone or an email', async () => {
    const { phone, email } = world.fresh();
    const data = await world.importRows(
      ['phone', 'email', 'first_name', 'last_name'],
      [
        [phone, email, 'Ada', null],
        [phone, null, 'Grace', 'Example'],
        [null, email, null, 'Other'],
      ],
    );
    expect(data).toMatchObject({ updated: [], rejected: [] });
    expect(data.inserted).toHaveLength(1);
    expect(await world.read(data.inserted[0]!.contact_id)).toMatchObject({
      first_name: 'Ada',
      last_name: 'Example',
    });
  });

  it('rejects a row that matches two contacts, in the account or in the call', async () => {
    const [a, b, c, d] = [world.fresh(), world.fresh(), world.fresh(), world.fresh()];
    await world.importRows(
      ['phone', 'email'],
      [
        [a.phone, a.email],
        [b.phone, b.email],
      ],
    );
    const data = await world.importRows(
      ['phone', 'email', 'first_name'],
      [
        [a.phone, b.email, 'Nobody'],
        [c.phone, null, 'C'],
        [null, d.email, 'D'],
        [c.phone, d.email, 'Nobody'],
      ],
    );
    expect(data.rejected).toEqual([
      { index: 0, reasons: ['the row matches two contacts'] },
      { index: 3, reasons: ['the row matches two contacts'] },
    ]);
    expect(data.inserted).toHaveLength(2);
  });

  it('stores the valid rows of a call and names what is wrong with the others', async () => {
    const { phone, email } = world.fresh();
    const data = await world.importRows(
      ['phone', 'email', 'first_name'],
      [
        ['12345', 'not an address', 'Ada'],
        ['+999123456789', null, 'Ada'],
        ['+12025550123 ext. 5', null, 'Ada'],
        [phone, email, 'A'.repeat(201)],
        [phone, email, 'Ada', 'too much'],
        [null, '', '  '],
        [phone, email, 'Ada'],
      ],
    );
    expect(data.rejected).toEqual([
      { index: 0, reasons: ['phone is not a phone number', 'email is not an email address'] },
      { index: 1, reasons: ['phone is not a phone number'] },
      { index: 2, reasons: ['phone is not a phone number'] },
      { index: 3, reasons: ['first_name has more than 200 characters'] },
      { index: 4, reasons: ['the row has more values than there are fields'] },
      { index: 5, reasons: ['the row has no value'] },
    ]);
    expect(data.inserted).toHaveLength(1);
  });

  it('reads national numbers in the region of the call, and of the account without one', async () => {
    const { inserted } = await world.importRows(['phone'], [['020 7946 0958'], ['+49 30 901820']], {
      region: 'gb',
    });
    const numbers = await world.readAll(inserted);
    expect(numbers.map(({ phone_number, region }) => [phone_number, region])).toEqual([
      ['+442079460958', 'GB'],
      ['+4930901820', 'DE'],
    ]);
    await world.database.db.query('update teams set region = $2 where id = $1', [world.account.teamId, 'FR']);
    const french = await world.importRows(['phone'], [['01 99 00 12 34']]);
    await world.database.db.query('update teams set region = $2 where id = $1', [world.account.teamId, 'US']);
    expect(await world.read(french.inserted[0]!.contact_id)).toMatchObject({ phone_number: '+33199001234' });
  });

  it('takes simulated numbers, which are in no table of assigned ones', async () => {
    const { inserted } = await world.importRows(['phone'], [['+15550010001'], ['+15550020001']]);
    expect(inserted).toHaveLength(2);
  });

  it('makes one contact of named fields with the answer of an import', async () => {
    const { phone, email } = world.fresh();
    const made = await world.post({
      first_name: 'Ada',
      phone_number: phone,
      email,
      unknown_field: 'ignored',
    });
    expect(made.status).toBe(201);
    expect(made.data).toEqual({ inserted: [{ contact_id: expect.any(String) }], updated: [], rejected: [] });
    expect(await world.read(made.data.inserted[0]!.contact_id)).toMatchObject({
      first_name: 'Ada',
      phone_number: phone,
    });
    const again = await world.post({ phone, last_name: 'Example' });
    expect(again.data).toEqual({ inserted: [], updated: made.data.inserted, rejected: [] });
    const wrong = await world.post({ phone: '12' });
    expect(wrong.data).toEqual({
      ...{ inserted: [], updated: [] },
      rejected: [{ index: 0, reasons: ['phone is not a phone number'] }],
    });
  });

  it('gives a contact with only a main or mobile number a phone_number', async () => {
    const [a, b] = [world.fresh(), world.fresh()];
    const { data } = await world.post({ main_phone: a.phone, mobile_phone: b.phone });
    expect(await world.read(data.inserted[0]!.contact_id)).toMatchObject({
      ...{ phone_number: b.phone, main_phone: a.phone, mobile_phone: b.phone },
      phone_numbers: [b.phone, a.phone],
    });
  });

  it('puts every contact of the call on its lists, and on none when one is unknown', async () => {
    const lists = await Promise.all(
      ['One', 'Two'].map((list_name) =>
        world.api.request('POST', '/contact/public/lists', { as: world.account, body: { list_name } }),
      ),
    );
    const list_ids = lists.map(({ data }) => data.list_id);
    const [a, b, c] = [world.fresh(), world.fresh(), world.fresh()];
    await world.importRows(['phone'], [[a.phone]]);
    const { inserted, updated } = await world.importRows(['phone'], [[a.phone], [b.phone]], { list_ids });
    expect((await world.read(updated[0]!.contact_id)).list_ids.sort()).toEqual([...list_ids].sort());
    expect((await world.read(inserted[0]!.contact_id)).list_ids.sort()).toEqual([...list_ids].sort());
    const counted = await world.api.request('GET', `/contact/public/lists/${list_ids[0]}`, {
      as: world.account,
    });
    expect(counted.data).toMatchObject({ list_name: 'One', contact_count: 2 });
    for (const unknown of [randomUUID(), 'not-an-id']) {
      const body = { fields: [{ type: 'phone' }], values: [[c.phone]], list_ids: [list_ids[0], unknown] };
      expect((await world.post(body)).status).toBe(404);
    }
    expect((await world.importRows(['phone'], [[c.phone]])).inserted).toHaveLength(1);
  });

  it('fills custom fields by slug, and list fields by value or display name', async () => {
    const own = await world.api.account();
    const field = (body: object) => world.api.request('POST', '/contact/public/fields', { as: own, body });
    const items = [
      { display_name: 'Gold plan', value: 'gold' },
      { display_name: 'gold', value: 'other' },
    ];
    await field({ type: 'list', display_name: 'Plan', list_items: items });
    await field({ type: 'string', display_name: 'Constructor' });
    const body = {
      fields: [{ type: 'phone' }, { type: 'plan' }, { type: 'constructor' }],
      values: ['gold', 'Gold plan', 'silver'].map((plan) => [world.fresh().phone, plan, 'x']),
    };
    const { data } = await world.post(body, own);
    const { inserted, rejected } = data as ImportAnswer;
    const plans = (await world.readAll(inserted, own)).map((record) => record.field_data);
    expect(rejected).toEqual([]);
    const made = { type: 'constructor', value: 'x' };
    expect(plans.map((one) => one.length)).toEqual([2, 2, 1]);
    expect(plans[0]).toEqual(expect.arrayContaining([{ type: 'plan', value: 'gold' }, made]));
    expect(plans[1]).toEqual(expect.arrayContaining([{ type: 'plan', value: 'gold' }, made]));
    expect(plans[2]).toEqual([made]);
    const phone = body.values[0]?.[0];
    const overwrite = {
      conflict_mode: 'overwrite',
      phone,
      plan: 'other',
      field_data: [{ type: 'constructor', value: 'y' }],
    };
    expect((await world.post(overwrite, own)).data.updated).toEqual([inserted[0]]);
    expect((await world.read(inserted[0]!.contact_id, own)).field_data).toEqual(
      expect.arrayContaining([
        { type: 'plan', value: 'other' },
        { type: 'constructor', value: 'y' },
      ]),
    );
  });
});
