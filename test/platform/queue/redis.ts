import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';

/** The Redis of the tests, or null when none answers. */
export async function findRedis(): Promise<string | null> {
  const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 1_000 });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    await redis.ping();
    return url;
  } catch {
    return null;
  } finally {
    redis.disconnect();
  }
}

/** A key prefix of its own, and the end of all its keys. */
export function scratchPrefix(url: string): {
  prefix: string;
  clear(): Promise<void>;
  keys(): Promise<string[]>;
} {
  const prefix = `tonegate-test-${randomBytes(6).toString('hex')}`;
  const withRedis = async <T>(work: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = new Redis(url);
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  };
  return {
    prefix,
    keys: () => withRedis((redis) => redis.keys(`${prefix}:*`)),
    clear: () =>
      withRedis(async (redis) => {
        const keys = await redis.keys(`${prefix}:*`);
        if (keys.length > 0) await redis.del(...keys);
      }),
  };
}
