import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import type { ImportAnswer } from './contacts.world.ts';

const LISTS = '/contact/public/lists';

describe('contact lists', () => {
  let database: TestDb;
  let api: TestApi;
  let account: TestAccount;
  let other: TestAccount;

  beforeAll(async () => {
    database = await testDb();
    api = await startApi(database);
    account = await api.account();
    other = await api.account();
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  let next = 0;
  const people = async (count: number, as: TestAccount = account): Promise<string[]> => {
    const values = Array.from({ length: count }, () => [`+1415${2_000_000 + (next += 1)}`]);
    const body = { fields: [{ type: 'phone' }], values };
    const { data } = await api.request('POST', '/contact/public/contacts', { as, body });
    return (data as ImportAnswer).inserted.map((one) => one.contact_id);
  };
  const make = async (list_name: string, as: TestAccount = account): Promise<string> =>
    (await api.request('POST', LISTS, { as, body: { list_name } })).data.list_id;
  const ask = (method: string, path: string, body?: unknown, as: TestAccount = account) =>
    api.request(method, `${LISTS}${path}`, { as, ...(body === undefined ? {} : { body }) });
  const count = async (id: string): Promise<number> => (await ask('GET', `/${id}`)).data.contact_count;
  const idsOf = (data: { contacts: { contact_id: string }[] }) => data.contacts.map((one) => one.contact_id);

  it('are made, renamed, shown and deleted; their contacts stay', async () => {
    const made = await ask('POST', '', { list_name: ' Spring ' });
    expect(made.status).toBe(201);
    expect(made.data).toEqual({
      ...{
        list_id: expect.any(String),
        list_name: 'Spring',
        contact_count: 0,
        created_at: expect.any(Number),
      },
    });
    const id = made.data.list_id;
    expect((await ask('GET', `/${id}`)).data).toEqual(made.data);
    expect((await ask('PUT', `/${id}`, { list_name: 'Summer' })).data).toEqual({
      ...made.data,
      list_name: 'Summer',
    });
    const [person] = await people(1);
    await ask('POST', `/${id}/contacts`, { contact_ids: [person] });
    expect((await ask('DELETE', `/${id}`)).data).toEqual({ list_id: id, deleted: true });
    expect((await ask('GET', `/${id}`)).status).toBe(404);
    const { data } = await api.request('GET', `/contact/public/contacts/${person}`, { as: account });
    expect(data.contact.list_ids).toEqual([]);
  });

  it('are listed newest first, page by page, and searched by name in either case', async () => {
    const own = await api.account();
    for (const name of ['Alpha 1%', 'Beta', 'Alpha 2']) await make(name, own);
    const list = async (query: string) => (await ask('GET', query, undefined, own)).data;
    const names = (data: { lists: { list_name: string }[] }) => data.lists.map((one) => one.list_name);
    const all = await list('');
    expect(new Set(names(all))).toEqual(new Set(['Alpha 1%', 'Beta', 'Alpha 2']));
    expect(all.next_cursor).toBe(null);
    const [first, second] = [await list('?limit=2'), await list('?limit=2&offset=2')];
    expect(first.next_cursor).toBe(first.lists[1].list_id);
    expect(second.next_cursor).toBe(null);
    expect([...names(first), ...names(second)]).toEqual(names(all));
    expect(new Set(names(await list('?search_term=ALPHA')))).toEqual(new Set(['Alpha 1%', 'Alpha 2']));
    expect(names(await list('?search_term=%25'))).toEqual(['Alpha 1%']);
    for (const query of ['?limit=0', '?limit=1000000000', '?offset=-1', '?search_term=%00'])
      expect((await ask('GET', query, undefined, own)).status, query).toBe(400);
  });

  it('take contacts once, all of them or none, and say how many are new', async () => {
    const id = await make('Members');
    const [a, b, c] = await people(3);
    const [stranger] = await people(1, other);
    const add = (contact_ids: unknown) => ask('POST', `/${id}/contacts`, { contact_ids });
    expect((await add([a, b, b])).data).toEqual({ list_id: id, added: 2 });
    expect((await add([b, c])).data).toEqual({ list_id: id, added: 1 });
    for (const unknown of [stranger, randomUUID(), 'not-an-id'])
      expect((await add([a, unknown])).status).toBe(404);
    for (const wrong of [[], 'x', [1], Array.from({ length: 10_001 }, () => a)])
      expect((await add(wrong)).status).toBe(400);
    expect(await count(id)).toBe(3);
    const remove = (contact_ids: unknown) => ask('DELETE', `/${id}/contacts`, { contact_ids });
    expect((await remove([a, a, randomUUID(), stranger, 'not-an-id'])).data).toEqual({
      list_id: id,
      removed: 1,
    });
    expect((await remove([])).status).toBe(400);
    expect(await count(id)).toBe(2);
    expect(new Set(idsOf((await ask('GET', `/${id}/contacts`)).data))).toEqual(new Set([b, c]));
  });

  it('show their contacts by cursor: each once, and has_more until the last page', async () => {
    const id = await make('Pages');
    const members = await people(7);
    await ask('POST', `/${id}/contacts`, { contact_ids: members });
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const { data } = await ask('GET', `/${id}/contacts?limit=3${after}`);
      seen.push(...idsOf(data));
      expect(data.has_more).toBe(seen.length < 7);
      expect(data.next_cursor).toBe(data.has_more ? seen.at(-1) : null);
      if (!data.has_more) break;
      after = `&after_id=${data.next_cursor}`;
    }
    expect(seen).toHaveLength(7);
    expect(new Set(seen)).toEqual(new Set(members));
    const full = await ask('GET', `/${id}/contacts?limit=7`);
    expect(full.data).toMatchObject({ has_more: false, next_cursor: null });
    expect(full.data.contacts[0]).toMatchObject({ list_ids: [id], phone_number: expect.any(String) });
    const empty = await make('Empty');
    expect((await ask('GET', `/${empty}/contacts`)).data).toEqual({
      contacts: [],
      next_cursor: null,
      has_more: false,
    });
    for (const query of ['limit=0', 'limit=501', 'limit=-1', 'after_id=nonsense'])
      expect((await ask('GET', `/${id}/contacts?${query}`)).status, query).toBe(400);
  });

  it('show 25 contacts unless asked otherwise', async () => {
    const id = await make('Default');
    await ask('POST', `/${id}/contacts`, { contact_ids: await people(26) });
    const { data } = await ask('GET', `/${id}/contacts`);
    expect([data.contacts.length, data.has_more]).toEqual([25, true]);
  });

  it('pass a contact from one to another, and refuse one that is not on the first', async () => {
    const [from, to] = [await make('From'), await make('To')];
    const [person] = await people(1);
    const [stranger] = await people(1, other);
    const strange = await make('Strange', other);
    const move = (id: unknown, from_list_id: string, to_list_id: string) =>
      api.request('POST', `/contact/public/contacts/${id as string}/lists/move`, {
        as: account,
        body: { from_list_id, to_list_id },
      });
    expect((await move(person, from, to)).status).toBe(404);
    await ask('POST', `/${from}/contacts`, { contact_ids: [person] });
    for (const [id, a, b] of [
      [stranger, from, to],
      ['not-an-id', from, to],
      [person, from, strange],
      [person, strange, to],
      [person, from, 'not-an-id'],
    ] as const)
      expect((await move(id, a, b)).status).toBe(404);
    expect((await move(person, from, from)).status).toBe(400);
    expect([await count(from), await count(to)]).toEqual([1, 0]);
    const moved = await move(person, from, to);
    expect(moved.status).toBe(200);
    expect(moved.data).toEqual({ contact_id: person, from_list_id: from, to_list_id: to, moved: true });
    expect([await count(from), await count(to)]).toEqual([0, 1]);
  });

  it('of another account are not found, whatever is asked of them', async () => {
    const id = await make('Mine');
    const [mine] = await people(1);
    const [theirs] = await people(1, other);
    await ask('POST', `/${id}/contacts`, { contact_ids: [mine] });
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', { list_name: 'Theirs' }],
      ['DELETE', '', undefined],
      ['GET', '/contacts', undefined],
      ['POST', '/contacts', { contact_ids: [theirs] }],
      ['DELETE', '/contacts', { contact_ids: [mine] }],
    ] as const) {
      expect((await ask(method, `/${id}${path}`, body, other)).status, `${method} ${path}`).toBe(404);
      expect((await ask(method, `/not-an-id${path}`, body)).status, `${method} ${path}`).toBe(404);
    }
    expect((await ask('GET', `/${id}`)).data).toMatchObject({ list_name: 'Mine', contact_count: 1 });
  });

  it('count their contacts rightly while many add, remove, move and delete at once', async () => {
    const lists = await Promise.all([make('One'), make('Two'), make('Three')]);
    const members = await people(12);
    await Promise.all(lists.map((id) => ask('POST', `/${id}/contacts`, { contact_ids: members })));
    const answers = await Promise.all(
      members.flatMap((person, index) => {
        const [a, b] = [lists[index % 3]!, lists[(index + 1) % 3]!];
        const deleted = index < 4 ? ['DELETE', `/contact/public/contacts/${person}`, undefined] : null;
        return [
          ['DELETE', `${LISTS}/${a}/contacts`, { contact_ids: [person, members[11 - index]] }],
          ['POST', `${LISTS}/${b}/contacts`, { contact_ids: [members[11 - index]] }],
          [
            'POST',
            `/contact/public/contacts/${members[11 - index]}/lists/move`,
            { from_list_id: b, to_list_id: a },
          ],
          ...(deleted === null ? [] : [deleted]),
        ].map(([method, path, body]) =>
          api.request(method as string, path as string, { as: account, ...(body ? { body } : {}) }),
        );
      }),
    );
    expect(answers.map(({ status }) => status).filter((status) => ![200, 404].includes(status))).toEqual([]);
    for (const id of lists) {
      const { rows } = await database.db.query<{ n: bigint }>(
        'select count(*) as n from contact_list_members where list_id = $1',
        [id],
      );
      expect(await count(id)).toBe(Number(rows[0]?.n));
    }
  });

  it.each([
    ['no name', {}],
    ['an empty name', { list_name: '' }],
    ['a blank name', { list_name: '  ' }],
    ['a name that is no text', { list_name: 1 }],
    ['a name with NUL', { list_name: 'a\0b' }],
    ['a name that is too long', { list_name: 'x'.repeat(201) }],
  ])('are not made with %s', async (_name, body) => {
    expect((await ask('POST', '', body)).status).toBe(400);
  });

  it('need the scopes of lists', async () => {
    const writer = await api.account({ scopes: ['lists:write', 'contacts:read', 'contacts:write'] });
    const reader = await api.account({ scopes: ['lists:read', 'contacts:read', 'contacts:write'] });
    const id = randomUUID();
    for (const path of ['', `/${id}`, `/${id}/contacts`])
      expect((await ask('GET', path, undefined, writer)).status).toBe(403);
    const body = { contact_ids: [id] };
    expect((await ask('POST', '', { list_name: 'X' }, reader)).status).toBe(403);
    expect((await ask('PUT', `/${id}`, { list_name: 'X' }, reader)).status).toBe(403);
    expect((await ask('DELETE', `/${id}`, undefined, reader)).status).toBe(403);
    expect((await ask('POST', `/${id}/contacts`, body, reader)).status).toBe(403);
    expect((await ask('DELETE', `/${id}/contacts`, body, reader)).status).toBe(403);
    const move = await api.request('POST', `/contact/public/contacts/${id}/lists/move`, {
      ...{ as: reader, body: { from_list_id: id, to_list_id: randomUUID() } },
    });
    expect(move.status).toBe(403);
  });
});
