import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { slugOf } from '../../src/features/contacts/fields.rules.ts';

const FIELDS = '/contact/public/fields';

describe('custom fields', () => {
  let database: TestDb;
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    database = await testDb();
    api = await startApi(database);
    account = await api.account();
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  const post = (body: unknown, as: TestAccount = account) => api.request('POST', FIELDS, { as, body });

  it('are made with a slug of their display name and listed newest first', async () => {
    const own = await api.account();
    const made = await post({ type: 'string', display_name: 'Favourite colour' }, own);
    expect(made.status).toBe(201);
    expect(made.data).toEqual({
      ...{ custom_field_id: expect.any(String), type: 'string', display_name: 'Favourite colour' },
      ...{ slug: 'favourite_colour', created_at: expect.any(Number) },
    });
    await database.db.query('update custom_fields set created_at = to_timestamp(0) where id = $1', [
      made.data.custom_field_id,
    ]);
    const items = [{ display_name: 'Gold', value: 'g' }, { display_name: 'Silver' }, { value: 'bronze' }];
    const list = await post({ type: 'list', display_name: 'Plan', list_items: items }, own);
    expect(list.data.list_items).toEqual([
      { item_id: expect.any(String), display_name: 'Gold', value: 'g' },
      { item_id: expect.any(String), display_name: 'Silver', value: 'Silver' },
      { item_id: expect.any(String), display_name: 'bronze', value: 'bronze' },
    ]);
    const { data } = await api.request('GET', FIELDS, { as: own });
    expect(data).toEqual([list.data, { ...made.data, created_at: 0 }]);
    expect((await api.request('GET', FIELDS, { as: account })).data).toEqual([]);
  });

  it('answer 409 for a slug that is taken, by another field or by the record', async () => {
    expect((await post({ type: 'text', display_name: 'Notes on file' })).status).toBe(201);
    for (const display_name of ['notes ON file', 'Email', 'First name', 'Phone', 'Region', 'Tags'])
      expect((await post({ type: 'string', display_name })).status, display_name).toBe(409);
  });

  it('let one of many at once have the slug', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => post({ type: 'string', display_name: 'Only once' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  it.each([
    ['no type', { display_name: 'A' }],
    ['an unknown type', { type: 'number', display_name: 'A' }],
    ['no name', { type: 'string' }],
    ['a name without letter or digit', { type: 'string', display_name: '__ -- __' }],
    ['a name with NUL', { type: 'string', display_name: 'a\0b' }],
    ['a name that is too long', { type: 'string', display_name: 'x'.repeat(101) }],
    ['a list without items', { type: 'list', display_name: 'A' }],
    ['a list with no items', { type: 'list', display_name: 'A', list_items: [] }],
    ['items of a text', { type: 'text', display_name: 'A', list_items: [{ value: 'x' }] }],
    ['an item without anything', { type: 'list', display_name: 'A', list_items: [{}] }],
    [
      'items with the same value',
      { type: 'list', display_name: 'A', list_items: [{ value: 'x' }, { value: 'x' }] },
    ],
    [
      'too many items',
      {
        type: 'list',
        display_name: 'A',
        list_items: Array.from({ length: 501 }, (_, i) => ({ value: `${i}` })),
      },
    ],
  ])('are not made with %s', async (_name, body) => {
    expect((await post(body)).status).toBe(400);
  });

  it.each([
    ['Élan vital', 'elan_vital'],
    ['  Size (EU) ', 'size_eu'],
    ['__proto__', 'proto'],
    ['Größe', 'große'],
    ['年齢', '年齢'],
    ['x'.repeat(70), 'x'.repeat(64)],
    ['𝒳'.repeat(3), 'xxx'],
  ])('of the name %s are called %s', (displayName, slug) => {
    expect(slugOf(displayName)).toBe(slug);
  });

  it('need the scopes of contacts', async () => {
    const [reader, writer] = [
      await api.account({ scopes: ['contacts:read'] }),
      await api.account({ scopes: ['contacts:write'] }),
    ];
    expect((await post({ type: 'string', display_name: 'A' }, reader)).status).toBe(403);
    expect((await api.request('GET', FIELDS, { as: writer })).status).toBe(403);
  });
});
