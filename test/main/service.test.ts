import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  dataFolder,
  isRunning,
  postgresPid,
  startService,
  stopService,
  tonegate,
  until,
} from '../_util/index.ts';
import type { ReadyLine, RunningService } from '../_util/index.ts';

interface Credentials {
  team_id: string;
  key: string;
  secret: string;
  detection_key: string;
}

const credentialsOf = async (dataDir: string): Promise<Credentials> =>
  JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8')) as Credentials;

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

/** A client of the embedded database, as a neighbour would find it. */
async function embeddedClient(dataDir: string): Promise<pg.Client> {
  const { port, password } = JSON.parse(await readFile(join(dataDir, 'postgres.json'), 'utf8')) as {
    port: number;
    password: string;
  };
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'tonegate', password, database: 'tonegate' });
  await client.connect();
  return client;
}

async function readyz(
  ready: ReadyLine,
): Promise<{ status: number; body: { parts: Record<string, { ok: boolean }> } }> {
  const response = await fetch(`${ready.internal}/readyz`);
  return { status: response.status, body: (await response.json()) as never };
}

/** Opens a session on the general route and waits for `ready`. */
async function openSession(ready: ReadyLine, key: string): Promise<WebSocket> {
  const socket = new WebSocket(`${ready.detect}/carrier/ws?api_key=${key}`, {
    headers: { 'x-api-key': key },
  });
  const first = new Promise<string>((resolve, reject) => {
    socket.once('message', (data: Buffer) => resolve(data.toString()));
    socket.once('error', reject);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
  });
  socket.send(JSON.stringify(WELCOME));
  expect(await first).toContain('ready');
  return socket;
}

const closeCode = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => socket.once('close', (code) => resolve(code)));

const bearer = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

const WELCOME = {
  type: 'welcome',
  payload: { strategy: 'standard', audio_encoding: 'mulaw', sample_rate_hz: 8000 },
};

describe('the built service on its embedded database', () => {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  let service: RunningService;
  let ready: ReadyLine;
  let key: string;

  beforeAll(async () => {
    folder = await dataFolder();
    service = startService({ DATA_DIR: folder.path, SHUTDOWN_GRACE_SEC: '2' });
    ready = await service.ready;
    key = (await credentialsOf(folder.path)).detection_key;
  });
  afterAll(async () => {
    await stopService(service);
    await folder.remove();
  });

  it('says where it listens in one line, and each place answers', async () => {
    expect(service.stdout().trim().split('\n')).toHaveLength(1);
    expect(ready).toEqual({
      event: 'ready',
      http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      detect: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+$/) as string,
      auth: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      internal: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    });
    const health = [ready.http, ready.auth, ready.internal, ready.detect.replace('ws:', 'http:')];
    for (const address of health) expect((await fetch(`${address}/healthz`)).status).toBe(200);
    expect(await readyz(ready)).toMatchObject({
      status: 200,
      body: { ready: true, parts: { database: { ok: true }, gateway: { ok: true } } },
    });
  });

  it('keeps metrics and readiness off the public ports', async () => {
    for (const address of [ready.http, ready.auth, ready.detect.replace('ws:', 'http:')]) {
      for (const path of ['/readyz', '/metrics']) expect((await fetch(`${address}${path}`)).status).toBe(404);
    }
  });

  it('answers unknown paths with problem details and the request id', async () => {
    const response = await fetch(`${ready.http}/nowhere?a=1`, { headers: { 'x-request-id': 'mine-1' } });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(response.headers.get('x-request-id')).toBe('mine-1');
    const body = (await response.json()) as Record<string, unknown>;
    expect(body).toMatchObject({ status: 404, instance: '/nowhere', request_id: 'mine-1' });
    expect(body.type).toMatch(/\/not-found$/);
  });

  it('writes secrets for its owner only, and none of them to its log', async () => {
    expect(await modeOf(folder.path)).toBe(0o700);
    for (const file of ['credentials.json', 'master.key', 'postgres.json']) {
      expect([file, await modeOf(join(folder.path, file))]).toEqual([file, 0o600]);
    }
    const credentials = await credentialsOf(folder.path);
    expect(Object.keys(credentials)).toEqual(['team_id', 'key', 'secret', 'detection_key']);
    const master = (await readFile(join(folder.path, 'master.key'), 'utf8')).trim();
    const { password } = JSON.parse(await readFile(join(folder.path, 'postgres.json'), 'utf8')) as {
      password: string;
    };
    expect(service.stderr()).toContain('credentials.json');
    for (const secret of [credentials.secret, credentials.detection_key, credentials.key, master, password]) {
      expect(service.stderr()).not.toContain(secret);
    }
  });

  it('sums the metrics of itself and of its gateways', async () => {
    const text = await (await fetch(`${ready.internal}/metrics`)).text();
    expect(text).toMatch(/^tonegate_outbox_rows\{state="ready"\} \d+$/m);
    expect(text).toMatch(/^tonegate_[a-z_]*sessions[a-z_]* \d+$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
  });

  it('tells a second process on its data folder to stop', async () => {
    const second = startService({ DATA_DIR: folder.path });
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr()).toContain(`in use by process ${service.pid}`);
    expect(second.stdout()).toBe('');
    expect((await readyz(ready)).status).toBe(200);
  });

  it('lets account commands work beside it', async () => {
    const made = await tonegate(['account', 'create', '--name', 'Beside', '--funds', '5', '--json'], {
      DATA_DIR: folder.path,
    });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const account = JSON.parse(made.stdout) as Credentials;
    expect(account.team_id).not.toBe((await credentialsOf(folder.path)).team_id);
    const socket = await openSession(ready, account.detection_key);
    socket.close();
    expect(await postgresPid(folder.path)).not.toBeNull();
  });

  it('records itself and its gateway as living processes', async () => {
    const client = await embeddedClient(folder.path);
    const { rows } = await client.query<{ role: string; pid: number }>(
      `select role, pid from processes where ended_at is null and heartbeat_at > now() - interval '10 s' order by role`,
    );
    await client.end();
    expect(rows.map((row) => row.role).sort()).toEqual(['gateway', 'main']);
    expect(rows.map((row) => row.pid)).toContain(service.pid);
  });

  it('starts a killed gateway again and marks its sessions lost', async () => {
    const client = await embeddedClient(folder.path);
    const socket = await openSession(ready, key);
    const live = await until(
      async () =>
        (await client.query(`select process_id from detection_sessions where state = 'live'`)).rows[0] as {
          process_id: string;
        },
    );
    const { rows } = await client.query<{ pid: number }>('select pid from processes where id = $1', [
      live.process_id,
    ]);
    const closed = closeCode(socket);
    process.kill(rows[0]!.pid, 'SIGKILL');
    expect(await closed).toBe(1006);
    await until(async () => {
      const { rows: lost } = await client.query(
        `select 1 from detection_sessions s join processes p on p.id = s.process_id
          where s.process_id = $1 and s.state = 'lost' and p.ended_at is not null`,
        [live.process_id],
      );
      return lost.length === 1;
    });
    await until(async () => (await readyz(ready)).body.parts.gateway?.ok === true);
    const again = await openSession(ready, key);
    again.close();
    await client.end();
  });

  it('stays up while its PostgreSQL is killed, says so, and recovers by itself', async () => {
    const before = await postgresPid(folder.path);
    process.kill(before!, 'SIGQUIT');
    const away = await until(async () => {
      const state = await readyz(ready);
      return state.status === 503 && state;
    });
    expect(away.body.parts.database).toMatchObject({ ok: false });
    expect((await fetch(`${ready.internal}/healthz`)).status).toBe(200);
    await until(async () => (await readyz(ready)).status === 200, 60_000, 'readiness after the restart');
    expect(await postgresPid(folder.path)).not.toBe(before);
    (await openSession(ready, key)).close();
  });

  it('takes over after kill -9: the orphaned database is ended, nothing is lost', async () => {
    const credentials = await credentialsOf(folder.path);
    const socket = await openSession(ready, key);
    const closed = closeCode(socket);
    const orphan = await postgresPid(folder.path);
    service.kill('SIGKILL');
    await service.exited;
    // The gateway sees that nobody stands for it any more.
    expect(await closed).toBe(1001);
    expect(isRunning(orphan!)).toBe(true);
    service = startService({ DATA_DIR: folder.path, SHUTDOWN_GRACE_SEC: '2' });
    ready = await service.ready;
    expect(await postgresPid(folder.path)).not.toBe(orphan);
    // It may lie there as a zombie until the machine's first process collects it.
    await until(() => !isRunning(orphan!));
    expect(await credentialsOf(folder.path)).toEqual(credentials);
    (await openSession(ready, key)).close();
    const client = await embeddedClient(folder.path);
    const { rows } = await client.query('select 1 from teams');
    await client.end();
    expect(rows).toHaveLength(2);
  });

  it('ends gracefully: refuses what is new at once, lets a call go on, closes it with 1001 after the grace', async () => {
    const socket = await openSession(ready, key);
    const closed = closeCode(socket);
    service.kill('SIGTERM');
    await until(async () => (await readyz(ready)).status === 503);
    await until(async () => (await upgradeStatus(ready, key)) === 503, 5_000, 'a refused upgrade');
    expect(socket.readyState).toBe(WebSocket.OPEN);
    expect(await closed).toBe(1001);
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(await postgresPid(folder.path)).toBeNull();
  });

  it('ends at once with exit code 1 at the second signal, and leaves a folder that starts again', async () => {
    service = startService({ DATA_DIR: folder.path, SHUTDOWN_GRACE_SEC: '600' });
    ready = await service.ready;
    const socket = await openSession(ready, key);
    const closed = closeCode(socket);
    service.kill('SIGINT');
    await until(async () => (await readyz(ready)).status === 503);
    service.kill('SIGINT');
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(await closed).toBe(1006);
    service = startService({ DATA_DIR: folder.path, SHUTDOWN_GRACE_SEC: '2' });
    ready = await service.ready;
    (await openSession(ready, key)).close();
  });
});

/** The status an upgrade is answered with; 101 when it is taken, 0 when nobody answers. */
async function upgradeStatus(ready: ReadyLine, key: string): Promise<number> {
  const socket = new WebSocket(`${ready.detect}/carrier/ws`, bearer(key));
  return new Promise((resolve) => {
    socket.once('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.once('unexpected-response', (_request, response) => {
      socket.terminate();
      resolve(response.statusCode ?? 0);
    });
    socket.once('error', () => resolve(0));
  });
}
