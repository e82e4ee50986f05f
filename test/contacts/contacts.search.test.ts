import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAccount } from '../_util/api.ts';
import { ContactsWorld } from './contacts.world.ts';

const names = (data: { contacts: { first_name: string }[] }) => data.contacts.map((one) => one.first_name);

describe('many contacts', () => {
  let world: ContactsWorld;
  let many: TestAccount;
  beforeAll(async () => {
    world = await ContactsWorld.open();
    many = await world.api.account();
    for (const [index, name] of ['Ada', 'Grace', 'Zoë', 'Alan', 'Édith'].entries()) {
      const email =
        index === 4 ? undefined : `${name === 'Zoë' ? 'zoe' : name.toLowerCase()}_50%@example.com`;
      await world.make(
        { first_name: name, last_name: `Example ${index}`, email, phone: `+1303555010${index}` },
        many,
      );
      await world.database.db.query(
        'update contacts set created_at = to_timestamp($2) where team_id = $1 and first_name = $3',
        [many.teamId, 1_700_000_000 + index, name],
      );
    }
  });
  afterAll(() => world.close());

  const list = async (query: string) => {
    const answer = await world.get(query, many);
    expect(answer.status, answer.text).toBe(200);
    return answer.data;
  };

  it('are listed newest first, page by page, with their total', async () => {
    expect(names(await list(''))).toEqual(['Édith', 'Alan', 'Zoë', 'Grace', 'Ada']);
    const first = await list('?limit=2');
    expect(first).toMatchObject({ total_contacts: 5, next_cursor: first.contacts[1].contact_id });
    const last = await list('?limit=2&offset=4');
    expect(names(last)).toEqual(['Ada']);
    expect(last).toMatchObject({ total_contacts: 5, next_cursor: null });
    expect(await list('?limit=2&offset=1000000000')).toEqual({
      contacts: [],
      total_contacts: 5,
      next_cursor: null,
    });
  });

  it('are sorted as asked, those without a value last', async () => {
    expect(names(await list('?sort_by=created_at&sort_order=asc'))[0]).toBe('Ada');
    expect(names(await list('?sort_by=email'))).toEqual(['Ada', 'Alan', 'Grace', 'Zoë', 'Édith']);
    expect(names(await list('?sort_by=email&sort_order=desc'))).toEqual([
      'Zoë',
      'Grace',
      'Alan',
      'Ada',
      'Édith',
    ]);
    expect(names(await list('?sort_by=last_name&search_term=example&limit=2&offset=1'))).toEqual([
      'Grace',
      'Zoë',
    ]);
  });

  it.each([
    ['a name in either case', 'GRAC', ['Grace']],
    ['a part within a word', 'xampl', ['Édith', 'Alan', 'Zoë', 'Grace', 'Ada']],
    ['first and last name', 'ada example', ['Ada']],
    ['a term of one letter, at the beginning of words', 'g', ['Grace']],
    ['a term of two letters, at the beginning of words', 'ex', ['Édith', 'Alan', 'Zoë', 'Grace', 'Ada']],
    ['two letters only within words: nothing', 'am', []],
    ['an email', 'ada_50%@example.com', ['Ada']],
    ['the beginning of an email', 'Alan_50%@ex', ['Alan']],
    ['a number with its country', '+13035550101', ['Grace']],
    ['the beginning of a number', '+1303555010', ['Édith', 'Alan', 'Zoë', 'Grace', 'Ada']],
    ['digits as people write them', '(303) 555-0102', ['Zoë']],
    ['the end of a number', '50103', ['Alan']],
    ['signs of patterns as themselves', '_50%', ['Alan', 'Zoë', 'Grace', 'Ada']],
    ['signs of patterns that are not there', '%%%', []],
    ['a backslash', 'a\\b', []],
  ])('are found by %s', async (_name, term, expected) => {
    const data = await list(`?search_term=${encodeURIComponent(term)}`);
    expect(names(data)).toEqual(expected);
    expect(data.total_contacts).toBe(expected.length);
  });

  it('are found by exactly their email or phone', async () => {
    const search = async (query: string) => names(await list(`/search?${query}`));
    expect(await search('email=ADA_50%25@example.com')).toEqual(['Ada']);
    expect(await search('email=da_50%25@example.com')).toEqual([]);
    expect(await search('phone=%2B13035550101')).toEqual(['Grace']);
    expect(await search('phone=+13035550101')).toEqual(['Grace']);
    expect(await search('phone=303-555-0101')).toEqual(['Grace']);
    expect(await search('phone=303-555-0101&email=ada_50%25@example.com')).toEqual([]);
    expect(await search('phone=nonsense')).toEqual([]);
    expect((await world.get('/search', many)).status).toBe(400);
    expect((await world.get('/search?email=&phone=', many)).status).toBe(400);
  });

  it('are paged by keys that stay right while contacts are added and deleted', async () => {
    const own = await world.api.account();
    for (const index of [1, 2, 3, 4]) await world.make({ first_name: `P${index}` }, own);
    const page = (after: readonly string[] | null) =>
      world.api.services.contacts.page(own.caller, {}, { first: 2, after });
    const first = await page(null);
    expect(first.hasNext).toBe(true);
    await world.make({ first_name: 'New' }, own);
    const last = first.rows[1]!;
    await world.remove(last.contactId, own);
    const second = await page([last.at.atUs, last.at.id]);
    expect(second.hasNext).toBe(false);
    const seen = [...first.rows, ...second.rows].map(({ firstName }) => firstName);
    expect(seen.sort()).toEqual(['P1', 'P2', 'P3', 'P4']);
    await expect(page(['nonsense'])).rejects.toMatchObject({ code: 'validation-error' });
  });

  it('are found by every condition together: list, tag, owner, do-not-contact, email, number', async () => {
    const own = await world.api.account();
    const { contacts } = world.api.services;
    const { data: list } = await world.api.request('POST', '/contact/public/lists', {
      ...{ as: own, body: { list_name: 'L' } },
    });
    const { data: tag } = await world.api.request('POST', '/tag/public/tags', {
      as: own,
      body: { label: 'T' },
    });
    const a = await world.make(
      { email: 'a@example.com', mobile_phone: '+12025550191', list_ids: [list.list_id] },
      own,
    );
    const b = await world.make(
      { email: 'b@example.com', phone: '+12025550192', list_ids: [list.list_id] },
      own,
    );
    await world.api.request('POST', `/contact/public/contacts/${b}/tags/${tag.tag_id}`, { as: own });
    await world.database.db.query('update contacts set dnc = true, owner_id = $2 where id = $1', [
      a,
      own.ownerId,
    ]);
    const found = async (wish: Parameters<typeof contacts.page>[1]) => {
      const { rows } = await contacts.page(own.caller, wish, { first: 10, after: null });
      expect(await contacts.count(own.caller, wish)).toBe(rows.length);
      return rows.map(({ contactId }) => contactId).sort();
    };
    expect(await found({ listId: list.list_id as string })).toEqual([a, b].sort());
    expect(await found({ tagId: tag.tag_id as string })).toEqual([b]);
    expect(await found({ ownerId: own.ownerId })).toEqual([a]);
    expect(await found({ dnc: false })).toEqual([b]);
    expect(await found({ email: 'A@example.com' })).toEqual([a]);
    expect(await found({ phoneNumber: '+12025550191' })).toEqual([a]);
    expect(await found({ listId: list.list_id as string, dnc: true, searchTerm: 'a@' })).toEqual([a]);
    expect(await found({ listId: list.list_id as string, tagId: tag.tag_id as string, dnc: true })).toEqual(
      [],
    );
    expect(await found({})).toEqual([a, b].sort());
    await expect(found({ listId: 'nonsense' })).rejects.toMatchObject({ code: 'validation-error' });
  });

  it.each([
    ...['limit=0', 'limit=-1', 'limit=1e9', 'limit=1000000000', 'limit=x', 'offset=-1', 'offset=1e30'],
    ...['sort_by=fields', 'sort_order=up', 'search_term=a%00b', `search_term=${'x'.repeat(201)}`],
  ])('refuse the query %s with 400', async (query) => {
    expect((await world.get(`?${query}`, many)).status).toBe(400);
  });

  it('count matches exactly to a bound, and beyond it never less than what a reader has still to come', async () => {
    const own = await world.api.account();
    const row = (index: number) => [`+1720${2_000_000 + index}`, index < 5 ? 'Rare' : 'Common'];
    const body = {
      fields: [{ type: 'phone' }, { type: 'first_name' }],
      values: Array.from({ length: 1_205 }, (_, index) => row(index)),
    };
    await world.post(body, own);
    expect((await world.get('?search_term=rare&limit=2', own)).data).toMatchObject({ total_contacts: 5 });
    let seen = 0;
    for (;;) {
      const { contacts, total_contacts } = (
        await world.get(`?search_term=common&limit=500&offset=${seen}`, own)
      ).data;
      seen += contacts.length;
      if (contacts.length < 500) break;
      expect(total_contacts).toBeGreaterThan(Math.min(seen, 1_000));
    }
    expect(seen).toBe(1_200);
    expect((await world.get('?limit=1', own)).data.total_contacts).toBe(1_205);
  });
});
