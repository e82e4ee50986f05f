import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyPassword } from '../../src/features/accounts/index.ts';
import { SCOPES } from '../../src/kernel/caller.ts';
import { AccountsWorld, testDb, until } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('accounts', () => {
  let database: TestDb;
  let world: AccountsWorld;
  const row = async (sql: string, values: unknown[]): Promise<Record<string, unknown> | undefined> =>
    (await database.db.query<Record<string, unknown>>(sql, values)).rows[0];

  beforeAll(async () => {
    database = await testDb();
    world = new AccountsWorld(database);
  });
  afterAll(async () => {
    await world.close();
    await database.drop();
  });

  it('are made with an owner, funds in the ledger, an API key and a Detection key', async () => {
    const made = await world.services.accounts.create({
      name: 'Näme',
      fundsMicros: 2_500_000n,
      scopes: ['rvm:send'],
    });
    expect(await world.services.accounts.get(made.teamId)).toMatchObject({
      ...{ name: 'Näme', verified: true, operator: false, testMode: false, plan: 'active', detection: true },
      ...{
        buildingBlocks: true,
        concurrentSessions: 500,
        balanceMicros: 2_500_000n,
        hasPlatformToken: false,
      },
    });
    expect(await row('select * from users where id = $1', [made.ownerId])).toMatchObject({
      ...{ team_id: made.teamId, role: 'owner', ai_access: 'full', password_hash: null },
    });
    expect(await row('select * from ledger_entries where team_id = $1', [made.teamId])).toMatchObject({
      ...{
        kind: 'funds_added',
        amount_micros: 2_500_000n,
        cause_type: 'account_created',
        cause_id: made.teamId,
      },
    });
    const key = await row('select * from api_keys where key = $1', [made.apiKey.key]);
    expect(key).toMatchObject({
      team_id: made.teamId,
      scopes: ['rvm:send'],
      created_by: made.ownerId,
      type: 'standard',
    });
    expect(key?.['secret_hash']).toEqual(createHash('sha256').update(made.apiKey.secret).digest());
    expect(await world.services.keyLookup.byKey(made.detectionKey)).toMatchObject({
      teamId: made.teamId,
      createdBy: made.ownerId,
    });
  });

  it('hold secrets in no readable column', async () => {
    const made = await world.services.accounts.create({ name: 'Secrets' });
    await world.services.accounts.setPlatformToken(made.teamId, 'platform-token-0123456789');
    const { rows } = await database.db.query(
      `select concat_ws(' ', row_to_json(t), row_to_json(a), row_to_json(d)) as all_text
       from teams t join api_keys a on a.team_id = t.id join detection_keys d on d.team_id = t.id where t.id = $1`,
      [made.teamId],
    );
    const text = String(rows[0]?.['all_text']);
    expect(text).toContain(made.teamId);
    for (const secret of [made.apiKey.secret, made.detectionKey, 'platform-token-0123456789']) {
      expect(text).not.toContain(secret);
    }
  });

  it('take the options of an operator', async () => {
    const options = { verified: false, testMode: true, operator: true, concurrentSessions: 7 };
    const { teamId } = await world.services.accounts.create({ name: 'Options', ...options });
    expect(await world.services.accounts.get(teamId)).toMatchObject({ ...options, balanceMicros: 0n });
    expect(await row('select scopes from api_keys where team_id = $1', [teamId])).toEqual({
      scopes: [...SCOPES],
    });
  });

  it.each([
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: 'a\0b' }],
    ['funds', { name: 'a', fundsMicros: -1n }],
    ['scopes', { name: 'a', scopes: [] }],
    ['concurrent_sessions', { name: 'a', concurrentSessions: 1.5 }],
    ['concurrent_sessions', { name: 'a', concurrentSessions: -1 }],
  ])('are refused with a wrong %s', async (field, input) => {
    const before = await row('select count(*) as n from teams', []);
    await expect(world.services.accounts.create(input)).rejects.toMatchObject({
      code: 'validation-error',
      details: { field },
    });
    expect(await row('select count(*) as n from teams', [])).toEqual(before);
  });

  it('are made whole or not at all', async () => {
    const before = await row('select count(*) as n from teams', []);
    const scopes = ['not a text array \0'] as never;
    await expect(world.services.accounts.create({ name: 'Broken', scopes })).rejects.toThrow();
    expect(await row('select count(*) as n from teams', [])).toEqual(before);
  });

  it('are switched, funded and given a platform token, each announced to the gateways', async () => {
    const { teamId } = await world.services.accounts.create({ name: 'Switched' });
    const { detectionKey } = await world.services.accounts.create({ name: 'Other', fundsMicros: 1n });
    const heard = await world.announcements();
    await world.services.accounts.setFlags(teamId, { detection: false });
    await until(() => heard.length === 1);
    await world.services.accounts.setPlatformToken(teamId, 'token');
    await until(() => heard.length === 2);
    await world.services.accounts.addFunds(teamId, 5n);
    await until(() => heard.length === 3);
    expect(new Set(heard)).toEqual(new Set([teamId]));
    expect(await world.services.accounts.get(teamId)).toMatchObject({
      detection: false,
      balanceMicros: 5n,
      hasPlatformToken: true,
    });
    expect(await world.services.keyLookup.byKey(detectionKey)).toMatchObject({
      detectionOn: true,
      platformToken: null,
    });
    await world.services.accounts.setPlatformToken(teamId, null);
    expect((await world.services.accounts.get(teamId)).hasPlatformToken).toBe(false);
  });

  it('that do not exist are not found', async () => {
    const expected = { code: 'not-found', status: 404 };
    for (const teamId of [UNKNOWN, 'no-uuid']) {
      await expect(world.services.accounts.get(teamId)).rejects.toMatchObject(expected);
      await expect(world.services.accounts.ownerId(teamId)).rejects.toMatchObject(expected);
      await expect(world.services.accounts.setFlags(teamId, { detection: true })).rejects.toMatchObject(
        expected,
      );
      await expect(world.services.accounts.setPlatformToken(teamId, 'x')).rejects.toMatchObject(expected);
      await expect(world.services.accounts.addFunds(teamId, 1n)).rejects.toMatchObject(expected);
    }
  });

  it.each(['', 'with space', 'x'.repeat(257), 'ü'])('refuse the platform token %j', async (token) => {
    const { teamId } = await world.services.accounts.create({ name: 'Token' });
    await expect(world.services.accounts.setPlatformToken(teamId, token)).rejects.toMatchObject({
      code: 'validation-error',
    });
  });
});

describe('users', () => {
  let database: TestDb;
  let world: AccountsWorld;
  let teamId: string;

  beforeAll(async () => {
    database = await testDb();
    world = new AccountsWorld(database);
    teamId = (await world.services.accounts.create({ name: 'Users' })).teamId;
  });
  afterAll(async () => {
    await world.close();
    await database.drop();
  });

  const user = {
    email: 'a@example.com',
    password: 'correct horse',
    role: 'agent',
    aiAccess: 'view',
  } as const;

  it('are made with a password that only verifies', async () => {
    const userId = await world.services.users.create({ ...user, teamId });
    const { rows } = await database.db.query<Record<string, string>>('select * from users where id = $1', [
      userId,
    ]);
    expect(rows[0]).toMatchObject({
      team_id: teamId,
      email: 'a@example.com',
      role: 'agent',
      ai_access: 'view',
    });
    const stored = rows[0]?.['password_hash'] ?? '';
    expect(stored).not.toContain('correct');
    expect(await verifyPassword('correct horse', stored)).toBe(true);
    expect(await verifyPassword('correct horsE', stored)).toBe(false);
    expect(await verifyPassword('correct horse', 'not a hash')).toBe(false);
  });

  it('have emails of their own, whatever the case', async () => {
    await world.services.users.create({ ...user, teamId, email: 'b@example.com' });
    const again = world.services.users.create({ ...user, teamId, email: 'B@Example.com' });
    await expect(again).rejects.toMatchObject({ code: 'conflict' });
  });

  it.each([
    ['email', { email: 'nobody' }],
    ['email', { email: `${'a'.repeat(250)}@x.yz` }],
    ['password', { password: 'short' }],
    ['password', { password: 'x'.repeat(257) }],
    ['role', { role: 'admin' as never }],
    ['ai_access', { aiAccess: 'all' as never }],
    ['display_name', { displayName: '' }],
  ])('are refused with a wrong %s', async (field, part) => {
    const made = world.services.users.create({ ...user, teamId, email: 'c@example.com', ...part });
    await expect(made).rejects.toMatchObject({ code: 'validation-error', details: { field } });
  });

  it('need an account', async () => {
    await expect(world.services.users.create({ ...user, teamId: UNKNOWN })).rejects.toMatchObject({
      code: 'not-found',
    });
  });
});
