import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { Problem } from '../../kernel/problem.ts';
import type { Limit, Limiter } from '../limits/index.ts';
import type { RequestCredentials } from './route.type.ts';

/** Wrong secrets of one key, and wrong credentials of one address, before 429; how fast tries come back. */
const PER_KEY: Limit = { burst: 10, perSecond: 1 / 6 };
const PER_ADDRESS: Limit = { burst: 20, perSecond: 1 };
/** Digests remembered of credentials that were right, and of ones that were wrong. */
const REMEMBERED_MAX = 10_000;

export interface Attempt {
  readonly credentials: RequestCredentials;
  /** The peer's address, behind TRUST_PROXY the one it forwards. */
  readonly ip: string;
  /** Method and path. */
  readonly route: string;
}

/**
 * Bounds the guessing of credentials, by key and by address. What counts is a guess: a credential that was not tried
 * before, or the same one again on the same route; a client that walks over the routes with one wrong secret learns
 * nothing by it. Who was let in before is asked no more here, so that guessing at a key does not lock its owner out.
 */
export class GuessGuard {
  readonly #limiter: Limiter;
  readonly #right = new RecentSet(REMEMBERED_MAX);
  readonly #wrong = new RecentSet(REMEMBERED_MAX);

  constructor(options: { limiter: Limiter }) {
    this.#limiter = options.limiter;
  }

  /** Judges by `judge` what may be tried at all. @throws Problem too-many-requests, and what `judge` throws */
  async watch<T>(attempt: Attempt, judge: () => Promise<T>): Promise<T> {
    const digest = digestOf(attempt.credentials);
    if (digest === null) return judge();
    if (!this.#right.has(digest)) await this.#check(attempt);
    try {
      const answer = await judge();
      this.#right.add(digest);
      return answer;
    } catch (error) {
      if (error instanceof Problem && error.code === 'unauthorized') await this.#count(attempt, digest);
      throw error;
    }
  }

  async #check({ credentials, ip }: Attempt): Promise<void> {
    for (const [bucket, limit] of bucketsOf(credentials, ip)) {
      if (!(await this.#limiter.has(bucket, limit)))
        throw new Problem('too-many-requests', 'Too many wrong credentials.');
    }
  }

  async #count({ credentials, ip, route }: Attempt, digest: string): Promise<void> {
    this.#right.delete(digest);
    const isGuess = !this.#wrong.has(digest) || this.#wrong.has(digest + route);
    this.#wrong.add(digest);
    this.#wrong.add(digest + route);
    if (!isGuess) return;
    for (const [bucket, limit] of bucketsOf(credentials, ip)) await this.#limiter.take(bucket, limit);
  }
}

function bucketsOf({ key }: RequestCredentials, ip: string): (readonly [string, Limit])[] {
  const byAddress = [`guess:address:${networkOf(ip)}`, PER_ADDRESS] as const;
  return key === undefined ? [byAddress] : [[`guess:key:${key}`, PER_KEY], byAddress];
}

function digestOf({ key, secret, bearer }: RequestCredentials): string | null {
  if (key === undefined && secret === undefined && bearer === undefined) return null;
  const text = [key ?? '', secret ?? '', bearer ?? ''].join('\0');
  return createHash('sha256').update(text).digest('base64url');
}

/** Who holds one IPv6 address holds its /64: these count as one. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const [head = '', tail = ''] = ip.split('::');
  const front = head.split(':');
  const missing = ip.includes('::') ? 8 - front.length - tail.split(':').length : 0;
  return [...front, ...Array<string>(Math.max(0, missing)).fill('0'), ...tail.split(':')]
    .slice(0, 4)
    .join(':');
}

/** A set that forgets what was added longest ago. */
class RecentSet {
  readonly #max: number;
  readonly #items = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  has(item: string): boolean {
    return this.#items.has(item);
  }

  add(item: string): void {
    this.#items.delete(item);
    this.#items.add(item);
    if (this.#items.size <= this.#max) return;
    const [oldest] = this.#items;
    if (oldest !== undefined) this.#items.delete(oldest);
  }

  delete(item: string): void {
    this.#items.delete(item);
  }
}
