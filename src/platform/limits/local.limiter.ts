import type { Clock } from '../../kernel/clock.ts';
import type { Limit, Limiter } from './limiter.ts';

/** Buckets held at once; beyond it the one that was longest unused is forgotten, which fills it. */
const BUCKETS_MAX = 50_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Buckets of this process alone. */
export class LocalLimiter implements Limiter {
  readonly name = 'local';
  readonly #clock: Clock;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: { clock: Clock }) {
    this.#clock = options.clock;
  }

  take(key: string, limit: Limit): boolean {
    const bucket = this.#fill(key, limit);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  has(key: string, limit: Limit): boolean {
    return this.#buckets.has(key) ? this.#fill(key, limit).tokens >= 1 : limit.burst >= 1;
  }

  async close(): Promise<void> {
    this.#buckets.clear();
  }

  #fill(key: string, { perSecond, burst }: Limit): Bucket {
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) * perSecond) / 1_000);
    bucket.atMs = nowMs;
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > BUCKETS_MAX) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    return bucket;
  }
}
