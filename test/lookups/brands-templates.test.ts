import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BrandsService } from '../../src/features/lookups/brands/brands.service.ts';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

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

describe('brands', () => {
  it('are registered and approved at once while the simulator is the carrier', async () => {
    const as = await api.account();
    const body = { company_name: 'Example Ltd', dba_name: 'Example' };
    const made = await api.request('POST', '/automation/public/brands', { as, body });
    expect(made.status).toBe(201);
    expect(made.data).toEqual({
      ...{ brand_id: expect.any(String), company_name: 'Example Ltd', dba_name: 'Example' },
      ...{ registered: true, api_allowed: true, texting_campaign_status: 'approved' },
      ...{ created_at: expect.any(Number), updated_at: expect.any(Number) },
    });
    const listed = await api.request('GET', '/automation/public/brands', { as });
    expect(listed.data).toEqual([made.data]);
  });

  it('wait for a connected carrier, also after a change of their company name', async () => {
    const { caller } = await api.account();
    let isConnected = true;
    const brands = new BrandsService({ ...api.services, hasCarrier: async () => isConnected });
    const waiting = { registered: false, apiAllowed: false, textingCampaignStatus: 'pending' };
    const approved = { registered: true, apiAllowed: true, textingCampaignStatus: 'approved' };
    expect(await brands.create(caller, { companyName: 'Example Ltd' })).toMatchObject(waiting);
    isConnected = false;
    const { brandId } = await brands.create(caller, { companyName: 'Other Ltd' });
    isConnected = true;
    expect(await brands.update(caller, brandId, { dbaName: 'Other' })).toMatchObject(approved);
    expect(await brands.update(caller, brandId, { companyName: 'New Ltd' })).toMatchObject(waiting);
  });

  it('are registered by operators alone, when a carrier is connected', async () => {
    const [account, other, operator] = [
      await api.account(),
      await api.account(),
      await api.account({ operator: true }),
    ];
    const brands = new BrandsService({ ...api.services, hasCarrier: async () => true });
    const { brandId } = await brands.create(account.caller, { companyName: 'Example Ltd' });
    const approved = { registered: true, apiAllowed: true, textingCampaignStatus: 'approved' } as const;
    const acting = { ...operator.caller, teamId: account.teamId };
    for (const caller of [account.caller, other.caller, { ...acting, operator: false }])
      await expect(brands.setRegistration(caller, brandId, approved)).rejects.toMatchObject({
        code: 'forbidden',
      });
    await expect(brands.setRegistration(operator.caller, brandId, approved)).rejects.toMatchObject({
      status: 404,
    });
    expect(await brands.list(account.caller)).toMatchObject([{ textingCampaignStatus: 'pending' }]);
    expect(await brands.setRegistration(acting, brandId, approved)).toMatchObject(approved);
    expect(await brands.list(account.caller)).toMatchObject([approved]);
  });

  it('keep what a change leaves out; an empty dba_name is none', async () => {
    const as = await api.account();
    const body = { company_name: 'Example Ltd', dba_name: 'Example' };
    const { data } = await api.request('POST', '/automation/public/brands', { as, body });
    const path = `/automation/public/brands/${(data as { brand_id: string }).brand_id}`;
    const put = async (change: object) =>
      (await api.request('PUT', path, { as, body: change })).data as object;
    expect(await put({ dba_name: '' })).toMatchObject({ company_name: 'Example Ltd', dba_name: null });
    expect(await put({ company_name: 'New Ltd' })).toMatchObject({ company_name: 'New Ltd', dba_name: null });
  });

  it('of another account are not found', async () => {
    const [as, other] = [await api.account(), await api.account()];
    const body = { company_name: 'Example Ltd' };
    const { data } = await api.request('POST', '/automation/public/brands', { as: other, body });
    const path = `/automation/public/brands/${(data as { brand_id: string }).brand_id}`;
    expect((await api.request('PUT', path, { as, body: { company_name: 'Mine' } })).status).toBe(404);
    expect((await api.request('PUT', '/automation/public/brands/x', { as, body })).status).toBe(404);
    expect((await api.request('GET', '/automation/public/brands', { as })).data).toEqual([]);
  });
});

describe('templates', () => {
  const email = { type: 'email', name: 'Welcome', subject: 'Hello', html: '<p>Hello</p>' };
  const rcs = { type: 'rcs', name: 'Card', rcs_content: { title: 'Sale', suggestions: [{ text: 'STOP' }] } };
  const post = (as: TestAccount, body: unknown) =>
    api.request('POST', '/template/public/templates', { as, body });
  const names = async (as: TestAccount, query: string) =>
    ((await api.request('GET', `/template/public/templates${query}`, { as })).data as { name: string }[]).map(
      ({ name }) => name,
    );

  it('of both types come back as they were given', async () => {
    const as = await api.account();
    const [one, two] = [await post(as, email), await post(as, rcs)];
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.data).toMatchObject({ ...email, rcs_content: null });
    expect(two.data).toMatchObject({ ...rcs, subject: null, html: null });
    expect(await names(as, '?type=email')).toEqual(['Welcome']);
    expect(await names(as, '?type=rcs')).toEqual(['Card']);
    expect((await api.request('GET', '/template/public/templates?type=fax', { as })).status).toBe(400);
  });

  it('are paged by skip and limit and searched by name', async () => {
    const as = await api.account();
    for (const n of [1, 2, 3, 4, 5]) await post(as, { ...email, name: `Template ${n}%` });
    await post(as, { ...email, name: 'Other_' });
    expect(await names(as, '?search_term=TEMPLATE&limit=2')).toEqual(['Template 5%', 'Template 4%']);
    expect(await names(as, '?search_term=template&limit=2&skip=4')).toEqual(['Template 1%']);
    expect(await names(as, '?search_term=r_')).toEqual(['Other_']);
    expect(await names(as, '?skip=10000000&limit=1000000000')).toEqual([]);
    for (const query of ['limit=0', 'limit=-1', 'skip=-1', 'limit=x', 'limit=1.5', 'skip=1e999']) {
      expect((await api.request('GET', `/template/public/templates?${query}`, { as })).status).toBe(400);
    }
  });

  it('change in part, keep their type, and are gone when deleted', async () => {
    const as = await api.account();
    const { template_id } = (await post(as, email)).data as { template_id: string };
    const path = `/template/public/templates/${template_id}`;
    const put = (body: object) => api.request('PUT', path, { as, body });
    expect((await put({ subject: 'New' })).data).toMatchObject({ ...email, subject: 'New' });
    expect((await put({ rcs_content: { title: 'x' } })).data).toMatchObject({ rcs_content: null });
    expect((await put({ type: 'rcs' })).status).toBe(400);
    expect((await api.request('DELETE', path, { as })).data).toEqual({ template_id, deleted: true });
    expect((await put({ name: 'Again' })).status).toBe(404);
    expect((await api.request('DELETE', path, { as })).status).toBe(404);
    expect(await names(as, '')).toEqual([]);
  });

  it('of another account are not found and not changed', async () => {
    const [as, other] = [await api.account(), await api.account()];
    const { template_id } = (await post(other, email)).data as { template_id: string };
    const path = `/template/public/templates/${template_id}`;
    expect((await api.request('PUT', path, { as, body: { name: 'Mine' } })).status).toBe(404);
    expect((await api.request('DELETE', path, { as })).status).toBe(404);
    expect(await names(other, '')).toEqual(['Welcome']);
  });

  const deep = (depth: number): object => (depth === 0 ? {} : { a: deep(depth - 1) });
  it.each([
    ['a subject of two lines', { ...email, subject: 'Hello\r\nBcc: all@example.com' }],
    ['an email without html', { type: 'email', name: 'A', subject: 'B' }],
    ['an rcs template without content', { type: 'rcs', name: 'A' }],
    ['content that is no object', { ...rcs, rcs_content: 'text' }],
    ['content that nests deep', { ...rcs, rcs_content: deep(40) }],
    [
      'content of many keys',
      { ...rcs, rcs_content: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [n, 1])) },
    ],
    ['NUL within content', '{"type":"rcs","name":"A","rcs_content":{"a":"\\u0000"}}'],
    ['html beyond its bound', { ...email, html: 'x'.repeat(200_001) }],
  ])('refuse %s', async (_what, body) => {
    const as = await api.account();
    expect((await post(as, body)).status).toBe(400);
    expect(await names(as, '')).toEqual([]);
  });
});
