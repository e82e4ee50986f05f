import { randomBytes, scryptSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopesOf, verifyPassword } from '../../src/features/accounts/index.ts';
import type { Role } from '../../src/features/accounts/index.ts';
import { requireScope, SCOPES } from '../../src/kernel/caller.ts';
import type { Caller, CallerRole } from '../../src/kernel/caller.ts';
import { AccountsWorld, testDb } from '../_util/index.ts';
import type { TestAccount, TestDb } from '../_util/index.ts';

const PASSWORD = 'correct horse';

describe('users of an account', () => {
  let database: TestDb;
  let world: AccountsWorld;
  let account: TestAccount;
  let count = 0;

  beforeAll(async () => {
    database = await testDb();
    world = new AccountsWorld(database);
    account = await world.account();
  });
  afterAll(async () => {
    await world.close();
    await database.drop();
  });

  const as = (role: CallerRole | null, of = account): Caller => ({
    ...of.caller,
    ...(role === null ? {} : { kind: 'user' as const, role }),
  });
  const input = (role: Role = 'agent') => {
    count += 1;
    const email = `user-${count}@example.com`;
    return { email, password: PASSWORD, role, aiAccess: 'view' as const };
  };
  const storedHash = async (userId: string): Promise<string> =>
    (
      await database.db.query<{ password_hash: string }>('select password_hash from users where id = $1', [
        userId,
      ])
    ).rows[0]?.password_hash ?? '';

  it('are invited by owners, managers and keys; agents and viewers may not', async () => {
    const { users } = world.services;
    for (const role of ['owner', 'manager', null] as const) {
      const made = await users.invite(as(role), input());
      expect(made).toMatchObject({ teamId: account.teamId, role: 'agent', aiAccess: 'view' });
      expect(made).not.toHaveProperty('password');
      expect(made).not.toHaveProperty('passwordHash');
    }
    for (const role of ['agent', 'viewer'] as const) {
      await expect(users.invite(as(role), input())).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('are made owners, and changed from it, by owners and keys only', async () => {
    const { users } = world.services;
    await expect(users.invite(as('manager'), input('owner'))).rejects.toMatchObject({ code: 'forbidden' });
    const { userId } = await users.invite(as('owner'), input('owner'));
    for (const change of [{ role: 'agent' }, { displayName: 'Mallory' }] as const) {
      await expect(users.update(as('manager'), userId, change)).rejects.toMatchObject({ code: 'forbidden' });
    }
    const { userId: agentId } = await users.invite(as('manager'), input());
    await expect(users.update(as('manager'), agentId, { role: 'owner' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(await users.update(as('manager'), agentId, { role: 'manager', aiAccess: 'full' })).toMatchObject({
      ...{ role: 'manager', aiAccess: 'full' },
    });
    expect(await users.update(as(null), userId, { role: 'viewer' })).toMatchObject({ role: 'viewer' });
  });

  it('keep one owner at least, also when two leave at once', async () => {
    const own = await world.account();
    const { users } = world.services;
    const second = await users.invite(as('owner', own), input('owner'));
    const leave = (userId: string) => users.update(as('owner', own), userId, { role: 'agent' });
    const results = await Promise.allSettled([leave(own.ownerId), leave(second.userId)]);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'conflict' } }]);
    await expect(users.update(as('owner', own), own.ownerId, { displayName: 'Ada' })).resolves.toMatchObject({
      displayName: 'Ada',
    });
  });

  it('of other accounts are not found', async () => {
    const other = await world.account();
    const { users } = world.services;
    for (const userId of [other.ownerId, 'x', other.ownerId.toUpperCase()]) {
      const change = users.update(account.caller, userId, { displayName: 'Mallory' });
      await expect(change).rejects.toMatchObject({ code: 'not-found' });
    }
  });

  it.each([
    ['role', { role: 'king' }],
    ['ai_access', { aiAccess: 'all' }],
    ['display_name', { displayName: '' }],
  ])('are not changed to a wrong %s', async (field, change) => {
    const update = world.services.users.update(account.caller, account.ownerId, change as never);
    await expect(update).rejects.toMatchObject({ code: 'validation-error', details: { field } });
  });

  it('are found page by page, by name and email, without patterns', async () => {
    const own = await world.account();
    const { users } = world.services;
    for (const displayName of ['Ada', 'Bob_1', 'Bobx1']) {
      await users.invite(own.caller, { ...input(), displayName });
    }
    const names = async (page: { skip: number; limit: number; searchTerm?: string }) =>
      (await users.list(own.caller, page)).map((user) => user.displayName);
    expect(await names({ skip: 1, limit: 2 })).toHaveLength(2);
    expect(await names({ skip: 0, limit: 10, searchTerm: 'bob_' })).toEqual(['Bob_1']);
    expect(await names({ skip: 0, limit: 10, searchTerm: '%' })).toEqual([]);
    expect(await names({ skip: 0, limit: 10, searchTerm: '@EXAMPLE' })).toHaveLength(3);
  });

  it('sign in with their email in any case and their password, and learn nothing otherwise', async () => {
    const { users } = world.services;
    const { email, ...rest } = input();
    const { userId } = await users.invite(account.caller, { email, ...rest });
    expect(await users.signIn(email.toUpperCase(), PASSWORD)).toMatchObject({ userId, role: 'agent' });
    expect(await users.signIn(email, PASSWORD)).not.toHaveProperty('passwordHash');
    for (const [address, password] of [
      [email, 'correct horsE'],
      [email, ''],
      [email.replace('-', '_'), PASSWORD],
      ['nobody@example.com', 'the password of nobody'],
      ['', ''],
    ] as const) {
      expect(await users.signIn(address, password)).toBeNull();
    }
  });

  it('without a password cannot sign in', async () => {
    const own = await world.account();
    await database.db.query('update users set email = $2 where id = $1', [own.ownerId, 'owner@example.com']);
    for (const password of ['', 'the password of nobody', PASSWORD]) {
      expect(await world.services.users.signIn('owner@example.com', password)).toBeNull();
    }
  });

  it('of a suspended account cannot sign in, and are no longer who they were', async () => {
    const own = await world.account();
    const { users, accounts } = world.services;
    const { email, ...rest } = input();
    const { userId } = await users.invite(own.caller, { email, ...rest });
    expect(await users.findSignedIn(own.teamId, userId)).toMatchObject({ userId });
    await accounts.setFlags(own.teamId, { suspended: true });
    expect(await users.signIn(email, PASSWORD)).toBeNull();
    expect(await users.findSignedIn(own.teamId, userId)).toBeNull();
    expect(await users.findSignedIn(account.teamId, userId)).toBeNull();
  });

  it('whose password was hashed with scrypt sign in, and have it hashed with Argon2id then', async () => {
    const { users } = world.services;
    const { email, ...rest } = input();
    const { userId } = await users.invite(account.caller, { email, ...rest });
    const salt = randomBytes(16);
    const options = { N: 2 ** 15, r: 8, p: 3, maxmem: 96 * 1024 * 1024 };
    const hash = scryptSync(PASSWORD, salt, 32, options).toString('base64url');
    const old = `$scrypt$ln=15,r=8,p=3$${salt.toString('base64url')}$${hash}`;
    await database.db.query('update users set password_hash = $2 where id = $1', [userId, old]);
    expect(await users.signIn(email, 'wrong')).toBeNull();
    expect(await storedHash(userId)).toBe(old);
    expect(await users.signIn(email, PASSWORD)).toMatchObject({ userId });
    const renewed = await storedHash(userId);
    expect(renewed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verifyPassword(PASSWORD, renewed)).toBe(true);
    expect(await users.signIn(email, PASSWORD)).toMatchObject({ userId });
    expect(await storedHash(userId)).toBe(renewed);
  });

  it('have scopes by their AI access: everything, what only reads, or none', () => {
    expect(scopesOf({ aiAccess: 'full' })).toEqual([...SCOPES]);
    const reading = scopesOf({ aiAccess: 'view' });
    expect(reading).toContain('contacts:read');
    expect(reading.every((scope) => scope.endsWith(':read'))).toBe(true);
    expect(scopesOf({ aiAccess: 'none' })).toEqual([]);
  });

  it('are held back by their role whatever their scopes; keys are not', () => {
    const allowed = (role: CallerRole | null, scope: (typeof SCOPES)[number]): boolean => {
      try {
        requireScope(as(role), scope);
        return true;
      } catch (error) {
        expect(error).toMatchObject({ code: 'forbidden', status: 403 });
        return false;
      }
    };
    for (const role of ['owner', 'manager', null] as const) {
      expect(SCOPES.every((scope) => allowed(role, scope))).toBe(true);
    }
    expect(SCOPES.filter((scope) => !allowed('agent', scope))).toEqual(['account:write']);
    expect(SCOPES.filter((scope) => allowed('viewer', scope))).toEqual(scopesOf({ aiAccess: 'view' }));
  });
});
