import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyExpiryHandler } from '../../src/features/credentials/index.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { SCOPES } from '../../src/kernel/caller.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { Relay } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import { callerOf, startApi, testDb, until } from '../_util/index.ts';
import type { TestAccount, TestApi, TestDb } from '../_util/index.ts';

const ALL = '/register/public/apikeys';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const START_MS = Date.parse('2026-03-01T12:00:00Z');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Shown {
  _id: string;
  key: string;
  secret: string;
  scopes: string[];
  last_used_at: number | null;
  request_count: number;
}

describe('API keys', () => {
  let database: TestDb;
  let api: TestApi;
  const clock = new ManualClock(START_MS);

  beforeAll(async () => {
    database = await testDb();
    api = await startApi(database, { clock });
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  const make = async (as: TestAccount, body?: unknown): Promise<Shown> => {
    const answer = await api.request('POST', ALL, { as, body });
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.data as Shown;
  };
  const list = async (as: TestAccount): Promise<Shown[]> =>
    (await api.request('GET', ALL, { as })).data as Shown[];
  const statusWith = async (of: { key: string; secret: string }): Promise<number> =>
    (await api.request('GET', '/register/public/account', { as: of })).status;

  it('are made as the contract shows them, with the secret once and never again', async () => {
    const account = await api.account();
    const body = { name: 'Reports', scopes: ['dnc:read', 'balance:read'], expires_in_seconds: 300 };
    const made = await make(account, body);
    const shown = {
      ...{ _id: expect.stringMatching(UUID) as string, name: 'Reports', type: 'standard' },
      ...{ key: expect.stringMatching(/^tg_[\w-]{22}$/) as string, team_id: account.teamId },
      ...{ scopes: ['dnc:read', 'balance:read'], mcp_client: null },
      ...{ created_at: START_MS, expires_at: START_MS + 300_000 },
    };
    expect(made).toEqual({ ...shown, secret: expect.stringMatching(/^tgs_[\w-]{49}$/) as string });
    const answer = await api.request('GET', ALL, { as: account });
    expect((answer.data as Shown[]).find(({ _id }) => _id === made._id)).toEqual({
      ...{ ...shown, last_used_at: null, request_count: 0 },
    });
    expect(answer.text).not.toContain('secret');
    expect(answer.text).not.toContain(made.secret);
    expect(await statusWith(made)).toBe(200);
  });

  it('get a label with the date, the scopes of who makes them and no expiry unless told otherwise', async () => {
    const account = await api.account({ scopes: ['account:write', 'rvm:send'] });
    for (const body of [undefined, {}]) {
      const made = await make(account, body);
      expect(made).toMatchObject({ name: 'API key 2026-03-01', expires_at: null });
      expect(made.scopes).toEqual(['account:write', 'rvm:send']);
    }
  });

  it('hold each scope once, however often it was named', async () => {
    const account = await api.account();
    expect((await make(account, { scopes: ['dnc:read', 'dnc:read'] })).scopes).toEqual(['dnc:read']);
  });

  it.each([
    { scopes: [] },
    { scopes: ['everything'] },
    { scopes: 'dnc:read' },
    { scopes: [5] },
    { scopes: null },
    { scopes: Array.from({ length: SCOPES.length + 1 }, () => 'dnc:read') },
    { expires_in_seconds: 299 },
    { expires_in_seconds: 31_536_001 },
    { expires_in_seconds: '300' },
    { expires_in_seconds: 300.5 },
    { name: '' },
    { name: ' ' },
    { name: 'a\0b' },
    { name: 'x'.repeat(101) },
    [],
  ])('are refused with 400 for %j', async (body) => {
    const account = await api.account();
    const answer = await api.request('POST', ALL, { as: account, body });
    expect([answer.status, answer.body.type]).toEqual([400, expect.stringMatching(/validation-error$/)]);
    expect(await list(account)).toHaveLength(1);
  });

  it.each([{ scopes: [] }, { scopes: ['everything'] }, { expiresInSeconds: 299 }, { name: 5 }])(
    'are refused by the service itself for %j',
    async (input) => {
      const { caller } = await api.account();
      await expect(api.services.apiKeys.create(caller, input)).rejects.toMatchObject({
        code: 'validation-error',
      });
    },
  );

  it('never hold a scope that their creator lacks', async () => {
    const account = await api.account({ scopes: ['account:write', 'balance:read'] });
    const body = { scopes: ['balance:read', 'sms:send'] };
    const answer = await api.request('POST', ALL, { as: account, body });
    expect([answer.status, answer.body.type]).toEqual([403, expect.stringMatching(/insufficient-scope$/)]);
    expect(answer.body.detail).toContain('sms:send');
    expect(await list(account)).toHaveLength(1);
  });

  it('need a verified account', async () => {
    const account = await api.account({ verified: false });
    const answer = await api.request('POST', ALL, { as: account, body: {} });
    expect([answer.status, answer.body.type]).toEqual([403, expect.stringMatching(/team-not-verified$/)]);
  });

  it('need account:write to be made or deleted and balance:read to be listed', async () => {
    const reader = await api.account({ scopes: ['balance:read'] });
    const writer = await api.account({ scopes: ['account:write'] });
    expect((await api.request('POST', ALL, { as: reader, body: {} })).status).toBe(403);
    expect((await api.request('DELETE', `${ALL}/${UNKNOWN}`, { as: reader })).status).toBe(403);
    expect((await api.request('GET', ALL, { as: writer })).status).toBe(403);
    expect((await api.request('GET', ALL, { as: reader })).status).toBe(200);
  });

  it('are not made by signed-in users below manager, whatever their scopes: keys know no roles', async () => {
    const { teamId, ownerId } = await api.account();
    const user = { ...callerOf({ teamId, ownerId }), kind: 'user' as const };
    for (const role of ['agent', 'viewer'] as const) {
      await expect(api.services.apiKeys.create({ ...user, role }, {})).rejects.toMatchObject({
        ...{ code: 'forbidden', status: 403 },
      });
    }
    for (const role of ['manager', 'owner'] as const) {
      const made = await api.services.apiKeys.create({ ...user, role }, {});
      expect(made.createdBy).toBe(ownerId);
    }
  });

  it('stop working at once when they are deleted, also for the key that deletes itself', async () => {
    const account = await api.account();
    const made = await make(account);
    expect(await statusWith(made)).toBe(200);
    const deleted = await api.request('DELETE', `${ALL}/${made._id}`, { as: account });
    expect([deleted.status, deleted.data]).toEqual([200, { deleted: true }]);
    expect(await statusWith(made)).toBe(401);
    expect((await list(account)).map(({ _id }) => _id)).not.toContain(made._id);
    expect((await api.request('DELETE', `${ALL}/${made._id}`, { as: account })).status).toBe(404);
    const [own] = await list(account);
    expect((await api.request('DELETE', `${ALL}/${own?._id ?? ''}`, { as: account })).status).toBe(200);
    expect(await statusWith(account)).toBe(401);
  });

  it('are not found under unknown ids, by their public half, or from another account', async () => {
    const [mine, theirs] = [await api.account(), await api.account()];
    const made = await make(theirs);
    for (const id of [UNKNOWN, 'x', made.key, made._id]) {
      expect((await api.request('DELETE', `${ALL}/${id}`, { as: mine })).status).toBe(404);
    }
    expect(await statusWith(made)).toBe(200);
  });

  it('show how often and when they were used last, without a write for each request', async () => {
    const account = await api.account();
    const made = await make(account, { scopes: ['balance:read'] });
    const stored = async () =>
      (
        await database.db.query<{ request_count: bigint }>(
          'select request_count from api_keys where id = $1',
          [made._id],
        )
      ).rows[0]?.request_count;
    for (let n = 0; n < 5; n += 1) await statusWith(made);
    await api.request('POST', ALL, { as: made, body: {} });
    await statusWith({ key: made.key, secret: account.secret });
    expect(await stored()).toBe(0n);
    clock.advance(1_000);
    await statusWith(made);
    await api.services.keyUsage.flush();
    expect(await stored()).toBe(7n);
    const listed = (await list(account)).find(({ _id }) => _id === made._id);
    expect(listed).toMatchObject({ request_count: 7, last_used_at: clock.nowMs() });
  });

  it('lose no count when writing them fails, and count across processes', async () => {
    const account = await api.account();
    const made = await make(account);
    const other = await startApi(database, { clock });
    await statusWith(made);
    await database.db.query('alter table api_keys rename column request_count to away');
    await expect(api.services.keyUsage.flush()).rejects.toThrow('request_count');
    await database.db.query('alter table api_keys rename column away to request_count');
    await statusWith(made);
    await other.request('GET', '/register/public/account', { as: made });
    await other.close();
    expect((await list(account)).find(({ _id }) => _id === made._id)?.request_count).toBe(3);
  });

  it('expire to the millisecond, and are deleted by a worker within seconds', async () => {
    const account = await api.account();
    const made = await make(account, { expires_in_seconds: 300 });
    const kept = await make(account, { expires_in_seconds: 86_400 });
    const exists = async (id: string) =>
      (await database.db.query('select 1 from api_keys where id = $1', [id])).rowCount === 1;
    clock.advance(299_999);
    expect(await statusWith(made)).toBe(200);
    clock.advance(1);
    expect(await statusWith(made)).toBe(401);
    expect((await list(account)).map(({ _id }) => _id)).not.toContain(made._id);
    const { db, ids } = api.services;
    const queue = createQueue({ logger: silentLogger, clock });
    const handlers = [createKeyExpiryHandler(db)];
    const relay = new Relay({ db, queue, clock, logger: silentLogger, ids, handlers });
    await until(async () => {
      await relay.poke();
      return !(await exists(made._id));
    });
    await relay.stop({ graceMs: 0 });
    await queue.close();
    expect(await exists(kept._id)).toBe(true);
  });

  it('take back the row that would delete them when they are deleted before', async () => {
    const account = await api.account();
    const made = await make(account, { expires_in_seconds: 300 });
    const rows = async () =>
      (await database.db.query('select 1 from outbox_later where key = $1', [made._id])).rowCount;
    expect(await rows()).toBe(1);
    await api.request('DELETE', `${ALL}/${made._id}`, { as: account });
    expect(await rows()).toBe(0);
  });

  it('of a suspended account are refused with 403, as are suspended keys; only operators suspend', async () => {
    const account = await api.account();
    const made = await make(account);
    const operator = await api.account({ operator: true });
    const { apiKeys, accounts } = api.services;
    const of = { teamId: account.teamId, keyId: made._id };
    await expect(apiKeys.setSuspended(account.caller, { ...of, suspended: true })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const wrong = { ...of, teamId: operator.teamId, suspended: true };
    await expect(apiKeys.setSuspended(operator.caller, wrong)).rejects.toMatchObject({ code: 'not-found' });
    await apiKeys.setSuspended(operator.caller, { ...of, suspended: true });
    expect(await statusWith(made)).toBe(403);
    expect(await statusWith(account)).toBe(200);
    await apiKeys.setSuspended(operator.caller, { ...of, suspended: false });
    expect(await statusWith(made)).toBe(200);
    await accounts.setFlags(account.teamId, { suspended: true });
    expect(await statusWith(made)).toBe(403);
    expect(await statusWith({ key: made.key, secret: 'wrong' })).toBe(401);
    await accounts.setFlags(account.teamId, { suspended: false });
    expect(await statusWith(made)).toBe(200);
  });

  it('act under the user who made them, through any number of keys', async () => {
    const account = await api.account();
    const first = await make(account);
    const second = await make({ ...account, key: first.key, secret: first.secret });
    const { rows } = await database.db.query('select created_by from api_keys where id = $1', [second._id]);
    expect(rows).toEqual([{ created_by: account.ownerId }]);
  });
});
