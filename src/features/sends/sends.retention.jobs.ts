import { inBatches } from '../../kernel/batches.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import { SendRetentionStore } from './sends.retention.store.ts';
import type { SweptTable } from './sends.retention.store.ts';

const DAY_MS = 86_400_000;
const INTERVAL_MS = 3_600_000;
/** Partitions are made so far ahead: a month in which nobody need look. */
const AHEAD_MS = 35 * DAY_MS;
/** The longest window of the frequency limit: 720 h. */
const ATTEMPTS_DAYS = 30;
/** Supplement 1, Idempotency-Key. */
const IDEMPOTENCY_DAYS = 1;
/** A receipt that no answer claimed by then is about nothing of ours: texts are awaited for 3 days. */
const RECEIPTS_DAYS = 4;
/** Rows deleted by one statement, so that none holds locks for long. */
const BATCH_ROWS = 1_000;
/** Statements of one run and table; the next run goes on. */
const BOUNDS = { rowsMax: BATCH_ROWS, batchesMax: 1_000 };

export interface SendRetention {
  readonly name: string;
  readonly intervalMs: number;
  /** How many rows were deleted, and partitions dropped. */
  run(signal?: AbortSignal): Promise<number>;
}

/** Makes the partitions that sends of the next weeks go to; before anything is accepted, and then by the sweep. */
export const makeSendPartitions = async ({ db, clock }: { db: Db; clock: Clock }): Promise<number> =>
  new SendRetentionStore(db).makePartitions(clock.nowMs(), clock.nowMs() + AHEAD_MS);

/** Makes partitions of sends ahead of time, drops those whose time is over, and sweeps what surrounds them. */
export function createSendRetention(options: { db: Db; clock: Clock; retentionDays: number }): SendRetention {
  const { db, clock, retentionDays } = options;
  const store = new SendRetentionStore(db);
  const days: readonly (readonly [SweptTable, number])[] = [
    ['contact_attempts', ATTEMPTS_DAYS],
    ['send_idempotency', IDEMPOTENCY_DAYS],
    ['send_callbacks', retentionDays],
    ['carrier_receipts', RECEIPTS_DAYS],
  ];
  return {
    name: 'sends',
    intervalMs: INTERVAL_MS,
    run: async (signal) => {
      const nowMs = clock.nowMs();
      await makeSendPartitions(options);
      let gone = await store.dropPartitions(nowMs - retentionDays * DAY_MS);
      for (const [table, age] of days) {
        gone += await inBatches({ ...BOUNDS, signal }, () =>
          store.sweep(table, nowMs - age * DAY_MS, BATCH_ROWS),
        );
      }
      return gone;
    },
  };
}
