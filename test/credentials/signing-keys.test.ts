import { decodeProtectedHeader, generateKeyPair, importJWK, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SigningKeys } from '../../src/features/credentials/index.ts';
import { AccountsWorld, testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

const PURPOSE = { typ: 'kind+jwt', audience: 'https://api.example.com', issuer: 'https://auth.example.com' };

describe('signing keys', () => {
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

  const sign = (claims = {}, part = {}, lifeMs = 60_000) =>
    world.services.signingKeys.sign(claims, {
      ...{ ...PURPOSE, ...part },
      expiresAtMs: world.clock.nowMs() + lifeMs,
    });
  const verify = (jwt: string) => world.services.signingKeys.verify(jwt, PURPOSE);

  it('are made once, however many processes need the first at the same time', async () => {
    const processes = Array.from({ length: 8 }, () => new SigningKeys(world.services));
    const sets = await Promise.all(processes.map((keys) => keys.jwks()));
    expect(new Set(sets.map((set) => JSON.stringify(set))).size).toBe(1);
    expect(sets[0]?.keys).toHaveLength(1);
  });

  it('sign what they verify, with claims, times, kind and key named', async () => {
    const jwt = await sign({ jti: 'one', scope: 'a b' });
    const nowSec = Math.floor(world.clock.nowMs() / 1_000);
    expect(await verify(jwt)).toEqual({
      ...{ jti: 'one', scope: 'a b', aud: PURPOSE.audience, iss: PURPOSE.issuer },
      ...{ iat: nowSec, exp: nowSec + 60 },
    });
    const { keys } = await world.services.signingKeys.jwks();
    expect(decodeProtectedHeader(jwt)).toEqual({ alg: 'ES256', typ: 'kind+jwt', kid: keys[0]?.kid });
  });

  it('are published without their private part, which others can verify with', async () => {
    const { keys } = await world.services.signingKeys.jwks();
    expect(keys).toEqual([expect.not.objectContaining({ d: expect.anything() as unknown })]);
    expect(keys[0]).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
    const key = await importJWK(keys[0] ?? {}, 'ES256');
    const currentDate = new Date(world.clock.nowMs());
    await expect(jwtVerify(await sign({ jti: 'two' }), key, { currentDate })).resolves.toMatchObject({
      payload: { jti: 'two' },
    });
    const [secret] = (await world.services.signingKeys.privateJwks()).keys;
    const { rows } = await database.db.query('select row_to_json(k)::text as text from signing_keys k');
    expect(JSON.stringify(rows)).not.toContain(secret?.d);
  });

  it('take no token of another kind, audience or issuer, and none that is over', async () => {
    expect(await verify(await sign({}, { typ: 'other+jwt' }))).toBeNull();
    expect(await verify(await sign({}, { audience: 'https://else.example.com' }))).toBeNull();
    expect(await verify(await sign({}, { issuer: 'https://else.example.com' }))).toBeNull();
    const short = await sign({}, {}, 1_000);
    expect(await verify(short)).not.toBeNull();
    world.clock.advance(1_000);
    expect(await verify(short)).toBeNull();
  });

  it('take no token whose algorithm, signature or claims were swapped', async () => {
    const jwt = await sign({ scope: 'small' });
    const [header = '', payload = '', signature = ''] = jwt.split('.');
    const { keys } = await world.services.signingKeys.jwks();
    const kid = keys[0]?.kid ?? '';
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = {
      ...{ aud: PURPOSE.audience, iss: PURPOSE.issuer, scope: 'large' },
      ...{ iat: 0, exp: 9_999_999_999 },
    };
    const publicText = new TextEncoder().encode(JSON.stringify(keys[0]));
    const foreign = await generateKeyPair('ES256');
    const forged = (alg: string) => new SignJWT(claims).setProtectedHeader({ alg, kid, typ: PURPOSE.typ });
    const bad = [
      new UnsecuredJWT(claims).encode(),
      `${encode({ alg: 'none', kid, typ: PURPOSE.typ })}.${encode(claims)}.`,
      await forged('HS256').sign(publicText),
      await forged('ES256').sign(foreign.privateKey),
      `${header}.${encode(claims)}.${signature}`,
      `${encode({ alg: 'HS256', kid, typ: PURPOSE.typ })}.${payload}.${signature}`,
      `${header}.${payload}.${'A'.repeat(86)}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${encode({ alg: 'ES256', kid: 'another', typ: PURPOSE.typ })}.${payload}.${signature}`,
      `${encode({ alg: 'ES256', kid: 5 })}.${payload}.${signature}`,
      `${encode({ alg: 'ES256', kid, typ: PURPOSE.typ, crit: ['x'], x: 1 })}.${payload}.${signature}`,
      ...['', '.', '..', 'a.b.c', 'null.null.null', `${encode([])}.${payload}.${signature}`],
    ];
    for (const token of bad) expect([token, await verify(token)]).toEqual([token, null]);
    expect(await verify(jwt)).toMatchObject({ scope: 'small' });
  });

  it('that are retired verify what they signed and sign nothing more', async () => {
    const before = await sign({ jti: 'old' });
    await database.db.query('update signing_keys set retired_at = now()');
    const fresh = new SigningKeys(world.services);
    const after = await fresh.sign({ jti: 'new' }, { ...PURPOSE, expiresAtMs: world.clock.nowMs() + 60_000 });
    expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid);
    expect(await fresh.verify(before, PURPOSE)).toMatchObject({ jti: 'old' });
    expect((await fresh.jwks()).keys).toHaveLength(2);
    expect((await fresh.privateJwks()).keys).toHaveLength(1);
  });

  it('made by another process are found when a token names them', async () => {
    const known = new SigningKeys(world.services);
    await known.jwks();
    await database.db.query('update signing_keys set retired_at = now()');
    const other = new SigningKeys(world.services);
    const jwt = await other.sign({ jti: 'x' }, { ...PURPOSE, expiresAtMs: world.clock.nowMs() + 600_000 });
    world.clock.advance(5_000);
    expect(await known.verify(jwt, PURPOSE)).toMatchObject({ jti: 'x' });
  });

  it('ask again after a database that was away comes back', async () => {
    const keys = new SigningKeys(world.services);
    await database.db.query('alter table signing_keys rename to away');
    await expect(keys.jwks()).rejects.toThrow();
    await database.db.query('alter table away rename to signing_keys');
    expect((await keys.jwks()).keys.length).toBeGreaterThan(0);
  });
});
