import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, testDb } from '../_util/index.ts';
import type { TestApi, TestDb } from '../_util/index.ts';

const ALL = '/register/public/detection-keys';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('Detection keys over REST', () => {
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

  it('are made, listed without the key, and revoked', async () => {
    const as = await api.account();
    const made = await api.request('POST', ALL, { as, body: { name: 'dialer', expires_in_seconds: 300 } });
    expect(made.status).toBe(201);
    const { api_key: apiKey, ...shown } = made.data as Record<string, unknown>;
    expect(Object.keys(shown).sort()).toEqual(['created_at', 'expires_at', 'key_hint', 'key_id', 'name']);
    const listed = await api.request('GET', ALL, { as });
    expect(listed.data).toContainEqual({ ...shown, status: 'active' });
    expect(listed.text).not.toContain(String(apiKey));
    const revoked = await api.request('DELETE', `${ALL}/${String(shown['key_id'])}`, { as });
    expect([revoked.status, revoked.data]).toEqual([200, { key_id: shown['key_id'], revoked: true }]);
  });

  it('get a label and the date as name when there is no body', async () => {
    const as = await api.account();
    const made = await api.request('POST', ALL, { as });
    expect([made.status, made.data.name]).toEqual([201, expect.stringMatching(/^Detection key \d{4}-/)]);
    expect(made.data.expires_at).toBeNull();
  });

  it.each([
    { name: '' },
    { name: 'x'.repeat(101) },
    { expires_in_seconds: 299 },
    { expires_in_seconds: '300' },
    [],
  ])('are refused with validation-error for %j', async (body) => {
    const answer = await api.request('POST', ALL, { as: await api.account(), body });
    expect([answer.status, answer.body.type]).toEqual([400, expect.stringMatching(/\/validation-error$/)]);
  });

  it.each([
    ['trial_feature_blocked', { plan: 'trial' }],
    ['trial_feature_blocked', { features: ['email'] }],
    ['team-not-verified', { verified: false }],
    ['byoc-required', { buildingBlocks: false }],
    ['forbidden', { plan: 'inactive' }],
  ] as const)('are refused with the type %s when the account is %j', async (code, flags) => {
    const as = await api.account();
    await api.services.accounts.setFlags(as.teamId, flags);
    const answer = await api.request('POST', ALL, { as, body: {} });
    expect([answer.status, (answer.body.type as string).split('/').at(-1)]).toEqual([403, code]);
  });

  it('answer 409 to the 26th key', async () => {
    const as = await api.account();
    for (let n = 0; n < 24; n += 1) await api.services.detectionKeys.create(as.caller, {});
    const answer = await api.request('POST', ALL, { as, body: {} });
    expect([answer.status, answer.body.type]).toEqual([409, expect.stringMatching(/\/conflict$/)]);
  });

  it.each([
    [400, 'validation-error', 'no-uuid'],
    [404, 'not-found', UNKNOWN],
  ])('answer %i %s to revoking %s', async (status, code, id) => {
    const answer = await api.request('DELETE', `${ALL}/${id}`, { as: await api.account() });
    expect([answer.status, (answer.body.type as string).split('/').at(-1)]).toEqual([status, code]);
  });

  it('of another account are not found and stay', async () => {
    const [mine, theirs] = [await api.account(), await api.account()];
    const { keyId } = await api.services.detectionKeys.create(theirs.caller, {});
    expect((await api.request('DELETE', `${ALL}/${keyId}`, { as: mine })).status).toBe(404);
    const listed = await api.request('GET', ALL, { as: theirs });
    expect(listed.data).toContainEqual(expect.objectContaining({ key_id: keyId, status: 'active' }));
  });

  it('are suspended by operators only, which gateways hear as a revocation that can be taken back', async () => {
    const as = await api.account();
    const operator = await api.account({ operator: true });
    const { detectionKeys, keyLookup } = api.services;
    const keyId = (await keyLookup.byKey(as.detectionKey))?.keyId ?? '';
    const of = { teamId: as.teamId, keyId };
    await expect(detectionKeys.setSuspended(as.caller, { ...of, suspended: true })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await detectionKeys.setSuspended(operator.caller, { ...of, suspended: true });
    expect((await detectionKeys.list(as.caller))[0]?.status).toBe('suspended');
    expect(await keyLookup.byKey(as.detectionKey)).toMatchObject({ revoked: true });
    await detectionKeys.setSuspended(operator.caller, { ...of, suspended: false });
    expect((await detectionKeys.list(as.caller))[0]?.status).toBe('active');
    expect(await keyLookup.byKey(as.detectionKey)).toMatchObject({ revoked: false });
  });

  it('of an account that is suspended, or whose plan has no detection, are shut', async () => {
    const as = await api.account();
    const { accounts, keyLookup, detectionKeys } = api.services;
    for (const flags of [{ suspended: true }, { features: [] }]) {
      await accounts.setFlags(as.teamId, flags);
      expect(await keyLookup.byKey(as.detectionKey)).toMatchObject({ detectionOn: false });
      expect((await detectionKeys.list(as.caller))[0]?.status).toBe('suspended');
      await accounts.setFlags(as.teamId, { suspended: false, features: ['detection'] });
    }
    expect(await keyLookup.byKey(as.detectionKey)).toMatchObject({ detectionOn: true });
  });
});
