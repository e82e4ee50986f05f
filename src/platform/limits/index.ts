import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../logger/index.ts';
import type { Limiter } from './limiter.ts';
import { LocalLimiter } from './local.limiter.ts';
import { RedisLimiter } from './redis.limiter.ts';

export type { Limit, Limiter } from './limiter.ts';
export { LocalLimiter } from './local.limiter.ts';

/** The driver that the settings ask for: shared with `redisUrl`, else this process's own. */
export function createLimiter(options: {
  redisUrl?: string | undefined;
  logger: Logger;
  clock: Clock;
  /** Prefix of all keys in Redis; several installations on one Redis need their own. */
  prefix?: string | undefined;
}): Limiter {
  const { redisUrl, logger, clock, prefix } = options;
  return redisUrl ? new RedisLimiter({ redisUrl, logger, clock, prefix }) : new LocalLimiter({ clock });
}
