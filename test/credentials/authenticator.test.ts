import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authenticator, KeyUsage } from '../../src/features/credentials/index.ts';
import type { TokenVerifier } from '../../src/features/credentials/index.ts';
import { SCOPES } from '../../src/kernel/caller.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { AccountsWorld, callerOf, testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

const UNAUTHORIZED = { code: 'unauthorized', status: 401 };

describe('authentication', () => {
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

  /** Takes one token, calls another its own but bad, and knows no others. */
  const verifier = (token: string, teamId: string): TokenVerifier => ({
    verify: async (given) => {
      if (given === `bad ${token}`) throw new Problem('unauthorized', 'bad');
      return given === token ? { ...callerOf({ teamId, userId: 'u' }), kind: 'machine' } : null;
    },
  });
  const withTokens = (...verifiers: TokenVerifier[]): Authenticator => {
    const { db, clock } = world.services;
    return new Authenticator({ db, clock, usage: new KeyUsage(db), verifiers });
  };

  it('gives the account, the user, the scopes and the operator flag of a key', async () => {
    const { teamId, ownerId, key, secret } = await world.account({ operator: true });
    const caller = await world.services.authenticator.authenticate({ key, secret });
    expect(caller).toMatchObject({ kind: 'api_key', teamId, userId: ownerId, operator: true, role: null });
    expect([...caller.scopes]).toEqual([...SCOPES]);
    const { rows } = await database.db.query('select id from api_keys where key = $1', [key]);
    expect(rows).toEqual([{ id: caller.credentialId }]);
  });

  it('refuses every wrong pair with the same words', async () => {
    const [one, other] = [await world.account(), await world.account()];
    const pairs = [
      { key: one.key, secret: other.secret },
      { key: other.key, secret: one.secret },
      { key: `${one.key}A`, secret: one.secret },
      { key: one.key.toUpperCase(), secret: one.secret },
      { key: one.key, secret: `${one.secret} ` },
      { key: one.key, secret: one.secret.slice(0, -1) },
      { key: one.key, secret: '' },
      { key: '', secret: one.secret },
      { key: one.secret, secret: one.key },
      { key: one.key },
      { secret: one.secret },
      { key: "tg_' or true --", secret: one.secret },
      { key: `tg_${'x'.repeat(100_000)}`, secret: one.secret },
      { key: one.key, secret: 'x'.repeat(100_000) },
      { key: 'tg_\0', secret: one.secret },
    ];
    const faults = await Promise.all(
      pairs.map((pair) => world.services.authenticator.authenticate(pair).catch((error: unknown) => error)),
    );
    for (const fault of faults) expect(fault).toMatchObject(UNAUTHORIZED);
    expect(new Set(faults.map((fault) => (fault as Problem).detail)).size).toBe(1);
  });

  it('asks for a credential when there is none', async () => {
    await expect(world.services.authenticator.authenticate({})).rejects.toMatchObject(UNAUTHORIZED);
  });

  it('takes the API key of a request that carries a bearer token too, also when the key is wrong', async () => {
    const [mine, theirs] = [await world.account(), await world.account()];
    const authenticator = withTokens(verifier('token', theirs.teamId));
    const { key, secret } = mine;
    expect((await authenticator.authenticate({ key, secret, bearer: 'token' })).teamId).toBe(mine.teamId);
    for (const pair of [{ key, secret: 'wrong' }, { key }, { secret }]) {
      await expect(authenticator.authenticate({ ...pair, bearer: 'token' })).rejects.toMatchObject(
        UNAUTHORIZED,
      );
    }
    expect((await authenticator.authenticate({ bearer: 'token' })).teamId).toBe(theirs.teamId);
  });

  it('asks each verifier in turn until one takes the token; one that finds it bad ends the search', async () => {
    const authenticator = withTokens(verifier('a', 'team-a'), verifier('b', 'team-b'));
    expect((await authenticator.authenticate({ bearer: 'a' })).teamId).toBe('team-a');
    expect((await authenticator.authenticate({ bearer: 'b' })).teamId).toBe('team-b');
    for (const bearer of ['', 'c', 'bad a', 'bad b', 'x'.repeat(100_000)]) {
      await expect(authenticator.authenticate({ bearer })).rejects.toMatchObject(UNAUTHORIZED);
    }
  });

  it('answers 503 while the database is away, and finds malformed keys wrong without asking it', async () => {
    const { key, secret } = await world.account();
    const away = new AccountsWorld({ url: 'postgres://x@127.0.0.1:1/x' });
    const { authenticator } = away.services;
    await expect(authenticator.authenticate({ key, secret })).rejects.toMatchObject({
      ...{ code: 'service-unavailable', status: 503 },
    });
    await expect(authenticator.authenticate({ key: 'no key', secret })).rejects.toMatchObject(UNAUTHORIZED);
    await away.close();
  });

  it('ignores scopes of a stored key that are none any more', async () => {
    const { key, secret, teamId } = await world.account();
    await database.db.query(`update api_keys set scopes = '{dnc:read,gone:read}' where team_id = $1`, [
      teamId,
    ]);
    const { scopes } = await world.services.authenticator.authenticate({ key, secret });
    expect([...scopes]).toEqual(['dnc:read']);
  });
});
