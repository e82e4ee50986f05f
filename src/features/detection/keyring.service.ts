import { createHash } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { DetectionIdentity } from '../credentials/index.ts';

/** A key's standing is read again after this time (facts of interface.md: revocation reaches new sessions within 60 s). */
export const KEY_FRESH_MS = 15_000;

/** How long a known key still opens sessions while the database does not answer. */
export const KEY_STALE_MAX_MS = 60_000;

/** How long an unknown key is remembered as unknown. Short: it may be made in the next moment. */
const UNKNOWN_FRESH_MS = 2_000;

const KEYS_MAX = 10_000;
const UNKNOWN_KEYS_MAX = 2_000;

/** Look-ups in the database at once, and those that wait behind them: a flood of wrong keys stays in this room. */
const LOOKUPS_MAX = 8;
const WAITING_LOOKUPS_MAX = 512;

/** A look-up that takes longer counts as a database that does not answer. */
const LOOKUP_TIMEOUT_MS = 2_000;

/** The standing of a key cannot be told now. */
export class KeyringUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`the key cannot be judged now: ${reason}`, { cause });
    this.name = 'KeyringUnavailable';
  }
}

/** The part of credentials that the keyring asks. Null: no such key. */
export interface KeyLookup {
  byKey(plainKey: string): Promise<DetectionIdentity | null>;
}

interface Entry {
  readonly identity: DetectionIdentity;
  /** Monotonic; -Infinity when something was said about it since. */
  readAtMs: number;
  /** Monotonic time of the last good answer, for serving it stale. */
  readonly knownAtMs: number;
}

/**
 * Detection keys as this process knows them: bounded, each read again after KEY_FRESH_MS, by one look-up however many
 * ask, and at once after a notification for its account. While the database is away the last answer holds for
 * KEY_STALE_MAX_MS. Keys are held by their hash.
 */
export class Keyring {
  readonly #lookup: KeyLookup;
  readonly #clock: Clock;
  readonly #known = new Map<string, Entry>();
  readonly #unknown = new Map<string, number>();
  readonly #inFlight = new Map<string, Promise<DetectionIdentity | null>>();
  readonly #waiting: Array<() => void> = [];
  #running = 0;
  /** Counts notifications: an answer that was asked for before one is not fresh after it. */
  #generation = 0;

  constructor(lookup: KeyLookup, clock: Clock) {
    this.#lookup = lookup;
    this.#clock = clock;
  }

  /** The identity if it is known and fresh, without waiting; undefined: ask `get`. */
  peek(plainKey: string): DetectionIdentity | undefined {
    const entry = this.#known.get(hashOf(plainKey));
    return entry && this.#isFresh(entry) ? entry.identity : undefined;
  }

  /** The key's identity, null when there is no such key. @throws KeyringUnavailable */
  async get(plainKey: string): Promise<DetectionIdentity | null> {
    const hash = hashOf(plainKey);
    const entry = this.#known.get(hash);
    if (entry && this.#isFresh(entry)) return entry.identity;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - (this.#unknown.get(hash) ?? -Infinity) < UNKNOWN_FRESH_MS) return null;
    try {
      return await this.#read(hash, plainKey);
    } catch (error) {
      const stale = this.#known.get(hash);
      if (stale && this.#clock.monotonicMs() - stale.knownAtMs < KEY_STALE_MAX_MS) return stale.identity;
      throw error instanceof KeyringUnavailable
        ? error
        : new KeyringUnavailable('the database is away', error);
    }
  }

  /** News about an account's keys, funds or flags; '' about any of them. What is known of it is read again. */
  invalidate(teamId: string): void {
    this.#generation++;
    this.#unknown.clear();
    for (const entry of this.#known.values())
      if (teamId === '' || entry.identity.teamId === teamId) entry.readAtMs = -Infinity;
  }

  #isFresh(entry: Entry): boolean {
    return this.#clock.monotonicMs() - entry.readAtMs < KEY_FRESH_MS;
  }

  #read(hash: string, plainKey: string): Promise<DetectionIdentity | null> {
    const running = this.#inFlight.get(hash);
    if (running) return running;
    const read = this.#readOnce(hash, plainKey).finally(() => this.#inFlight.delete(hash));
    this.#inFlight.set(hash, read);
    return read;
  }

  async #readOnce(hash: string, plainKey: string): Promise<DetectionIdentity | null> {
    await this.#enter();
    const generation = this.#generation;
    let identity: DetectionIdentity | null;
    try {
      identity = await withTimeout(this.#lookup.byKey(plainKey));
    } finally {
      this.#leave();
    }
    const nowMs = this.#clock.monotonicMs();
    this.#known.delete(hash);
    if (identity) {
      const readAtMs = generation === this.#generation ? nowMs : -Infinity;
      setBounded(this.#known, hash, { identity, readAtMs, knownAtMs: nowMs }, KEYS_MAX);
    } else if (generation === this.#generation) setBounded(this.#unknown, hash, nowMs, UNKNOWN_KEYS_MAX);
    return identity;
  }

  async #enter(): Promise<void> {
    if (this.#running < LOOKUPS_MAX) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= WAITING_LOOKUPS_MAX) throw new KeyringUnavailable('too many look-ups wait');
    // The one that leaves hands its place over.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
  }
}

const hashOf = (plainKey: string): string => createHash('sha256').update(plainKey).digest('base64');

/** Sets the newest entry; the oldest leaves when there is no room. */
function setBounded<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  if (map.size >= max) {
    const oldest = map.keys().next();
    if (!oldest.done) map.delete(oldest.value);
  }
  map.set(key, value);
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new KeyringUnavailable('the database does not answer')),
      LOOKUP_TIMEOUT_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
