import type { Clock } from '../../../kernel/clock.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { Handler, OutboxMessage } from '../../../platform/outbox/index.ts';

export const TOPIC = 'numbers.import';
const CONCURRENCY_MAX = 2;
/** A batch takes well below a second. */
const LEASE_MS = 60_000;

export const importMessage = (job: { jobId: string; teamId: string }): OutboxMessage => ({
  topic: TOPIC,
  key: job.jobId,
  lane: job.teamId,
  payload: {},
});

/** Each start does one batch; the message stays until the last. */
export const createImportHandler = (options: {
  numbers: { importBatch(tx: Tx, jobId: string): Promise<boolean> };
  clock: Clock;
}): Handler => ({
  topic: TOPIC,
  concurrencyMax: CONCURRENCY_MAX,
  laneConcurrencyMax: 1,
  leaseMs: LEASE_MS,
  async handle(row, finish) {
    await finish(async (tx) => {
      const isComplete = await options.numbers.importBatch(tx, row.key);
      return isComplete ? {} : { retryAtMs: options.clock.nowMs() };
    });
  },
});
