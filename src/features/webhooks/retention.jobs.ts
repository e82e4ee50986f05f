import { inBatches } from '../../kernel/batches.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import { WebhooksStore } from './webhooks.store.ts';

/** Deliveries deleted by one statement, so that none holds locks for long. */
const BATCH_ROWS = 1_000;
/** Statements of one run; the next run goes on. */
const BATCHES_MAX = 100;
const DAY_MS = 86_400_000;

/** Deletes final deliveries, with their attempts, when they are older than `retentionDays`. */
export function createDeliveryRetention(options: { db: Db; clock: Clock; retentionDays: number }): {
  /** How many were deleted. */
  run(): Promise<number>;
} {
  const store = new WebhooksStore(options.db);
  return {
    async run() {
      const beforeMs = options.clock.nowMs() - options.retentionDays * DAY_MS;
      const bounds = { rowsMax: BATCH_ROWS, batchesMax: BATCHES_MAX };
      return inBatches(bounds, () => store.deleteOld(beforeMs, BATCH_ROWS));
    },
  };
}
