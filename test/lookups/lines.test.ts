import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

describe('phone lines', () => {
  let database: TestDb;
  let api: TestApi;

  beforeAll(async () => {
    database = await testDb();
    api = await startApi(database);
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  const create = async (as: TestAccount, body: object) =>
    (await api.request('POST', '/phone/public/lines', { as, body })).data as { phone_line_id: string };
  const list = async (as: TestAccount) =>
    (await api.request('GET', '/phone/public/lines', { as })).data as {
      phone_line_id: string;
      name: string;
      type: string;
      is_default: boolean;
    }[];
  const defaults = async (as: TestAccount) =>
    (await list(as)).filter((line) => line.is_default).map(({ name, type }) => `${type} ${name}`);

  it('are listed oldest first with the id under both names', async () => {
    const as = await api.account();
    const answer = await api.request('POST', '/phone/public/lines', {
      as,
      body: { name: 'Sales', type: 'voice' },
    });
    expect(answer.status).toBe(201);
    const id = (answer.data as { phone_line_id: string }).phone_line_id;
    expect(answer.data).toEqual({
      ...{ ivr_id: id, phone_line_id: id, name: 'Sales', type: 'voice', is_default: true, brand_id: null },
      created_at: expect.any(Number),
    });
    await create(as, { name: 'Texts', type: 'sms' });
    expect((await list(as)).map((line) => line.name)).toEqual(['Sales', 'Texts']);
  });

  it('have one default for each type, the first unless told otherwise', async () => {
    const as = await api.account();
    await create(as, { name: 'A', type: 'voice' });
    const b = await create(as, { name: 'B', type: 'voice' });
    await create(as, { name: 'C', type: 'sms', is_default: false });
    expect(await defaults(as)).toEqual(['voice A']);
    const path = `/phone/public/lines/${b.phone_line_id}`;
    await api.request('PUT', path, { as, body: { is_default: true } });
    expect(await defaults(as)).toEqual(['voice B']);
    await create(as, { name: 'D', type: 'voice', is_default: true });
    expect(await defaults(as)).toEqual(['voice D']);
  });

  it('keep one default when many are made the default at once', async () => {
    const as = await api.account();
    const names = Array.from({ length: 12 }, (_, n) => `L${n}`);
    const answers = await Promise.all(
      names.map((name) =>
        api.request('POST', '/phone/public/lines', { as, body: { name, type: 'voice', is_default: true } }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(names.map(() => 201));
    expect(await defaults(as)).toHaveLength(1);
  });

  it('pass the default to the oldest line of the type when the default is deleted', async () => {
    const as = await api.account();
    const a = await create(as, { name: 'A', type: 'voice' });
    await create(as, { name: 'B', type: 'voice' });
    await create(as, { name: 'C', type: 'voice' });
    const answer = await api.request('DELETE', `/phone/public/lines/${a.phone_line_id}`, { as });
    expect(answer.data).toEqual({ phone_line_id: a.phone_line_id, deleted: true });
    expect(await defaults(as)).toEqual(['voice B']);
    expect((await api.request('DELETE', `/phone/public/lines/${a.phone_line_id}`, { as })).status).toBe(404);
  });

  it('take a brand of the account only', async () => {
    const [as, other] = [await api.account(), await api.account()];
    const brandOf = async (account: TestAccount) =>
      (
        await api.request('POST', '/automation/public/brands', {
          as: account,
          body: { company_name: 'Example Ltd' },
        })
      ).data as { brand_id: string };
    const [own, foreign] = [await brandOf(as), await brandOf(other)];
    const post = (brand_id: string) =>
      api.request('POST', '/phone/public/lines', { as, body: { name: 'A', type: 'sms', brand_id } });
    expect((await post(foreign.brand_id)).status).toBe(404);
    expect((await post(randomUUID())).status).toBe(404);
    expect((await post('nothing')).status).toBe(404);
    expect((await post(own.brand_id)).data).toMatchObject({ brand_id: own.brand_id });
    expect(await list(as)).toHaveLength(1);
  });

  it('keep what a change leaves out, and their type', async () => {
    const as = await api.account();
    const { phone_line_id } = await create(as, { name: 'A', type: 'sms' });
    const put = (body: object) => api.request('PUT', `/phone/public/lines/${phone_line_id}`, { as, body });
    expect((await put({ name: 'B' })).data).toMatchObject({ name: 'B', type: 'sms', is_default: true });
    expect((await put({ type: 'sms' })).status).toBe(200);
    expect((await put({ type: 'voice' })).status).toBe(400);
    expect((await put({ is_default: false })).data).toMatchObject({ is_default: false });
    expect(await list(as)).toMatchObject([{ name: 'B', type: 'sms', is_default: false }]);
  });

  it('of another account are not found and not changed', async () => {
    const [as, other] = [await api.account(), await api.account()];
    const { phone_line_id } = await create(other, { name: 'Other', type: 'voice' });
    const path = `/phone/public/lines/${phone_line_id}`;
    expect((await api.request('PUT', path, { as, body: { name: 'Mine' } })).status).toBe(404);
    expect((await api.request('DELETE', path, { as })).status).toBe(404);
    expect(await list(as)).toEqual([]);
    expect(await list(other)).toMatchObject([{ name: 'Other' }]);
  });

  it.each([
    ['no name', { type: 'voice' }],
    ['an empty name', { name: ' ', type: 'voice' }],
    ['a name with NUL', '{"name":"a\\u0000b","type":"voice"}'],
    ['a name too long', { name: 'x'.repeat(201), type: 'voice' }],
    ['another type', { name: 'A', type: 'fax' }],
    ['is_default as text', { name: 'A', type: 'voice', is_default: 'true' }],
    ['an array', []],
  ])('refuse %s', async (_what, body) => {
    const as = await api.account();
    const answer = await api.request('POST', '/phone/public/lines', { as, body });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ type: expect.stringMatching(/validation-error$/) as string });
  });
});
