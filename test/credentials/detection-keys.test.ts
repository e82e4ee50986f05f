import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentDetectionKey, presentMadeDetectionKey } from '../../src/features/credentials/index.ts';
import { AccountsWorld, callerOf, testDb, until } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('Detection keys', () => {
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

  it('are made as the contract shows them; the key itself is shown only then', async () => {
    const { caller } = await world.account();
    const made = await world.services.detectionKeys.create(caller, { name: 'dialer', expiresInSeconds: 300 });
    const nowMs = world.clock.nowMs();
    expect(presentMadeDetectionKey(made)).toEqual({
      key_id: expect.stringMatching(UUID) as string,
      name: 'dialer',
      api_key: expect.stringMatching(/^tgd_[A-Za-z0-9_-]{49}$/) as string,
      key_hint: made.apiKey.slice(-4),
      created_at: nowMs,
      expires_at: nowMs + 300_000,
    });
    const listed = (await world.services.detectionKeys.list(caller)).map(presentDetectionKey);
    expect(listed.find((key) => key['key_id'] === made.keyId)).toEqual({
      ...{ key_id: made.keyId, name: 'dialer', key_hint: made.keyHint, status: 'active' },
      ...{ created_at: nowMs, expires_at: nowMs + 300_000 },
    });
    expect(JSON.stringify(listed)).not.toContain(made.apiKey);
  });

  it('get a fixed label and the date as name, and do not expire, unless told otherwise', async () => {
    const { caller } = await world.account();
    const made = await world.services.detectionKeys.create(caller, {});
    expect(made).toMatchObject({ name: 'Detection key 2026-03-01', expiresAtMs: null });
  });

  it.each([
    ['name', { name: '' }],
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: 5 }],
    ['name', { name: null }],
    ['name', { name: 'a\0' }],
    ['expires_in_seconds', { expiresInSeconds: 299 }],
    ['expires_in_seconds', { expiresInSeconds: 31_536_001 }],
    ['expires_in_seconds', { expiresInSeconds: 300.5 }],
    ['expires_in_seconds', { expiresInSeconds: '300' }],
    ['expires_in_seconds', { expiresInSeconds: null }],
    ['expires_in_seconds', { expiresInSeconds: NaN }],
  ])('are refused with a wrong %s: %j', async (field, input) => {
    const { caller } = await world.account();
    const expected = { code: 'validation-error', status: 400, details: { field } };
    await expect(world.services.detectionKeys.create(caller, input)).rejects.toMatchObject(expected);
  });

  it.each([
    { name: 'x'.repeat(100) },
    { name: '😀'.repeat(100) },
    { expiresInSeconds: 300 },
    { expiresInSeconds: 31_536_000 },
  ])('are taken at the bounds: %j', async (input) => {
    const { caller } = await world.account();
    await expect(world.services.detectionKeys.create(caller, input)).resolves.toBeDefined();
  });

  it.each([
    ['trial_feature_blocked', { plan: 'trial' }],
    ['forbidden', { plan: 'inactive' }],
    ['team-not-verified', { verified: false }],
    ['byoc-required', { buildingBlocks: false }],
  ] as const)('are refused with %s when the account is %j', async (code, flags) => {
    const { caller, teamId } = await world.account();
    await world.services.accounts.setFlags(teamId, flags);
    await expect(world.services.detectionKeys.create(caller, {})).rejects.toMatchObject({
      code,
      status: 403,
    });
    expect(await world.services.detectionKeys.list(caller)).toHaveLength(1);
  });

  it('are at most 25 for an account, also when they are made at once; a revoked one makes room', async () => {
    const { caller } = await world.account();
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, () => world.services.detectionKeys.create(caller, {})),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(6);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'conflict', status: 409 });
    const keys = await world.services.detectionKeys.list(caller);
    expect(keys).toHaveLength(25);
    await world.services.detectionKeys.revoke(caller, keys[0]?.keyId ?? '');
    await expect(world.services.detectionKeys.create(caller, {})).resolves.toBeDefined();
    await expect(world.services.detectionKeys.create(caller, {})).rejects.toMatchObject({ code: 'conflict' });
  });

  it('are suspended without funds or detection, resume by themselves, and expire', async () => {
    const { caller, teamId } = await world.account();
    const made = await world.services.detectionKeys.create(caller, { expiresInSeconds: 600 });
    const status = async () =>
      (await world.services.detectionKeys.list(caller)).find((key) => key.keyId === made.keyId)?.status;
    const charge = { teamId, amountMicros: 100_000_000n, causeType: 'session', causeId: 's' };
    await database.db.tx((tx) => world.services.ledger.capture(tx, [charge]));
    expect(await status()).toBe('suspended');
    await world.services.accounts.addFunds(teamId, 1n);
    expect(await status()).toBe('active');
    await world.services.accounts.setFlags(teamId, { detection: false });
    expect(await status()).toBe('suspended');
    await world.services.accounts.setFlags(teamId, { detection: true });
    expect(await status()).toBe('active');
    world.clock.advance(600_000);
    expect(await status()).toBe('expired');
    await world.services.detectionKeys.revoke(caller, made.keyId);
    expect(await status()).toBeUndefined();
  });

  it('are revoked once, announced, and gone from the list', async () => {
    const { caller, teamId } = await world.account();
    const made = await world.services.detectionKeys.create(caller, {});
    const heard = await world.announcements();
    expect(await world.services.detectionKeys.revoke(caller, made.keyId.toUpperCase())).toEqual({
      keyId: made.keyId,
      revoked: true,
    });
    await until(() => heard.includes(teamId));
    expect((await world.services.detectionKeys.list(caller)).map((key) => key.keyId)).not.toContain(
      made.keyId,
    );
    await expect(world.services.detectionKeys.revoke(caller, made.keyId)).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  it('of other accounts are not found and stay as they are', async () => {
    const [mine, theirs] = [await world.account(), await world.account()];
    const made = await world.services.detectionKeys.create(theirs.caller, {});
    await expect(world.services.detectionKeys.revoke(mine.caller, made.keyId)).rejects.toMatchObject({
      code: 'not-found',
      status: 404,
    });
    expect((await world.services.keyLookup.byKey(made.apiKey))?.revoked).toBe(false);
    expect((await world.services.detectionKeys.list(mine.caller)).map((key) => key.keyId)).not.toContain(
      made.keyId,
    );
  });

  it.each(['', 'abc', '123', `${'0'.repeat(36)}`])('with the id %j are a validation error', async (keyId) => {
    const { caller } = await world.account();
    const expected = { code: 'validation-error', status: 400, details: { field: 'key_id' } };
    await expect(world.services.detectionKeys.revoke(caller, keyId)).rejects.toMatchObject(expected);
  });

  it('need account:write to be made or revoked and balance:read to be listed', async () => {
    const { caller } = await world.account();
    const reader = callerOf(caller, ['balance:read']);
    const writer = callerOf(caller, ['account:write']);
    const expected = { code: 'insufficient-scope', status: 403 };
    await expect(world.services.detectionKeys.create(reader, {})).rejects.toMatchObject(expected);
    await expect(world.services.detectionKeys.revoke(reader, 'x')).rejects.toMatchObject(expected);
    await expect(world.services.detectionKeys.list(writer)).rejects.toMatchObject(expected);
    await expect(world.services.detectionKeys.list(reader)).resolves.toHaveLength(1);
    await expect(world.services.detectionKeys.create(writer, {})).resolves.toBeDefined();
  });

  it('answer service-unavailable while the database is away', async () => {
    const { caller } = await world.account();
    const away = new AccountsWorld({ url: 'postgres://x@127.0.0.1:1/x' });
    const keys = away.services.detectionKeys;
    const expected = { code: 'service-unavailable', status: 503 };
    await expect(keys.list(caller)).rejects.toMatchObject(expected);
    await expect(keys.create(caller, {})).rejects.toMatchObject(expected);
    await expect(keys.revoke(caller, caller.teamId)).rejects.toMatchObject(expected);
    await away.close();
  });
});

describe('the look-up of a Detection key', () => {
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

  it('gives what a gateway must know', async () => {
    const { caller, teamId } = await world.account();
    const made = await world.services.detectionKeys.create(caller, { expiresInSeconds: 300 });
    await world.services.accounts.setPlatformToken(teamId, 'platform-token');
    await world.services.accounts.setFlags(teamId, { keepTranscripts: true, concurrentSessions: 3 });
    expect(await world.services.keyLookup.byKey(made.apiKey)).toEqual({
      ...{
        keyId: made.keyId,
        teamId,
        createdBy: caller.userId,
        expiresAtMs: made.expiresAtMs,
        revoked: false,
      },
      ...{ detectionOn: true, hasFunds: true, concurrentSessions: 3, platformToken: 'platform-token' },
      keepTranscripts: true,
    });
  });

  it('says when funds are gone, detection is off or the key is revoked', async () => {
    const { caller, teamId, detectionKey } = await world.account();
    const charge = { teamId, amountMicros: 100_000_000n, causeType: 'session', causeId: 's' };
    await database.db.tx((tx) => world.services.ledger.capture(tx, [charge]));
    await world.services.accounts.setFlags(teamId, { detection: false });
    const found = await world.services.keyLookup.byKey(detectionKey);
    await world.services.detectionKeys.revoke(caller, found?.keyId ?? '');
    expect(await world.services.keyLookup.byKey(detectionKey)).toMatchObject({
      hasFunds: false,
      detectionOn: false,
      revoked: true,
    });
  });

  it('finds nothing for malformed and unknown keys, and asks the database only for well-formed ones', async () => {
    const { detectionKey } = await world.account();
    const flipped =
      detectionKey.slice(0, 10) + (detectionKey[10] === 'A' ? 'B' : 'A') + detectionKey.slice(11);
    const away = new AccountsWorld({ url: 'postgres://x@127.0.0.1:1/x' });
    const { keyLookup: lookup } = away.services;
    for (const key of [
      '',
      'tgd_',
      'x'.repeat(100_000),
      flipped,
      `${detectionKey}A`,
      detectionKey.slice(0, -1),
      ' ',
      'tgd_\0',
    ]) {
      expect(await lookup.byKey(key)).toBeNull();
    }
    await expect(lookup.byKey(detectionKey)).rejects.toThrow();
    await away.close();
    expect(await world.services.keyLookup.byKey(detectionKey)).not.toBeNull();
  });

  it('gives a key back for signing, also a revoked one, and null for an unknown id', async () => {
    const { caller, detectionKey } = await world.account();
    const keyId = (await world.services.keyLookup.byKey(detectionKey))?.keyId ?? '';
    await world.services.detectionKeys.revoke(caller, keyId);
    expect(await world.services.keyLookup.signingKey(keyId)).toBe(detectionKey);
    expect(await world.services.keyLookup.signingKey(caller.teamId)).toBeNull();
  });

  it('does not open a ciphertext that was moved to another key', async () => {
    const [a, b] = [await world.account(), await world.account()];
    await database.db.query(
      `update detection_keys set key_ciphertext = (select key_ciphertext from detection_keys where team_id = $2)
       where team_id = $1`,
      [a.teamId, b.teamId],
    );
    const keyId = (await world.services.keyLookup.byKey(a.detectionKey))?.keyId ?? '';
    await expect(world.services.keyLookup.signingKey(keyId)).rejects.toThrow();
  });
});
