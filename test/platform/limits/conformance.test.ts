import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { ManualClock, systemClock } from '../../../src/kernel/clock.ts';
import { createLimiter } from '../../../src/platform/limits/index.ts';
import type { Limiter } from '../../../src/platform/limits/index.ts';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import { until } from '../../_util/until.ts';
import { findRedis, scratchPrefix } from '../queue/redis.ts';

const redisUrl = await findRedis();
if (!redisUrl) console.warn('SKIPPED: limits shared over Redis, since none answers at REDIS_URL');
const scratch = redisUrl ? scratchPrefix(redisUrl) : undefined;

/** Hardly anything comes back while a test runs. */
const SLOW = { perSecond: 0.001, burst: 5 };
const FAST = { perSecond: 1_000, burst: 2 };

const drivers = [
  { name: 'local', make: () => createLimiter({ logger: silentLogger, clock: systemClock }) },
  ...(redisUrl
    ? [
        {
          name: 'redis',
          make: () =>
            createLimiter({ redisUrl, prefix: scratch?.prefix, logger: silentLogger, clock: systemClock }),
        },
      ]
    : []),
];

/** A way to Redis that can be made to carry nothing any more. */
async function freezable(url: string): Promise<{ url: string; freeze(): void; close(): Promise<void> }> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    freeze: () => sockets.forEach((socket) => socket.unpipe().pause()),
    close: async () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
      await once(server, 'close');
    },
  };
}

describe.each(drivers)('limits, $name', ({ name, make }) => {
  let limiter: Limiter;
  const taken = async (key: string, tries: number, limit = SLOW): Promise<number> => {
    const answers = await Promise.all(Array.from({ length: tries }, async () => limiter.take(key, limit)));
    return answers.filter(Boolean).length;
  };

  beforeEach(async () => {
    limiter = make();
    // Until Redis is connected to, answers are at once: those of the process.
    await until(() => name === 'local' || limiter.has('probe', SLOW) instanceof Promise);
  });
  afterEach(async () => limiter.close());
  afterAll(async () => scratch?.clear());

  it('gives a burst and then nothing', async () => {
    expect(await taken('burst', 12)).toBe(5);
    expect(await limiter.take('burst', SLOW)).toBe(false);
  });

  it('keeps each key by itself', async () => {
    expect(await taken('one', 9)).toBe(5);
    expect(await taken('two', 9)).toBe(5);
  });

  it('looks without taking', async () => {
    for (let look = 0; look < 20; look += 1) expect(await limiter.has('look', SLOW)).toBe(true);
    expect(await taken('look', 9)).toBe(5);
    expect(await limiter.has('look', SLOW)).toBe(false);
  });

  it('gives again what came back, never more than a burst', async () => {
    await taken('again', 2, FAST);
    await until(() => limiter.has('again', FAST), 5_000, 'a token that came back');
    await until(async () => (await taken('full', 2, FAST)) === 2, 5_000, 'a full bucket');
    expect(await taken('over', 5, { perSecond: 0.001, burst: 2 })).toBe(2);
  });

  it('takes a bucket of less than one token as empty', async () => {
    expect(await limiter.take('none', { perSecond: 0.001, burst: 0.5 })).toBe(false);
    expect(await limiter.has('none', { perSecond: 0.001, burst: 0.5 })).toBe(false);
  });
});

describe.runIf(redisUrl)('limits over one Redis', () => {
  afterAll(async () => scratch?.clear());

  it('are shared by two processes', async () => {
    const options = { redisUrl: redisUrl ?? '', prefix: scratch?.prefix, logger: silentLogger };
    const pair = [
      createLimiter({ ...options, clock: systemClock }),
      createLimiter({ ...options, clock: systemClock }),
    ];
    for (const limiter of pair) await until(() => limiter.has('probe', SLOW) instanceof Promise);
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => pair[i % 2]?.take('shared', SLOW)),
    );
    expect(answers.filter(Boolean)).toHaveLength(5);
    await Promise.all(pair.map((limiter) => limiter.close()));
  });

  it('are those of the process while Redis is frozen, which costs one request the time-out', async () => {
    const proxy = await freezable(redisUrl ?? '');
    const clock = new ManualClock(0);
    const limiter = createLimiter({
      redisUrl: proxy.url,
      prefix: scratch?.prefix,
      logger: silentLogger,
      clock,
    });
    await until(() => limiter.has('probe', SLOW) instanceof Promise);
    proxy.freeze();
    expect(await limiter.take('frozen', SLOW)).toBe(true);
    const answers = Array.from({ length: 9 }, () => limiter.take('frozen', SLOW));
    expect(answers.filter((answer) => answer === true)).toHaveLength(4);
    clock.advance(1_000);
    expect(limiter.has('frozen', SLOW)).toBeInstanceOf(Promise);
    await limiter.close();
    await proxy.close();
  });

  it('are those of the process while Redis is not there', async () => {
    const limiter = createLimiter({
      redisUrl: 'redis://127.0.0.1:1',
      logger: silentLogger,
      clock: systemClock,
    });
    const answers = Array.from({ length: 9 }, () => limiter.take('alone', SLOW));
    expect(answers.filter((answer) => answer === true)).toHaveLength(5);
    await limiter.close();
  });
});
