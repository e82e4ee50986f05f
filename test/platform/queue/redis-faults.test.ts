import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import { createQueue } from '../../../src/platform/queue/index.ts';
import type { Queue } from '../../../src/platform/queue/index.ts';
import { until } from '../../_util/until.ts';

const hasServer = await new Promise<boolean>((resolve) => {
  const probe = spawn('redis-server', ['--version'], { stdio: 'ignore' });
  probe.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0));
});
if (!hasServer) console.warn('SKIPPED: faults of Redis, since there is no redis-server to stop and freeze');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A Redis of the test's own, which it may stop and freeze. */
class OwnRedis {
  readonly #port: number;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.#port = port;
    this.#folder = folder;
  }

  static async make(): Promise<OwnRedis> {
    return new OwnRedis(await freePort(), await mkdtemp(join(tmpdir(), 'tonegate-redis-')));
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const options = [
      '--port',
      String(this.#port),
      '--dir',
      this.#folder,
      '--save',
      '',
      '--bind',
      '127.0.0.1',
    ];
    this.#process = spawn('redis-server', options, { stdio: 'ignore' });
    await until(() => this.answers());
  }

  async answers(): Promise<boolean> {
    const redis = new Redis(this.url, { lazyConnect: true, retryStrategy: () => null, commandTimeout: 500 });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return (await redis.ping()) === 'PONG';
    } catch {
      return false;
    } finally {
      redis.disconnect();
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

describe.skipIf(!hasServer)('the BullMQ queue when Redis fails', () => {
  let redis: OwnRedis;
  const queues: Queue[] = [];
  const open = (): Queue => {
    const queue = createQueue({ redisUrl: redis.url, logger: silentLogger, clock: systemClock });
    queues.push(queue);
    return queue;
  };
  const listen = (queue: Queue): Set<string> => {
    const heard = new Set<string>();
    queue.onWake((lane) => heard.add(lane));
    return heard;
  };

  beforeEach(async () => {
    redis = await OwnRedis.make();
  });
  afterEach(async () => {
    redis.signal('SIGCONT');
    await Promise.all(queues.splice(0).map((queue) => queue.close()));
    await redis.remove();
  });

  it('wakes its own process without any Redis, and says that it is not healthy', async () => {
    const queue = open();
    const heard = listen(queue);
    queue.wake('a');
    await until(() => heard.has('a'));
    expect((await queue.health()).ok).toBe(false);
  });

  it('wakes other processes again once a Redis that was not there appears', async () => {
    const [sender, listener] = [open(), open()];
    const heard = listen(listener);
    sender.wake('lost');
    await redis.start();
    await until(async () => (await sender.health()).ok, 30_000);
    await until(() => {
      sender.wake('found');
      return heard.has('found');
    }, 30_000);
  });

  it('answers within its command time-out while Redis is frozen, then recovers', async () => {
    await redis.start();
    const [sender, listener] = [open(), open()];
    const [own, others] = [listen(sender), listen(listener)];
    await until(async () => (await sender.health()).ok);
    redis.signal('SIGSTOP');
    const health = await sender.health();
    expect(health).toMatchObject({ ok: false });
    for (let i = 0; i < 2_000; i += 1) sender.wake(`lane-${i}`);
    await until(() => own.size === 2_000);
    redis.signal('SIGCONT');
    await until(() => {
      sender.wake('after');
      return others.has('after');
    }, 30_000);
  });

  it('loses all keys and carries on', async () => {
    await redis.start();
    const [sender, listener] = [open(), open()];
    const heard = listen(listener);
    await until(() => {
      sender.wake('before');
      return heard.has('before');
    });
    const admin = new Redis(redis.url);
    await admin.flushall();
    admin.disconnect();
    await until(() => {
      sender.wake('after');
      return heard.has('after');
    }, 30_000);
  });

  it('ends in bounded time while Redis is frozen', async () => {
    await redis.start();
    const queue = open();
    listen(queue);
    await until(async () => (await queue.health()).ok);
    redis.signal('SIGSTOP');
    queue.wake('a');
    await queue.close();
    expect((await queue.health()).ok).toBe(false);
  });

  it('holds a bounded number of keys while nobody listens', async () => {
    await redis.start();
    const sender = open();
    await until(async () => (await sender.health()).ok);
    const admin = new Redis(redis.url);
    for (let round = 0; round < 20; round += 1) {
      for (let lane = 0; lane < 5; lane += 1) sender.wake(`lane-${lane}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const waiting = await until(async () => {
      const n = await admin.llen('tonegate:wake:wait');
      return n >= 5 && n;
    });
    admin.disconnect();
    expect(waiting).toBe(5);
  });
});
