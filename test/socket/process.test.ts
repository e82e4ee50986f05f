import { execFileSync, fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService, LedgerService } from '../../src/features/accounts/index.ts';
import { FirstKeysIssuer } from '../../src/features/credentials/index.ts';
import { SessionsService } from '../../src/features/detection/index.ts';
import type { Caller } from '../../src/kernel/caller.ts';
import { systemClock as clock } from '../../src/kernel/clock.ts';
import { systemIds as ids } from '../../src/kernel/ids.ts';
import { descriptorFault, descriptorLimit } from '../../src/main/gateway/descriptors.ts';
import type { GatewayCommand, GatewayMessage } from '../../src/main/gateway/ipc.ts';
import { Cipher } from '../../src/platform/db/index.ts';
import { callerOf, testDb, until } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { silence } from './audio.ts';
import { Client, refusedUpgrade } from './client.ts';
import { DRIVERS } from './world.ts';

const ENTRY = new URL('../../src/main/gateway/entry.ts', import.meta.url).pathname;
const MASTER_KEY = randomBytes(32);

/** A gateway in a process of its own, heard over IPC as the main process hears it. */
class Child {
  readonly process: ChildProcess;
  readonly messages: GatewayMessage[] = [];
  readonly exit: Promise<number | null>;

  constructor(env: Record<string, string>) {
    this.process = fork(ENTRY, [], {
      execArgv: ['--import', 'tsx'],
      env: { PATH: process.env['PATH'], LOG_LEVEL: 'fatal', TONEGATE_PROCESS_ID: randomUUID(), ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.process.on('message', (message: GatewayMessage) => this.messages.push(message));
    this.exit = once(this.process, 'exit').then(([code]) => code as number | null);
  }

  send(command: GatewayCommand): void {
    this.process.send(command);
  }

  async hear<T extends GatewayMessage['type']>(type: T): Promise<Extract<GatewayMessage, { type: T }>> {
    return until(
      () =>
        this.messages.find(
          (message): message is Extract<GatewayMessage, { type: T }> => message.type === type,
        ),
      30_000,
      `the message ${type}`,
    );
  }
}

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write('Skipped: TLS of the gateway, as openssl is not installed.\n');
    return false;
  }
}

describe('the gateway process', () => {
  let database: TestDb;
  let detectionKey: string;
  let caller: Caller;
  const children: Child[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'tonegate-gateway-'));

  beforeAll(async () => {
    database = await testDb();
    const { db } = database;
    const cipher = new Cipher(MASTER_KEY, []);
    const ledger = new LedgerService({ db, clock });
    const issuer = new FirstKeysIssuer({ db, cipher, clock, ids });
    const accounts = new AccountsService({ db, cipher, clock, ids, issuer, ledger });
    const created = await accounts.create({ name: 'Test', fundsMicros: 1_000_000n });
    detectionKey = created.detectionKey;
    caller = callerOf(created);
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.process.kill('SIGKILL');
      await child.exit;
    }
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await database.drop();
  });

  const start = (env: Record<string, string> = {}): Child => {
    const child = new Child({
      DATABASE_URL: database.url,
      MASTER_KEY: MASTER_KEY.toString('base64'),
      DETECT_PORT: '0',
      MAX_SESSIONS: '20',
      ALLOW_PRIVATE_TARGETS: 'true',
      ...env,
    });
    children.push(child);
    return child;
  };

  const open = (port: number, scheme = 'ws'): Promise<Client> =>
    Client.open(`${scheme}://127.0.0.1:${port}/carrier/ws?api_key=${detectionKey}`, {
      rejectUnauthorized: false,
    });

  const welcome = (client: Client, payload: Record<string, unknown> = {}): void =>
    client.send({ type: 'welcome', payload: { audio_encoding: 'mulaw', ...payload } });

  describe.each(DRIVERS)('by %s', (driver) => {
    it('says ready, wakes the lane of a webhook, and tells its numbers', async () => {
      const child = start({ SOCKET_DRIVER: driver });
      const ready = await child.hear('ready');
      expect(ready.driver).toBe(driver);
      const client = await open(ready.port);
      welcome(client, { webhook: { url: 'http://127.0.0.1:9/hook' } });
      await client.waitFor('ready');
      client.binary(silence(1_000));
      await client.settled();
      expect((await child.hear('wake')).lane).toContain(caller.teamId);
      child.send({ type: 'metrics', id: 7 });
      const { id, metrics } = await child.hear('metrics');
      expect(id).toBe(7);
      const valueOf = (name: string): unknown =>
        (metrics as unknown as Array<{ name: string; values: Array<{ value: number }> }>).find(
          (one) => one.name === name,
        )?.values[0]?.value;
      expect(valueOf('tonegate_detection_sessions')).toBe(1);
      expect(valueOf('tonegate_detection_audio_frames_total')).toBe(1);
    });

    it('lets live sessions finish at a drain, refuses new ones, and exits 0', async () => {
      const child = start({ SOCKET_DRIVER: driver });
      const { port } = await child.hear('ready');
      const live = await open(port);
      welcome(live, { keep_alive: true });
      await live.waitFor('ready');
      const idle = await open(port);
      child.send({ type: 'drain', graceMs: 30_000 });
      expect((await idle.closed).code).toBe(1001);
      const refused = await refusedUpgrade(`ws://127.0.0.1:${port}/carrier/ws?api_key=${detectionKey}`);
      expect(refused.status).toBe(503);
      live.binary(silence(5_000));
      await live.waitFor('detection');
      live.send({ command: 'stop' });
      expect((await live.closed).code).toBe(1001);
      expect(live.names().slice(-2)).toEqual(['close', 'stopped']);
      expect(await child.exit).toBe(0);
      const session = live.events('ready')[0]?.payload.session_id ?? '';
      expect(await new SessionsService({ db: database.db }).get(caller, session)).toMatchObject({
        state: 'ended',
      });
    });

    it.each([
      ['the grace is over', (child: Child) => child.send({ type: 'drain', graceMs: 100 })],
      ['the main process is gone', (child: Child) => child.process.disconnect()],
    ])('closes live sockets with 1001 when %s', async (_name, end) => {
      const child = start({ SOCKET_DRIVER: driver });
      const { port } = await child.hear('ready');
      const client = await open(port);
      welcome(client);
      await client.waitFor('ready');
      client.binary(silence(1_000));
      await client.settled();
      end(child);
      expect((await client.closed).code).toBe(1001);
      expect((await client.waitFor('close')).payload['reason']).toBe('shutdown');
      expect(await child.exit).toBe(0);
    });

    it.runIf(hasOpenssl())('serves TLS and takes new files without dropping a socket', async () => {
      const certificate = (name: string): void => {
        const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`];
        execFileSync(
          'openssl',
          [...args, '-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)],
          {
            stdio: 'ignore',
          },
        );
      };
      const use = (name: string): void => {
        copyFileSync(join(folder, `${name}.key`), join(folder, 'key.pem'));
        copyFileSync(join(folder, `${name}.crt`), join(folder, 'cert.pem'));
      };
      certificate('old.example');
      certificate('new.example');
      use('old.example');
      const child = start({
        SOCKET_DRIVER: driver,
        TLS_CERT_FILE: join(folder, 'cert.pem'),
        TLS_KEY_FILE: join(folder, 'key.pem'),
      });
      const { port } = await child.hear('ready');
      const nameSeen = async (): Promise<string> => {
        const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
        await once(socket, 'secureConnect');
        const { CN } = socket.getPeerCertificate().subject;
        socket.destroy();
        return String(CN);
      };
      expect(await nameSeen()).toBe('old.example');
      const client = await open(port, 'wss');
      welcome(client);
      await client.waitFor('ready');
      use('new.example');
      child.send({ type: 'reload-tls' });
      // A connection that is just being made may be reset by the change of listeners; it is made again.
      await until(async () => (await nameSeen().catch(() => '')) === 'new.example');
      client.binary(silence(5_000));
      await client.waitFor('detection');
      client.send({ command: 'stop' });
      expect((await client.closed).code).toBe(1000);
    });
  });

  it('counts the sessions of an account over all processes', async () => {
    const first = start();
    const second = start();
    const ports = [(await first.hear('ready')).port, (await second.hear('ready')).port] as const;
    await database.db.query('update teams set concurrent_sessions = 1 where id = $1', [caller.teamId]);
    const live = await open(ports[0]);
    welcome(live);
    await live.waitFor('ready');
    await until(async () => {
      const other = await open(ports[1]);
      welcome(other);
      const name = await until(() => other.names()[0]);
      other.terminate();
      await other.closed;
      return name === 'error';
    });
    await database.db.query('update teams set concurrent_sessions = 500 where id = $1', [caller.teamId]);
  });

  it('says what MAX_SESSIONS needs of the descriptor limit', () => {
    expect(descriptorFault(4_000, 4_096)).toMatch(/MAX_SESSIONS needs 4128 open files and the limit is 4096/);
    expect(descriptorFault(4_000, 65_536)).toBeNull();
    expect(descriptorFault(4_000, null)).toBeNull();
    expect(descriptorLimit()).not.toBe(0);
  });

  it.each([
    ['SOCKET_DRIVER', { SOCKET_DRIVER: 'turbo' }],
    ['MASTER_KEY', { MASTER_KEY: '' }],
  ])('names %s and exits 78 when it is wrong', async (name, env) => {
    const child = start(env);
    const failed = await child.hear('failed');
    expect(failed.exitCode).toBe(78);
    expect(failed.message).toContain(name);
    expect(await child.exit).toBe(78);
  });
});
