import type { Cipher, Db } from '../../platform/db/index.ts';
import { AccountAccessReader } from '../accounts/index.ts';
import type { AccountAccess } from '../accounts/index.ts';
import { DetectionKeysStore } from './detection-keys.store.ts';
import type { FoundKey } from './detection-keys.store.ts';
import { DETECTION_KEY_PREFIX, hashOf, isWellFormed } from './key-format.rules.ts';

/** What binds a stored Detection key to its row. */
export const detectionKeyContext = (keyId: string): string => `detection-key:${keyId}`;

/** A Detection key and what its account allows, as of one moment. */
export type DetectionIdentity = FoundKey & AccountAccess;

/** Finds keys for the gateway, which caches them, and gives a key back for signing its webhooks. */
export class DetectionKeyLookup {
  readonly #store: DetectionKeysStore;
  readonly #access: AccountAccessReader;
  readonly #cipher: Cipher;

  constructor(db: Db, cipher: Cipher) {
    this.#store = new DetectionKeysStore(db);
    this.#access = new AccountAccessReader(db, cipher);
    this.#cipher = cipher;
  }

  /** Null: malformed or unknown. Revoked and expired keys are found and say so. */
  async byKey(plainKey: string): Promise<DetectionIdentity | null> {
    if (!isWellFormed(DETECTION_KEY_PREFIX, plainKey)) return null;
    const key = await this.#store.findByHash(hashOf(plainKey));
    if (!key) return null;
    const access = await this.#access.find(key.teamId);
    return access ? { ...key, ...access } : null;
  }

  /** The key itself, also when it was revoked: sessions it opened are still signed with it. Null: no such key. */
  async signingKey(keyId: string): Promise<string | null> {
    const stored = await this.#store.findCiphertext(keyId);
    return stored === null ? null : this.#cipher.decrypt(stored, detectionKeyContext(keyId));
  }
}
