import type { Db } from '../../platform/db/index.ts';
import type { Handler } from '../../platform/outbox/index.ts';
import { ApiKeysStore } from './api-keys.store.ts';

/** Said at the time a key expires; its key is the key's id. */
export const API_KEY_EXPIRED = 'api_key.expired';

const CONCURRENCY_MAX = 4;
const LEASE_MS = 30_000;

/** Deletes keys that expired (contract, API key: usually within two minutes; here within seconds). */
export function createKeyExpiryHandler(db: Db): Handler {
  const store = new ApiKeysStore(db);
  return {
    topic: API_KEY_EXPIRED,
    concurrencyMax: CONCURRENCY_MAX,
    leaseMs: LEASE_MS,
    handle: async (row, finish) => {
      const { team_id: teamId } = row.payload as { team_id: string };
      await finish(async (tx) => {
        await store.delete(tx, { teamId, keyId: row.key });
      });
    },
  };
}
