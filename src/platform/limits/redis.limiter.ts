import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../logger/index.ts';
import type { Limit, Limiter } from './limiter.ts';
import { LocalLimiter } from './local.limiter.ts';

/** A Redis command that took longer counts as failed (house rule: Redis may freeze at any time). */
const COMMAND_TIMEOUT_MS = 50;
/** After a fault Redis is left alone for so long: a frozen one must not cost each request its time-out. */
const AWAY_MS = 1_000;
const RECONNECT_PAUSE_MAX_MS = 5_000;
const FAULT_LOG_EVERY_MS = 10_000;
const PREFIX = 'tonegate';

/*
 * One bucket is a hash {n: tokens, at: ms of Redis' own clock}, since those of the processes differ. It expires when it
 * would be full again. KEYS[1]; ARGV: tokens a ms, burst, cost (0: only look).
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local rate, burst, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local state = redis.call('HMGET', KEYS[1], 'n', 'at')
local tokens = tonumber(state[1]) or burst
tokens = math.min(burst, tokens + math.max(0, now - (tonumber(state[2]) or now)) * rate)
if tokens < 1 then return 0 end
if cost > 0 then
  tokens = tokens - cost
  redis.call('HSET', KEYS[1], 'n', string.format('%.6f', tokens), 'at', string.format('%.3f', now))
  redis.call('PEXPIRE', KEYS[1], math.ceil((burst - tokens) / rate) + 1000)
end
return 1`;

type Scripted = Redis & {
  takeToken(key: string, ratePerMs: string, burst: string, cost: string): Promise<number>;
};

const reconnectPauseMs = (attempt: number): number =>
  50 + Math.random() * Math.min(RECONNECT_PAUSE_MAX_MS, 100 * 2 ** Math.min(attempt, 10));

export interface RedisLimiterOptions {
  readonly redisUrl: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Prefix of all keys in Redis. */
  readonly prefix?: string | undefined;
}

/** Buckets shared by all processes on one Redis. While it does not answer, each process keeps its own. */
export class RedisLimiter implements Limiter {
  readonly name = 'redis';
  readonly #options: RedisLimiterOptions;
  readonly #prefix: string;
  readonly #redis: Scripted;
  readonly #local: LocalLimiter;
  #awayUntilMs = -Infinity;
  #faultLoggedAtMs = -Infinity;
  #isClosing = false;

  constructor(options: RedisLimiterOptions) {
    this.#options = options;
    this.#prefix = `${options.prefix ?? PREFIX}:limit:`;
    this.#local = new LocalLimiter(options);
    const redis = new Redis(options.redisUrl, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      // Connected to when first asked: commands that limit nothing need no Redis.
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: reconnectPauseMs,
    });
    redis.on('error', (error) => this.#fault(error));
    redis.defineCommand('takeToken', { numberOfKeys: 1, lua: TAKE });
    this.#redis = redis as Scripted;
  }

  take(key: string, limit: Limit): boolean | Promise<boolean> {
    return this.#canAsk() ? this.#ask(key, limit, 'take') : this.#local.take(key, limit);
  }

  has(key: string, limit: Limit): boolean | Promise<boolean> {
    return this.#canAsk() ? this.#ask(key, limit, 'has') : this.#local.has(key, limit);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#redis.disconnect();
    await this.#local.close();
  }

  #canAsk(): boolean {
    if (this.#redis.status === 'wait') this.#redis.connect().catch((error: unknown) => this.#fault(error));
    return this.#redis.status === 'ready' && this.#options.clock.monotonicMs() >= this.#awayUntilMs;
  }

  async #ask(key: string, limit: Limit, what: 'take' | 'has'): Promise<boolean> {
    // A digest bounds the length of keys, some of which hold what a caller sent.
    const name = this.#prefix + createHash('sha256').update(key).digest('base64url');
    const cost = what === 'take' ? '1' : '0';
    try {
      return (
        (await this.#redis.takeToken(name, String(limit.perSecond / 1_000), String(limit.burst), cost)) === 1
      );
    } catch (error) {
      this.#awayUntilMs = this.#options.clock.monotonicMs() + AWAY_MS;
      this.#fault(error);
      return this.#local[what](key, limit);
    }
  }

  #fault(error: unknown): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#isClosing || nowMs - this.#faultLoggedAtMs < FAULT_LOG_EVERY_MS) return;
    this.#faultLoggedAtMs = nowMs;
    this.#options.logger.warn(
      { err: error },
      'Redis does not answer: limits are those of each process until it does',
    );
  }
}
