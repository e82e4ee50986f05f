import type { Scope } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Cipher, Db, Tx } from '../../platform/db/index.ts';
import type { IssuedFor, KeyIssuer } from '../accounts/index.ts';
import { ApiKeysStore } from './api-keys.store.ts';
import { insertKey } from './detection-keys.service.ts';
import {
  API_KEY_BYTES,
  API_KEY_PREFIX,
  API_SECRET_PREFIX,
  formatSecret,
  hashOf,
  SECRET_BYTES,
} from './key-format.rules.ts';

/** An account's first keys, made in the transaction that makes the account. */
export class FirstKeysIssuer implements KeyIssuer {
  readonly #context: { db: Db; cipher: Cipher; clock: Clock; ids: Ids };
  readonly #apiKeys: ApiKeysStore;

  constructor(context: { db: Db; cipher: Cipher; clock: Clock; ids: Ids }) {
    this.#context = context;
    this.#apiKeys = new ApiKeysStore(context.db);
  }

  async issueApiKey(
    tx: Tx,
    of: IssuedFor & { scopes: readonly Scope[] },
  ): Promise<{ key: string; secret: string }> {
    const { ids, clock } = this.#context;
    const key = API_KEY_PREFIX + ids.secret(API_KEY_BYTES);
    const secret = formatSecret(API_SECRET_PREFIX, ids.secret(SECRET_BYTES));
    await this.#apiKeys.insert(tx, {
      ...of,
      ...{ keyId: ids.uuid(), key, secretHash: hashOf(secret) },
      ...{ createdAtMs: clock.nowMs(), expiresAtMs: null },
    });
    return { key, secret };
  }

  async issueDetectionKey(tx: Tx, of: IssuedFor): Promise<string> {
    const createdAtMs = this.#context.clock.nowMs();
    return (await insertKey(this.#context, tx, { ...of, createdAtMs, expiresAtMs: null })).apiKey;
  }
}
