import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsWorld, testDb } from '../_util/index.ts';
import type { TestAccount, TestDb } from '../_util/index.ts';

describe('the gates of an account', () => {
  let database: TestDb;
  let world: AccountsWorld;

  beforeAll(async () => {
    database = await testDb();
    world = new AccountsWorld(database);
  });
  afterAll(async () => {
    await world.close();
    await database.drop();
  });

  const set = (of: TestAccount, flags: Parameters<typeof world.services.accounts.setFlags>[1]) =>
    world.services.accounts.setFlags(of.teamId, flags);

  it('let an account through that has funds, a paid subscription and a plan', async () => {
    const of = await world.account();
    const { gates } = world.services;
    await expect(gates.requirePaid(of.caller)).resolves.toBeUndefined();
    await expect(gates.requireActive(of.caller)).resolves.toBeUndefined();
    await expect(gates.requireFeature(of.caller, 'email')).resolves.toBeUndefined();
  });

  it('ask for funds: 402 without details, until funds are added', async () => {
    const of = await world.account();
    await world.spend(of.teamId);
    const { gates, accounts } = world.services;
    const fault: unknown = await gates.requirePaid(of.caller).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: 'payment-required', status: 402, details: undefined });
    await accounts.addFunds(of.teamId, 1n);
    await expect(gates.requirePaid(of.caller)).resolves.toBeUndefined();
  });

  it('count what is reserved as spent', async () => {
    const of = await world.account({ funds: 1 });
    const held = {
      teamId: of.teamId,
      kind: 'reserved',
      amountMicros: 0n,
      reservedMicros: 1_000_000n,
    } as const;
    const { ledger, db, gates } = world.services;
    await db.tx((tx) => ledger.book(tx, [{ ...held, causeType: 'test', causeId: of.teamId }]));
    await expect(gates.requirePaid(of.caller)).rejects.toMatchObject({ status: 402 });
  });

  it.each(['restricted', 'suspended', 'canceled'] as const)(
    'answer 402 with the dunning tier %s, funds or not',
    async (dunningTier) => {
      const of = await world.account();
      await set(of, { dunningTier });
      const expected = { code: 'payment-required', details: { dunning_tier: dunningTier } };
      await expect(world.services.gates.requirePaid(of.caller)).rejects.toMatchObject(expected);
      await world.spend(of.teamId);
      await expect(world.services.gates.requirePaid(of.caller)).rejects.toMatchObject(expected);
      await expect(world.services.gates.requireActive(of.caller)).resolves.toBeUndefined();
    },
  );

  it('refuse an inactive account with 403 before anything else', async () => {
    const of = await world.account();
    await set(of, { plan: 'inactive', dunningTier: 'canceled', features: [] });
    const expected = { code: 'forbidden', status: 403 };
    const { gates } = world.services;
    await expect(gates.requireActive(of.caller)).rejects.toMatchObject(expected);
    await expect(gates.requirePaid(of.caller)).rejects.toMatchObject(expected);
    await expect(gates.requireFeature(of.caller, 'email')).rejects.toMatchObject(expected);
  });

  it('refuse what the plan does not include', async () => {
    const of = await world.account();
    await set(of, { features: ['email', 'detection'] });
    const { gates } = world.services;
    await expect(gates.requireFeature(of.caller, 'email')).resolves.toBeUndefined();
    await expect(gates.requireFeature(of.caller, 'campaigns')).rejects.toMatchObject({
      ...{ code: 'trial_feature_blocked', status: 403 },
    });
  });
});

describe('what operators change', () => {
  let database: TestDb;
  let world: AccountsWorld;
  let operator: TestAccount;

  beforeAll(async () => {
    database = await testDb();
    world = new AccountsWorld(database);
    operator = await world.account({ operator: true });
  });
  afterAll(async () => {
    await world.close();
    await database.drop();
  });

  it('is refused to everybody else, also with every scope', async () => {
    const of = await world.account();
    const { operator: service } = world.services;
    const price = { productCode: 'sms', teamId: null, priceMicros: 1n };
    const expected = { code: 'forbidden', status: 403 };
    await expect(service.change(of.caller, of.teamId, { verified: false })).rejects.toMatchObject(expected);
    await expect(service.addFunds(of.caller, of.teamId, 1n)).rejects.toMatchObject(expected);
    await expect(service.setPrice(of.caller, price)).rejects.toMatchObject(expected);
  });

  it('needs account:write of an operator too', async () => {
    const caller = { ...operator.caller, scopes: new Set(['balance:read'] as const) };
    const change = world.services.operator.change(caller, operator.teamId, { verified: false });
    await expect(change).rejects.toMatchObject({ code: 'insufficient-scope' });
  });

  it('is in force at once and announced to the gateways', async () => {
    const of = await world.account();
    const changed = await world.services.operator.change(operator.caller, of.teamId, {
      ...{ plan: 'trial', features: ['email'], dunningTier: 'restricted', verified: false },
      ...{ suspended: true, testMode: true, concurrentSessions: 0, sendRate: 5 },
    });
    expect(changed).toMatchObject({
      ...{ plan: 'trial', features: ['email'], dunningTier: 'restricted', verified: false },
      ...{ suspended: true, testMode: true, concurrentSessions: 0, sendRate: 5 },
    });
    expect(changed).not.toHaveProperty('platformTokenCiphertext');
    const funded = await world.services.operator.addFunds(operator.caller, of.teamId, 5n);
    expect(funded.balanceMicros).toBe(100_000_005n);
  });

  it.each([
    ['plan', { plan: 'golden' }],
    ['features', { features: ['fax'] }],
    ['features', { features: ['email', 'email'] }],
    ['dunning_tier', { dunningTier: 'angry' }],
    ['concurrent_sessions', { concurrentSessions: -1 }],
    ['send_rate', { sendRate: 0 }],
    ['send_rate', { sendRate: 1.5 }],
  ])('is refused with a wrong %s: %j', async (field, flags) => {
    const of = await world.account();
    const change = world.services.operator.change(operator.caller, of.teamId, flags as never);
    await expect(change).rejects.toMatchObject({ code: 'validation-error', details: { field } });
  });

  it('sets prices, the default of all and one of its own for an account', async () => {
    const [special, standard] = [await world.account(), await world.account()];
    const { operator: service, ledger, db } = world.services;
    const price = { productCode: 'sms', priceMicros: 10n };
    await service.setPrice(operator.caller, { ...price, teamId: null });
    await service.setPrice(operator.caller, { ...price, teamId: null, priceMicros: 20n });
    await service.setPrice(operator.caller, { ...price, teamId: special.teamId, priceMicros: 0n });
    await service.setPrice(operator.caller, { ...price, teamId: special.teamId, priceMicros: 7n });
    for (const [{ teamId }, cost] of [
      [special, 7n],
      [standard, 20n],
    ] as const) {
      const charge = { teamId, productCode: 'sms', units: 1, causeType: 'send', causeId: teamId };
      await db.tx((tx) => ledger.capture(tx, [charge]));
      expect((await ledger.balance(teamId)).balanceMicros).toBe(100_000_000n - cost);
    }
  });

  it.each([
    { productCode: 'SMS', teamId: null, priceMicros: 1n },
    { productCode: '', teamId: null, priceMicros: 1n },
    { productCode: 'sms', teamId: null, priceMicros: -1n },
  ])('refuses the price %o', async (price) => {
    const set = world.services.operator.setPrice(operator.caller, price);
    await expect(set).rejects.toMatchObject({ code: 'validation-error' });
  });

  it('finds no account that does not exist', async () => {
    const { operator: service } = world.services;
    const expected = { code: 'not-found' };
    await expect(service.change(operator.caller, 'x', { verified: true })).rejects.toMatchObject(expected);
    await expect(service.addFunds(operator.caller, 'x', 1n)).rejects.toMatchObject(expected);
    const price = { productCode: 'sms', teamId: 'x', priceMicros: 1n };
    await expect(service.setPrice(operator.caller, price)).rejects.toMatchObject(expected);
  });

  it.each([0n, -1n, 10n ** 18n])('refuses to add %s', async (amount) => {
    const add = world.services.operator.addFunds(operator.caller, operator.teamId, amount);
    await expect(add).rejects.toMatchObject({ code: 'validation-error', details: { field: 'amount' } });
  });
});
