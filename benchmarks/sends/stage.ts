/** What is measured: the api role on its embedded database, the peer on the same database with a Redis of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type pg from 'pg';
import { freePort } from '../../src/platform/db/index.ts';
import { Child } from '../gateway/processes.ts';
import { openStage, type Account, type Server } from '../account/stage.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));
const REDIS_WAIT_MS = 10_000;
/** No limit of the service's own takes part in what is measured. */
const SENDS_PER_SECOND = 1_000_000;

export interface SendsStage {
  readonly service: Server;
  readonly peer: Server;
  readonly sql: pg.Client;
  readonly account: Account;
  close(): Promise<void>;
}

export async function openSendsStage(): Promise<SendsStage> {
  const stage = await openStage();
  const ends: (() => Promise<void>)[] = [() => stage.close()];
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const account = await stage.account();
    await stage.sql.query('update teams set send_rate = $2 where id = $1', [
      account.teamId,
      SENDS_PER_SECOND,
    ]);
    const redis = await startRedis();
    ends.push(() => redis.stop());
    const { host, port, user, password, database } = stage.sql;
    const login = `${user ?? ''}:${encodeURIComponent(String(password))}`;
    const peer = await startPeer({
      databaseUrl: `postgres://${login}@${host}:${port}/${database ?? ''}`,
      redisUrl: redis.url,
    });
    ends.push(() => peer.stop());
    return { service: stage.service, peer, sql: stage.sql, account, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startPeer(at: { databaseUrl: string; redisUrl: string }): Promise<Server> {
  const { PATH, HOME, LANG } = process.env;
  const child = new Child({
    args: [join(PROJECT_DIR, 'benchmarks/peers/sends-prisma/server.js')],
    env: {
      ...{ PATH, HOME, LANG, NODE_ENV: 'production' },
      ...{ PORT: '0', DATABASE_URL: at.databaseUrl, REDIS_URL: at.redisUrl },
    },
    ...{ core: null, cwd: PROJECT_DIR },
  });
  const { port } = await child.line<{ port: number }>();
  const url = `http://127.0.0.1:${port}`;
  return { name: 'sends-prisma', url, pid: child.pid, stop: () => child.stop() };
}

/** A redis-server in memory, on a port of its own. */
async function startRedis(): Promise<{ url: string; stop: () => Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'tonegate-bench-redis-'));
  const port = await freePort();
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    dir,
    '--save',
    '',
    '--appendonly',
    'no',
  ];
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  const missing = once(server, 'error').then(([error]) => {
    throw new Error('the peer needs redis-server on this machine', { cause: error });
  });
  await Promise.race([listens(port), missing]);
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function listens(port: number): Promise<void> {
  const endMs = performance.now() + REDIS_WAIT_MS;
  while (performance.now() < endMs) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('redis-server does not answer');
}
