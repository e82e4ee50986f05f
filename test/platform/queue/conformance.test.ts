import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import { ALL_LANES, createQueue, IpcQueue } from '../../../src/platform/queue/index.ts';
import type { Queue } from '../../../src/platform/queue/index.ts';
import { until } from '../../_util/until.ts';
import { findRedis, scratchPrefix } from './redis.ts';

/** One installation: queues of one process or of several, joined as the driver joins them. */
interface Installation {
  queue(): Queue;
  close(): Promise<void>;
}

interface Driver {
  name: Queue['name'];
  make(): Promise<Installation | null>;
}

const redisUrl = await findRedis();
if (!redisUrl)
  console.warn('SKIPPED: the BullMQ driver, since no Redis answers at REDIS_URL or 127.0.0.1:6379');

const drivers: Driver[] = [
  {
    name: 'in-process',
    async make() {
      const queue = createQueue({ logger: silentLogger, clock: systemClock });
      return { queue: () => queue, close: () => queue.close() };
    },
  },
  {
    name: 'bullmq',
    async make() {
      if (!redisUrl) return null;
      const scratch = scratchPrefix(redisUrl);
      const made: Queue[] = [];
      return {
        queue: () => {
          const queue = createQueue({
            redisUrl,
            logger: silentLogger,
            clock: systemClock,
            prefix: scratch.prefix,
          });
          made.push(queue);
          return queue;
        },
        close: async () => {
          await Promise.all(made.map((queue) => queue.close()));
          await scratch.clear();
        },
      };
    },
  },
];

describe.each(drivers)('the $name queue', (driver) => {
  const { name } = driver;
  let installation: Installation | null;
  const open = async (): Promise<Queue> => {
    const queue = installation?.queue();
    if (!queue) throw new Error('no installation');
    await until(async () => (await queue.health()).ok);
    return queue;
  };

  beforeEach(async () => {
    installation = await driver.make();
  });
  afterEach(async () => {
    await installation?.close();
  });
  const test = it.skipIf(name === 'bullmq' && !redisUrl);

  test('names its driver and is healthy', async () => {
    const queue = await open();
    expect(queue.name).toBe(name);
    expect(await queue.health()).toEqual({ ok: true });
  });

  test('hands a wake-up to a listener', async () => {
    const heard: string[] = [];
    const queue = await open();
    queue.onWake((lane) => heard.push(lane));
    queue.wake('a');
    await until(() => heard.includes('a'));
  });

  test('carries a wake-up from one member of the installation to another', async () => {
    const [sender, listener] = [await open(), await open()];
    const heard: string[] = [];
    listener.onWake((lane) => heard.push(lane));
    const lane = 'topic|account:https://receiver.example';
    // A wake-up may be lost while the connections come up; that is what the relay's poll is for.
    await until(() => {
      sender.wake(lane);
      return heard.includes(lane);
    });
  });

  test('hands each wake-up to every listener of a process', async () => {
    const queue = await open();
    const heard = [new Set<string>(), new Set<string>()];
    for (const set of heard) queue.onWake((lane) => set.add(lane));
    queue.wake('a');
    queue.wake('b');
    await until(() => heard.every((set) => set.has('a') && set.has('b')));
  });

  test('coalesces the wake-ups of one lane and loses no lane', async () => {
    const queue = await open();
    const heard: string[] = [];
    queue.onWake((lane) => heard.push(lane));
    for (let i = 0; i < 1_000; i += 1) queue.wake(`lane-${i % 10}`);
    await until(() => new Set(heard).size === 10);
    expect(heard.length).toBeLessThan(100);
  });

  test('collapses more lanes than it can hold into one wake-up of all lanes', async () => {
    const queue = await open();
    const heard = new Set<string>();
    queue.onWake((lane) => heard.add(lane));
    for (let i = 0; i < 10_001; i += 1) queue.wake(`lane-${i}`);
    await until(() => heard.has(ALL_LANES));
    expect(heard.size).toBeLessThan(10);
  });

  test('outlives a listener that throws', async () => {
    const queue = await open();
    const heard: string[] = [];
    queue.onWake(() => {
      throw new Error('listener');
    });
    queue.onWake((lane) => heard.push(lane));
    queue.wake('a');
    await until(() => heard.length > 0);
  });

  test('does nothing after its end, and ends twice', async () => {
    const queue = await open();
    const heard: string[] = [];
    queue.onWake((lane) => heard.push(lane));
    await queue.close();
    await queue.close();
    queue.wake('a');
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(heard).toEqual([]);
  });
});

describe('the IPC queue', () => {
  it('sends each lane once and survives a channel that is gone', async () => {
    const sent: string[] = [];
    let isGone = false;
    const queue = new IpcQueue((lane) => {
      if (isGone) throw new Error('channel closed');
      sent.push(lane);
    });
    queue.wake('a');
    queue.wake('a');
    queue.wake('b');
    await until(() => sent.length === 2);
    expect(sent).toEqual(['a', 'b']);

    isGone = true;
    queue.wake('c');
    await until(async () => !(await queue.health()).ok);
    isGone = false;
    queue.wake('d');
    await until(() => sent.includes('d'));
    expect((await queue.health()).ok).toBe(true);
  });
});
