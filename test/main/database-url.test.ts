import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddedCluster } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { dataFolder, startService, stopService, testDb, tonegate, until } from '../_util/index.ts';
import type { RunningService, TestDb } from '../_util/index.ts';

describe('the built service on DATABASE_URL', () => {
  let test: TestDb;
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let env: Record<string, string>;
  let service: RunningService | undefined;
  beforeAll(async () => {
    test = await testDb({ isEmpty: true });
    folder = await dataFolder();
    const masterKey = randomBytes(32).toString('base64');
    env = { DATABASE_URL: test.url, MASTER_KEY: masterKey, DATA_DIR: folder.path, SHUTDOWN_GRACE_SEC: '1' };
  });
  afterEach(async () => {
    await stopService(service);
    service = undefined;
  });
  afterAll(async () => {
    await test.drop();
    await folder.remove();
  });

  it('stops in one line that says what to do when migrations are missing', async () => {
    service = startService(env);
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(service.stderr().trim()).toMatch(
      /^the database lacks \d+ migrations: run "tonegate migrate", or .*--migrate$/,
    );
    const command = await tonegate(['account', 'create', '--name', 'A'], env);
    expect(command.code).toBe(1);
    expect(command.stderr).toContain('tonegate migrate');
  });

  it('starts with --migrate, makes no account and no embedded database', async () => {
    service = startService(env, ['--migrate']);
    await service.ready;
    expect((await test.db.query('select 1 from teams')).rowCount).toBe(0);
    for (const name of ['postgres', 'credentials.json', 'master.key']) {
      expect([name, existsSync(`${folder.path}/${name}`)]).toEqual([name, false]);
    }
  });

  it('is brought up to date by tonegate migrate, and has account commands', async () => {
    expect(await tonegate(['migrate'], env)).toMatchObject({
      code: 0,
      stdout: 'the database is up to date\n',
    });
    const made = await tonegate(['account', 'create', '--name', 'A', '--json'], env);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(Object.keys(JSON.parse(made.stdout) as object)).toEqual([
      'team_id',
      'key',
      'secret',
      'detection_key',
    ]);
  });

  it.each([
    ['gateway', ['detect', 'internal']],
    ['api,worker', ['http', 'internal']],
    ['auth', ['auth', 'internal']],
  ])('with the roles %s says only where these listen', async (roles, places) => {
    service = startService({ ...env, ROLES: roles }, ['--migrate']);
    const ready = await service.ready;
    expect(Object.keys(ready)).toEqual(['event', ...places]);
    const state = await fetch(`${ready.internal}/readyz`);
    expect(state.status).toBe(200);
    const { parts } = (await state.json()) as { parts: object };
    expect('gateway' in parts).toBe(roles === 'gateway');
  });

  it('runs as many gateways as WORKERS says on one port', async () => {
    service = startService({ ...env, WORKERS: '2', ROLES: 'gateway' }, ['--migrate']);
    const ready = await service.ready;
    expect((await fetch(`${ready.detect.replace('ws', 'http')}/healthz`)).status).toBe(200);
    const { rows } = await test.db.query<{ n: number }>(
      `select count(*)::int as n from processes where role = 'gateway' and ended_at is null`,
    );
    expect(rows).toEqual([{ n: 2 }]);
  });

  it('gives up in one line when the port is taken', async () => {
    service = startService({ ...env, ROLES: 'api' }, ['--migrate']);
    const port = new URL((await service.ready).http).port;
    const second = startService({ ...env, ROLES: 'api', HTTP_PORT: port });
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr()).toMatch(/^[^\n]*HTTP_PORT[^\n]*in use[^\n]*\n$/);
  });

  it('is not ready while the database is away, lives on, and is ready again by itself', async () => {
    const own = await dataFolder();
    const flags = ['fsync=off'];
    let cluster = new EmbeddedCluster({ folder: own.path, logger: silentLogger, flags });
    await cluster.start();
    service = startService({ ...env, DATABASE_URL: cluster.url }, ['--migrate']);
    const ready = await service.ready;
    const status = async (): Promise<number> => (await fetch(`${ready.internal}/readyz`)).status;
    expect(await status()).toBe(200);
    await cluster.stop();
    await until(async () => (await status()) === 503);
    expect((await fetch(`${ready.internal}/healthz`)).status).toBe(200);
    expect((await fetch(`${ready.http}/healthz`)).status).toBe(200);
    cluster = new EmbeddedCluster({ folder: own.path, logger: silentLogger, flags });
    await cluster.start();
    await until(async () => (await status()) === 200, 60_000, 'readiness');
    await stopService(service);
    expect(await service.exited).toEqual({ code: 0, signal: null });
    await cluster.stop();
    await own.remove();
  });
});
