import { inBatches } from '../../kernel/batches.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import { SessionsStore } from './sessions.store.ts';

const DAY_MS = 86_400_000;

/** Sessions deleted by one statement: short locks, and room for the calls between them. */
const BATCH_SESSIONS = 500;

/** Batches of one run; what is left goes with the next. */
const BATCHES_MAX = 1_000;

/** Deletes sessions that started more than `days` ago (supplement 10, Live view: 7). `run` answers how many went. */
export function createDetectionRetention(options: { db: Db; clock: Clock; days: number }): {
  readonly name: string;
  readonly intervalMs: number;
  run(signal?: AbortSignal): Promise<number>;
} {
  const store = new SessionsStore(options.db);
  return {
    name: 'detection-sessions',
    intervalMs: 3_600_000,
    run: async (signal) => {
      const startedBefore = new Date(options.clock.nowMs() - options.days * DAY_MS);
      const bounds = { rowsMax: BATCH_SESSIONS, batchesMax: BATCHES_MAX, signal };
      return inBatches(bounds, () => store.deleteOlderThan(startedBefore, BATCH_SESSIONS));
    },
  };
}
