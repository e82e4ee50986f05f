import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CARRIERS_MAX } from '../../src/features/carriers/index.ts';
import type { CarrierKind } from '../../src/features/carriers/index.ts';
import { AccountsWorld, callerOf, testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

const SID = `AC${'0123456789abcdef'.repeat(2)}`;
const SMTP = { host: '8.8.8.8', port: 465, security: 'tls', username: 'mailer', password: 'smtp-password' };
const TWILIO = { account_sid: SID, auth_token: 'twilio-token', base_url: 'https://8.8.8.8/twilio' };
const SMPP = { host: '8.8.8.8', system_id: 'tonegate', password: 'smpp-pw' };

describe('carrier connections', () => {
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

  it.each([
    ['smtp', SMTP, { endpoint: '8.8.8.8:465', account: 'mailer' }],
    ['smtp', { host: '2001:4860:4860::8888' }, { endpoint: '[2001:4860:4860::8888]:587', account: null }],
    ['twilio', TWILIO, { endpoint: 'https://8.8.8.8/twilio', account: SID }],
    ['smpp', SMPP, { endpoint: '8.8.8.8:2775', account: 'tonegate' }],
    ['simulator', {}, { endpoint: null, account: null }],
  ] as const)('of kind %s show where they lead and as whom, never a secret', async (kind, settings, face) => {
    const { caller, teamId } = await world.account();
    const { carriers } = world.services;
    const made = await carriers.connect(caller, { kind, name: 'Main', settings });
    const nowMs = world.clock.nowMs();
    expect(made).toEqual({
      ...{ carrierId: expect.any(String) as string, teamId, kind, name: 'Main', state: 'active', ...face },
      ...{ createdBy: caller.userId, createdAtMs: nowMs, updatedAtMs: nowMs, ratePerSecond: null },
      ...{ circuit: 'closed', rate: 0, errorRate: 0, lastFault: null, lastFaultAtMs: null },
    });
    expect(await carriers.list(caller)).toEqual([made]);
    expect(await carriers.get(caller, made.carrierId)).toEqual(made);
    const { rows } = await database.db.query('select * from carrier_connections where team_id = $1', [
      teamId,
    ]);
    const seen = JSON.stringify([made, rows]);
    for (const secret of ['smtp-password', 'twilio-token', 'smpp-pw']) expect(seen).not.toContain(secret);
  });

  it('take the names of settings in camelCase too, and leave out what the kind does not know', async () => {
    const { caller } = await world.account();
    const settings = {
      accountSid: SID,
      authToken: 'token',
      baseUrl: 'https://8.8.8.8',
      extra: 1,
      __proto__: {},
    };
    const made = await world.services.carriers.connect(caller, { kind: 'twilio', name: 'A', settings });
    expect(made).toMatchObject({ endpoint: 'https://8.8.8.8', account: SID });
  });

  it.each([
    ['smtp', { ...SMTP, host: undefined }, 'settings.host'],
    ['smtp', { ...SMTP, host: 'mail.example.com/path' }, 'settings.host'],
    ['smtp', { ...SMTP, host: 'user@8.8.8.8' }, 'settings.host'],
    ['smtp', { ...SMTP, port: 0 }, 'settings.port'],
    ['smtp', { ...SMTP, port: '25' }, 'settings.port'],
    ['smtp', { ...SMTP, security: 'ssl' }, 'settings.security'],
    ['smtp', { ...SMTP, password: 'a\0b' }, 'settings.password'],
    ['twilio', { ...TWILIO, account_sid: 'AC1' }, 'settings.account_sid'],
    ['twilio', { ...TWILIO, auth_token: '' }, 'settings.auth_token'],
    ['twilio', { ...TWILIO, base_url: 'http://8.8.8.8' }, 'settings.base_url'],
    ['twilio', { ...TWILIO, base_url: 'https://user:pw@8.8.8.8' }, 'settings.base_url'],
    ['smpp', { ...SMPP, password: 'nine-long' }, 'settings.password'],
    ['smpp', { ...SMPP, tls: 'yes' }, 'settings.tls'],
    ['simulator', { latency_ms: -1 }, 'settings.latency_ms'],
    ['simulator', { failureRate: 1.1 }, 'settings.failure_rate'],
    ['simulator', { rate_per_second: 0 }, 'settings.rate_per_second'],
    ['smtp', [], 'settings'],
    ['smtp', 'host', 'settings'],
    ['fax', {}, 'kind'],
  ])('of kind %s are refused with the settings %j: %s', async (kind, settings, field) => {
    const { caller } = await world.account();
    const input = { kind: kind as CarrierKind, name: 'Main', settings };
    await expect(world.services.carriers.connect(caller, input)).rejects.toMatchObject({
      ...{ code: 'validation-error', details: { field } },
    });
    expect(await world.services.carriers.list(caller)).toEqual([]);
  });

  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '2130706433',
    '0x7f.1',
    'localhost',
    '::1',
    '::ffff:7f00:1',
  ])('do not lead to %s unless private targets are allowed', async (host) => {
    const { caller } = await world.account();
    const input = { kind: 'smtp', name: 'Mail', settings: { host } } as const;
    const expected = { code: 'validation-error', details: { field: 'settings.host' } };
    await expect(world.services.carriers.connect(caller, input)).rejects.toMatchObject(expected);
    const twilio = { ...TWILIO, base_url: `https://${host.includes(':') ? `[${host}]` : host}` };
    await expect(
      world.services.carriers.connect(caller, { kind: 'twilio', name: 'A', settings: twilio }),
    ).rejects.toMatchObject({ details: { field: 'settings.base_url' } });
    const open = new AccountsWorld(database, { ALLOW_PRIVATE_TARGETS: 'true' });
    await expect(open.services.carriers.connect(caller, input)).resolves.toMatchObject({ kind: 'smtp' });
    await open.close();
  });

  it.each(['', ' ', 'x'.repeat(101), 'a\0b'])('are not named %j', async (name) => {
    const { caller } = await world.account();
    const made = world.services.carriers.connect(caller, { kind: 'simulator', name });
    await expect(made).rejects.toMatchObject({ code: 'validation-error', details: { field: 'name' } });
  });

  it('are renamed, paused, drained and given other settings; what is omitted stays', async () => {
    const { caller } = await world.account();
    const { carriers } = world.services;
    const { carrierId } = await carriers.connect(caller, { kind: 'smtp', name: 'Mail', settings: SMTP });
    world.clock.advance(1_000);
    for (const state of ['paused', 'draining', 'active'] as const) {
      expect(await carriers.update(caller, carrierId, { state })).toMatchObject({ state, name: 'Mail' });
    }
    const settings = { host: '8.8.4.4' };
    const changed = await carriers.update(caller, carrierId, { name: 'Post', settings });
    expect(changed).toMatchObject({ name: 'Post', endpoint: '8.8.4.4:587', account: null, state: 'active' });
    expect(changed.updatedAtMs - changed.createdAtMs).toBe(1_000);
    expect(await carriers.get(caller, carrierId)).toEqual(changed);
    await expect(carriers.update(caller, carrierId, { state: 'off' as never })).rejects.toMatchObject({
      details: { field: 'state' },
    });
    await expect(carriers.update(caller, carrierId, { settings: SMPP })).resolves.toMatchObject({
      endpoint: '8.8.8.8:587',
    });
  });

  it('have a rate of their own, which 0 takes away', async () => {
    const { caller } = await world.account();
    const { carriers } = world.services;
    const made = await carriers.connect(caller, { kind: 'simulator', name: 'Simulator', ratePerSecond: 5 });
    const { carrierId } = made;
    expect(made.ratePerSecond).toBe(5);
    expect((await carriers.update(caller, carrierId, { name: 'Other' })).ratePerSecond).toBe(5);
    expect((await carriers.update(caller, carrierId, { ratePerSecond: 0 })).ratePerSecond).toBeNull();
    expect((await carriers.get(caller, carrierId)).ratePerSecond).toBeNull();
    for (const ratePerSecond of [-1, 1.5, 100_001, NaN]) {
      const expected = { code: 'validation-error', details: { field: 'rate_per_second' } };
      await expect(carriers.update(caller, carrierId, { ratePerSecond })).rejects.toMatchObject(expected);
    }
  });

  it('are removed once', async () => {
    const { caller } = await world.account();
    const { carriers } = world.services;
    const { carrierId } = await carriers.connect(caller, { kind: 'simulator', name: 'Simulator' });
    await carriers.remove(caller, carrierId);
    expect(await carriers.list(caller)).toEqual([]);
    await expect(carriers.remove(caller, carrierId)).rejects.toMatchObject({ code: 'not-found' });
  });

  it('of other accounts are not found and stay as they are', async () => {
    const [mine, theirs] = [await world.account(), await world.account()];
    const { carriers } = world.services;
    const made = await carriers.connect(theirs.caller, { kind: 'smtp', name: 'Mail', settings: SMTP });
    for (const id of [made.carrierId, 'x', '']) {
      const expected = { code: 'not-found', status: 404 };
      await expect(carriers.get(mine.caller, id)).rejects.toMatchObject(expected);
      await expect(carriers.update(mine.caller, id, { state: 'paused' })).rejects.toMatchObject(expected);
      await expect(carriers.remove(mine.caller, id)).rejects.toMatchObject(expected);
    }
    expect(await carriers.list(theirs.caller)).toEqual([made]);
  });

  it('are read with balance:read and changed with account:write', async () => {
    const { caller } = await world.account();
    const { carriers } = world.services;
    const reader = callerOf(caller, ['balance:read']);
    const writer = callerOf(caller, ['account:write']);
    const input = { kind: 'simulator', name: 'Simulator' } as const;
    const { carrierId } = await carriers.connect(writer, input);
    const expected = { code: 'insufficient-scope', status: 403 };
    await expect(carriers.connect(reader, input)).rejects.toMatchObject(expected);
    await expect(carriers.update(reader, carrierId, {})).rejects.toMatchObject(expected);
    await expect(carriers.remove(reader, carrierId)).rejects.toMatchObject(expected);
    await expect(carriers.list(writer)).rejects.toMatchObject(expected);
    await expect(carriers.get(writer, carrierId)).rejects.toMatchObject(expected);
    expect(await carriers.list(reader)).toHaveLength(1);
  });

  it('are at most 20 for an account, also when they are made at once', async () => {
    const { caller } = await world.account();
    const { carriers } = world.services;
    const input = { kind: 'simulator', name: 'Simulator' } as const;
    const results = await Promise.allSettled(
      Array.from({ length: CARRIERS_MAX + 3 }, () => carriers.connect(caller, input)),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(3);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'conflict', status: 409 });
  });

  it('count as connected when they lead out of the service, active ones first', async () => {
    const { caller, teamId } = await world.account();
    const { carriers } = world.services;
    await carriers.connect(caller, { kind: 'simulator', name: 'Simulator' });
    expect(await carriers.connectedCarrier(teamId)).toBeNull();
    const first = await carriers.connect(caller, { kind: 'smtp', name: 'Mail', settings: SMTP });
    world.clock.advance(1);
    const second = await carriers.connect(caller, { kind: 'smpp', name: 'Texts', settings: SMPP });
    expect(await carriers.connectedCarrier(teamId)).toEqual({ id: first.carrierId, kind: 'smtp' });
    await carriers.update(caller, first.carrierId, { state: 'draining' });
    expect(await carriers.connectedCarrier(teamId)).toEqual({ id: second.carrierId, kind: 'smpp' });
    await carriers.remove(caller, second.carrierId);
    expect(await carriers.connectedCarrier(teamId)).toEqual({ id: first.carrierId, kind: 'smtp' });
    await carriers.remove(caller, first.carrierId);
    expect(await carriers.connectedCarrier(teamId)).toBeNull();
  });

  it('do not open with settings that were moved from another row', async () => {
    const { caller, teamId } = await world.account();
    const { carriers } = world.services;
    const one = await carriers.connect(caller, { kind: 'smtp', name: 'One', settings: SMTP });
    const two = await carriers.connect(caller, { kind: 'smtp', name: 'Two', settings: SMTP });
    await database.db.query(
      `update carrier_connections set settings_ciphertext = (
         select settings_ciphertext from carrier_connections where id = $2) where id = $1 and team_id = $3`,
      [one.carrierId, two.carrierId, teamId],
    );
    await expect(carriers.get(caller, one.carrierId)).rejects.toThrow();
    await expect(carriers.get(caller, two.carrierId)).resolves.toEqual(two);
  });
});
