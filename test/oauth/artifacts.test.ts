import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createArtifactsSweep } from '../../src/features/oauth/index.ts';
import { ArtifactsStore } from '../../src/features/oauth/artifacts.store.ts';
import { ClientsStore } from '../../src/features/oauth/clients.store.ts';
import { createAdapter } from '../../src/features/oauth/provider.adapter.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

describe('what the OAuth server keeps between requests', () => {
  const clock = new ManualClock(Date.parse('2026-03-01T12:00:00Z'));
  let database: TestDb;
  beforeAll(async () => void (database = await testDb()));
  afterAll(() => database.drop());

  const adapter = (model: string) =>
    createAdapter({
      ...{ artifacts: new ArtifactsStore(database.db), clients: new ClientsStore(database.db), clock },
      usedTwice: () => new Error('used twice'),
    })(model);
  const count = async (): Promise<number> =>
    Number((await database.db.query<{ n: bigint }>('select count(*) as n from oauth_artifacts')).rows[0]?.n);

  it('is found again by id, uid and user code, as it was last stored', async () => {
    const sessions = adapter('Session');
    await sessions.upsert('s1', { jti: 's1', uid: 'u1', userCode: 'c1', accountId: 'a' }, 60);
    await sessions.upsert('s1', { jti: 's1', uid: 'u1', userCode: 'c1', accountId: 'b' }, 60);
    const kept = { jti: 's1', uid: 'u1', userCode: 'c1', accountId: 'b' };
    expect(await sessions.find('s1')).toEqual(kept);
    expect(await sessions.findByUid('u1')).toEqual(kept);
    expect(await sessions.findByUserCode('c1')).toEqual(kept);
    expect(await adapter('Grant').find('s1')).toBeUndefined();
    await sessions.destroy('s1');
    expect(await sessions.find('s1')).toBeUndefined();
  });

  it('stores no code and no token, only their hashes', async () => {
    for (const model of ['AuthorizationCode', 'RefreshToken', 'AccessToken']) {
      const secret = `secret-of-${model}`;
      await adapter(model).upsert(secret, { jti: secret, grantId: 'g0', clientId: 'c' }, 60);
      expect(await adapter(model).find(secret)).toEqual({ jti: secret, grantId: 'g0', clientId: 'c' });
    }
    const { rows } = await database.db.query<{ row: string }>('select a::text as row from oauth_artifacts a');
    expect(rows).toHaveLength(3);
    expect(rows.map(({ row }) => row).join()).not.toContain('secret-of');
    await adapter('Grant').revokeByGrantId('g0');
  });

  it('is used up by one of many requests at once', async () => {
    const codes = adapter('AuthorizationCode');
    await codes.upsert('code', { jti: 'code', grantId: 'g1' }, 60);
    const uses = await Promise.allSettled(Array.from({ length: 8 }, () => codes.consume('code')));
    expect(uses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await codes.find('code')).toMatchObject({ consumed: clock.nowMs() / 1_000 });
  });

  it('goes with its grant', async () => {
    await adapter('RefreshToken').upsert('r', { jti: 'r', grantId: 'g1' }, 60);
    await adapter('RefreshToken').upsert('r2', { jti: 'r2', grantId: 'g2' }, 60);
    await adapter('AuthorizationCode').revokeByGrantId('g1');
    expect(await adapter('AuthorizationCode').find('code')).toBeUndefined();
    expect(await adapter('RefreshToken').find('r')).toBeUndefined();
    expect(await adapter('RefreshToken').find('r2')).toBeDefined();
    await adapter('RefreshToken').revokeByGrantId('g2');
  });

  it('is swept when it has expired, and not before', async () => {
    const sweep = createArtifactsSweep({ db: database.db, clock });
    await adapter('Session').upsert('short', { uid: 'x' }, 60);
    await adapter('Session').upsert('long', { uid: 'y' }, 3_600);
    await adapter('Session').upsert('forever', { uid: 'z' });
    expect(await sweep.run()).toBe(0);
    clock.advance(61_000);
    expect(await sweep.run()).toBe(1);
    clock.advance(3_600_000);
    expect(await sweep.run()).toBe(1);
    expect(await count()).toBe(1);
  });

  it('finds no client under what is no id, and changes none', async () => {
    expect(await adapter('Client').find("x' or true --")).toBeUndefined();
    await expect(adapter('Client').upsert('x', {})).rejects.toThrow(/no clients/);
  });
});
