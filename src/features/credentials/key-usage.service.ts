import type { Db } from '../../platform/db/index.ts';
import { ApiKeysStore } from './api-keys.store.ts';
import type { KeyUse } from './api-keys.store.ts';

/** Keys counted between two writes; the requests of further ones go uncounted (they are told by `flush`). */
const KEYS_MAX = 100_000;
/** Rows of one statement. */
const BATCH_ROWS = 1_000;
/** `last_used_at` and `request_count` are this old at most. */
export const KEY_USAGE_FLUSH_INTERVAL_MS = 3_000;

/** Counts the authenticated requests of API keys in memory: a request costs no write, a key's row one every few seconds. */
export class KeyUsage {
  readonly #store: ApiKeysStore;
  #uses = new Map<string, KeyUse>();
  #flushing: Promise<void> = Promise.resolve();

  constructor(db: Db) {
    this.#store = new ApiKeysStore(db);
  }

  count(keyId: string, atMs: number): void {
    const use = this.#uses.get(keyId);
    if (use) {
      use.requests += 1;
      use.lastUsedAtMs = Math.max(use.lastUsedAtMs, atMs);
    } else if (this.#uses.size < KEYS_MAX) {
      this.#uses.set(keyId, { keyId, requests: 1, lastUsedAtMs: atMs });
    }
  }

  /** Writes what was counted, after the writing under way. What cannot be written is kept for the next time, and thrown. */
  async flush(): Promise<void> {
    const turn = this.#flushing.then(() => this.#write());
    // The next one starts whatever became of this one, which its own caller hears of.
    this.#flushing = turn.catch(() => undefined);
    return turn;
  }

  async #write(): Promise<void> {
    while (this.#uses.size > 0) {
      const batch = [...this.#uses.values()].slice(0, BATCH_ROWS);
      for (const { keyId } of batch) this.#uses.delete(keyId);
      try {
        await this.#store.addUse(batch);
      } catch (error) {
        for (const use of batch) this.#giveBack(use);
        throw error;
      }
    }
  }

  #giveBack(use: KeyUse): void {
    const newer = this.#uses.get(use.keyId);
    if (newer) newer.requests += use.requests;
    else this.#uses.set(use.keyId, use);
  }
}
