import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, testDb } from '../_util/index.ts';
import type { TestApi, TestDb } from '../_util/index.ts';

const READINESS = '/register/public/integration-readiness';

describe('the account over REST', () => {
  let database: TestDb;
  let api: TestApi;

  beforeAll(async () => {
    database = await testDb();
    api = await startApi(database, { env: { ALLOW_PRIVATE_TARGETS: 'true' } });
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  it('shows itself to any credential', async () => {
    const as = await api.account({ name: 'Example Ltd', scopes: ['rvm:send'] });
    const { status, data } = await api.request('GET', '/register/public/account', { as });
    expect([status, data]).toEqual([
      200,
      {
        ...{ team_id: as.teamId, name: 'Example Ltd', verified: true, plan: 'active', dunning_tier: null },
        features: ['email', 'campaigns', 'agents', 'detection'],
        ...{ test_mode: false, operator: false, region: 'US' },
        flags: { detection: true, building_blocks: true, keep_transcripts: false },
        limits: { concurrent_sessions: 500, send_rate: null },
        created_at: expect.any(Number) as number,
      },
    ]);
  });

  it('shows its balance as decimal numbers, to balance:read only', async () => {
    const as = await api.account({ funds: 12.345678 });
    const held = { teamId: as.teamId, kind: 'reserved', amountMicros: 0n, reservedMicros: 345_678n } as const;
    const { ledger, db } = api.services;
    await db.tx((tx) => ledger.book(tx, [{ ...held, causeType: 'test', causeId: as.teamId }]));
    const { data } = await api.request('GET', '/campaign/public/balance', { as });
    expect(data).toEqual({ balance: 12.345678, reserved: 0.345678, available: 12, currency: 'USD' });
    const other = await api.account({ scopes: ['rvm:send'] });
    expect((await api.request('GET', '/campaign/public/balance', { as: other })).status).toBe(403);
  });

  it('says what is still to be done before the first send, until nothing is', async () => {
    const as = await api.account({ funds: 0, verified: false });
    const readiness = async () =>
      (await api.request('GET', READINESS, { as })).data as { next_actions: string[] };
    expect(await readiness()).toEqual({
      ready: false,
      next_actions: ['verify_account', 'add_funds', 'connect_byoc', 'rent_number', 'create_line'],
      funds: { available: 0, currency: 'USD' },
      ...{ lines: 0, numbers: 0, carrier_connected: false, verified: false, test_mode: false },
    });
    const { accounts, carriers, lookups } = api.services;
    await accounts.setFlags(as.teamId, { verified: true, plan: 'inactive', dunningTier: 'restricted' });
    expect((await readiness()).next_actions.slice(0, 2)).toEqual(['reactivate_plan', 'pay_subscription']);
    await accounts.setFlags(as.teamId, { plan: 'active', dunningTier: null });
    await accounts.addFunds(as.teamId, 1_000_000n);
    const line = await lookups.lines.create(as.caller, { name: 'Sales', type: 'voice' });
    await database.db.query(
      'insert into phone_numbers (id, team_id, phone_number, phone_line_id) values (gen_random_uuid(), $1, $2, $3)',
      [as.teamId, '+12025550123', line.lineId],
    );
    expect((await readiness()).next_actions).toEqual(['connect_byoc']);
    const settings = { host: '192.0.2.1', port: 25 };
    await carriers.connect(as.caller, { kind: 'simulator', name: 'Simulator' });
    expect((await readiness()).next_actions).toEqual(['connect_byoc']);
    await carriers.connect(as.caller, { kind: 'smtp', name: 'Mail', settings });
    expect(await readiness()).toMatchObject({
      ...{ ready: true, next_actions: [], lines: 1, numbers: 1, carrier_connected: true },
    });
  });

  it('shows its readiness to balance:read only', async () => {
    const as = await api.account({ scopes: ['account:write'] });
    expect((await api.request('GET', READINESS, { as })).status).toBe(403);
  });

  it('lists the outcome codes of supplement 2 to any credential, as they are emitted', async () => {
    const as = await api.account({ scopes: ['rvm:send'] });
    const { data } = await api.request('GET', '/register/public/outcome-codes', { as });
    const emitted: unknown = JSON.parse(readFileSync('schema/events/outcome-codes.json', 'utf8'));
    expect(data).toEqual(emitted);
    const named =
      '0 3000 3001 3002 3007 3014 3015 3021 3027 3028 3029 3030 3031 3040 4000 4001 4002 4004 4005 4006 4008 4010 ' +
      '4011 4013 4016 4017 4019 4021 4090 5014 5019 5020 5030 6000 6001 6002 6003 6004 6005 6006 6009 6011';
    expect((data as { code: number }[]).map(({ code }) => code).join(' ')).toBe(named);
  });

  it.each([
    '/register/public/account',
    '/campaign/public/balance',
    READINESS,
    '/register/public/outcome-codes',
  ])('asks for a credential at %s', async (path) => {
    expect((await api.request('GET', path)).status).toBe(401);
  });
});
