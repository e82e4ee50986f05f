import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findRedis } from '../../platform/queue/redis.ts';
import { freePort } from '../../../src/platform/db/index.ts';
import { until } from '../../_util/index.ts';

/** A database number that nothing else in the tests uses; the service's keys all begin with its prefix. */
const DATABASE = 11;
const SERVICE_KEYS = 'tonegate:*';

/** A Redis for a service under test: one that is there, or a process of the test's own. */
export interface TestRedis {
  readonly host: string;
  readonly port: number;
  /** Address for a service that reaches it by way of `port`. */
  urlBy(port: number): string;
  /** Loses all keys of the service at once. */
  loseKeys(): Promise<number>;
  close(): Promise<void>;
}

/** Null when there is neither a Redis at REDIS_URL or 127.0.0.1:6379 nor a redis-server to start. */
export async function redisForTests(): Promise<TestRedis | null> {
  const url = await findRedis();
  if (url) return redisAt(new URL(url), async () => undefined);
  if (!(await hasServer())) return null;
  const folder = await mkdtemp(join(tmpdir(), 'tonegate-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  const address = new URL(`redis://127.0.0.1:${port}`);
  await until(() => answers(port), 20_000, 'an answer of redis-server');
  return redisAt(address, () => stop(server, folder));
}

function redisAt(address: URL, end: () => Promise<void>): TestRedis {
  const urlBy = (port: number): string => {
    const url = new URL(address);
    url.hostname = '127.0.0.1';
    url.port = String(port);
    url.pathname = `/${DATABASE}`;
    return url.href;
  };
  const own = new URL(address);
  own.pathname = `/${DATABASE}`;
  const loseKeys = async (): Promise<number> => {
    const redis = new Redis(own.href);
    try {
      const keys = await redis.keys(SERVICE_KEYS);
      return keys.length === 0 ? 0 : await redis.del(...keys);
    } finally {
      redis.disconnect();
    }
  };
  const close = async (): Promise<void> => {
    await loseKeys();
    await end();
  };
  return { host: address.hostname, port: Number(address.port || 6379), urlBy, loseKeys, close };
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const hasServer = (): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = spawn('redis-server', ['--version'], { stdio: 'ignore' });
    probe.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0));
  });

async function stop(server: ChildProcess, folder: string): Promise<void> {
  const gone = once(server, 'exit');
  server.kill('SIGKILL');
  await gone;
  await rm(folder, { recursive: true, force: true });
}

/** A line to a server that can be cut and frozen. Closed at first: connections are refused. */
export class Line {
  readonly port: number;
  readonly #to: { host: string; port: number };
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #server: Server | undefined;
  #frozen = false;

  private constructor(port: number, to: { host: string; port: number }) {
    this.port = port;
    this.#to = to;
  }

  static async to(target: { host: string; port: number }): Promise<Line> {
    return new Line(await freePort(), target);
  }

  /** Connections that pass now. */
  get open(): number {
    return this.#pairs.size;
  }

  async connect(): Promise<void> {
    this.#server = createServer((socket) => this.#pass(socket));
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Cuts all connections and refuses new ones. */
  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    server.close();
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    await once(server, 'close');
  }

  /** From now on bytes go in and none come out. */
  freeze(): void {
    this.#frozen = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  thaw(): void {
    this.#frozen = false;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  #pass(near: Socket): void {
    const far = connect(this.#to.port, this.#to.host);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    near.pipe(far);
    far.pipe(near);
    if (this.#frozen) for (const socket of pair) socket.pause();
  }
}
