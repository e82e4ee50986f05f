import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContactsWorld } from './contacts.world.ts';

describe('an import', () => {
  let world: ContactsWorld;
  beforeAll(async () => {
    world = await ContactsWorld.open();
  });
  afterAll(() => world.close());

  it.each([
    ['a column of an unknown type', { fields: [{ type: 'nonsense' }], values: [['x']] }],
    ['a column called __proto__', '{"fields":[{"type":"__proto__"}],"values":[["x"]]}'],
    ['a key __proto__', '{"__proto__":{"first_name":"Ada"},"phone":"+12025550123"}'],
    [
      'an unknown type in field_data',
      { phone: '+12025550123', field_data: [{ type: 'nonsense', value: 'x' }] },
    ],
    ['the same column twice', { fields: [{ type: 'phone' }, { type: 'phone_number' }], values: [] }],
    ['rows without columns', { values: [['x']] }],
    ['columns without rows', { fields: [{ type: 'phone' }] }],
    ['no columns', { fields: [], values: [] }],
    ['an unknown region', { fields: [{ type: 'phone' }], values: [], region: 'XX' }],
    ['an unknown conflict mode', { fields: [{ type: 'phone' }], values: [], conflict_mode: 'guess' }],
    ['a cell that is an object', { fields: [{ type: 'phone' }], values: [[{ a: 1 }]] }],
    ['NUL in a cell', { fields: [{ type: 'first_name' }], values: [['a\0b']] }],
    ['half of a surrogate pair', '{"first_name":"\\ud800"}'],
    ['an array instead of an object', []],
    ['text that is not JSON', '{"fields":'],
  ])('refuses %s with 400 and stores nothing', async (_name, body) => {
    const own = await world.api.account();
    expect((await world.post(body, own)).status).toBe(400);
    const { data } = await world.api.request('GET', '/contact/public/contacts', { as: own });
    expect(data).toEqual({ contacts: [], total_contacts: 0, next_cursor: null });
  });

  it('takes 10,000 rows in one call, refuses 10,001 with 400 and a body above its bound with 413', async () => {
    const own = await world.api.account();
    const rows = Array.from({ length: 10_001 }, (_, i) => [`+1303${2_000_000 + i}`, `Person ${i}`]);
    const fields = [{ type: 'phone' }, { type: 'first_name' }];
    expect((await world.post({ fields, values: rows }, own)).status).toBe(400);
    const { status, data } = await world.post({ fields, values: rows.slice(0, 10_000) }, own);
    expect(status).toBe(201);
    expect(data.inserted).toHaveLength(10_000);
    const listed = await world.api.request('GET', `/contact/public/contacts?limit=1`, { as: own });
    expect(listed.data.total_contacts).toBe(10_000);
    const large = { fields, values: [['+13035550123', 'x'.repeat(8 * 1_024 * 1_024)]] };
    expect((await world.post(large, own)).status).toBe(413);
  });

  it('lets two imports of the same new contacts in opposite order both succeed', async () => {
    const own = await world.api.account();
    const rows = Array.from({ length: 500 }, (_, i) => [
      `+1312${2_000_000 + i}`,
      `both${(i * 7) % 500}@example.com`,
    ]);
    const fields = [{ type: 'phone' }, { type: 'email' }];
    const orders = [rows, [...rows].reverse(), rows, [...rows].reverse()];
    const answers = await Promise.all(orders.map((values) => world.post({ fields, values }, own)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(answers.flatMap(({ data }) => data.rejected)).toEqual([]);
    expect(answers.flatMap(({ data }) => data.inserted)).toHaveLength(500);
    expect(answers.flatMap(({ data }) => data.updated)).toHaveLength(1_500);
    const listed = await world.api.request('GET', `/contact/public/contacts?limit=1`, { as: own });
    expect(listed.data.total_contacts).toBe(500);
  });

  it('lets many single creations of one new number at once end in one contact', async () => {
    const own = await world.api.account();
    const { phone } = world.fresh();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => world.post({ phone, record_id: `r${i}` }, own)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(answers.flatMap(({ data }) => data.inserted)).toHaveLength(1);
    expect(answers.flatMap(({ data }) => data.updated)).toHaveLength(11);
  });

  it('finds contacts of its own account only', async () => {
    const other = await world.api.account();
    const { phone, email } = world.fresh();
    await world.importRows(['phone', 'email'], [[phone, email]]);
    const { data } = await world.post({ phone, email }, other);
    expect(data.inserted).toHaveLength(1);
  });

  it('needs contacts:write', async () => {
    const reader = await world.api.account({ scopes: ['contacts:read', 'lists:write'] });
    const answer = await world.post({ first_name: 'Ada' }, reader);
    expect(answer.status).toBe(403);
    expect(answer.body.detail).toContain('contacts:write');
  });
});
