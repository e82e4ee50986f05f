import { inBatches } from '../../kernel/batches.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import { EmailsStore } from './emails.store.ts';
import { FactsStore } from './facts.store.ts';
import { IdempotencyStore } from './idempotency.store.ts';
import type { EmailResults } from './results.service.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const ABANDONED_INTERVAL_MS = 30_000;
/** Well beyond the time that a mail server is waited for. */
const ABANDONED_AFTER_MS = 120_000;
/** Supplement 1, Idempotency-Key. */
const KEYS_KEPT_MS = DAY_MS;
/** The longest window that a limit may have (dialing rules: 720 hours). */
const ATTEMPTS_KEPT_MS = 720 * HOUR_MS;
/** Rows of one statement, and statements of one run; the next run goes on. */
const BATCH_ROWS = 500;
const BOUNDS = { rowsMax: BATCH_ROWS, batchesMax: 100 };

export interface EmailJobsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly results: Pick<EmailResults, 'abandon'>;
  readonly retentionDays: number;
}

export interface EmailSweep {
  readonly name: string;
  readonly intervalMs: number;
  /** How many rows it changed or removed. */
  run(signal?: AbortSignal): Promise<number>;
}

export const createEmailSweeps = (options: EmailJobsOptions): EmailSweep[] => [
  {
    name: 'abandoned-emails',
    intervalMs: ABANDONED_INTERVAL_MS,
    run: (signal) => abandoned(options, signal),
  },
  { name: 'old-emails', intervalMs: HOUR_MS, run: (signal) => old(options, signal) },
];

/** Emails whose process died while a mail server had them: nobody knows, and nobody asks again. */
async function abandoned({ db, clock, results }: EmailJobsOptions, signal?: AbortSignal): Promise<number> {
  const emails = new EmailsStore(db);
  return inBatches({ ...BOUNDS, signal }, async () => {
    const found = await emails.listAbandoned(clock.nowMs() - ABANDONED_AFTER_MS, BATCH_ROWS);
    for (const email of found) await results.abandon(email);
    return found.length;
  });
}

async function old({ db, clock, retentionDays }: EmailJobsOptions, signal?: AbortSignal): Promise<number> {
  const nowMs = clock.nowMs();
  const [emails, keys, facts] = [new EmailsStore(db), new IdempotencyStore(db), new FactsStore()];
  const removed = [
    await inBatches({ ...BOUNDS, signal }, () => keys.removeOld(nowMs - KEYS_KEPT_MS, BATCH_ROWS)),
    await inBatches({ ...BOUNDS, signal }, () =>
      db.tx((tx) => facts.removeOldAttempts(tx, nowMs - ATTEMPTS_KEPT_MS, BATCH_ROWS)),
    ),
    await inBatches({ ...BOUNDS, signal }, () =>
      emails.removeOld(nowMs - retentionDays * DAY_MS, BATCH_ROWS),
    ),
  ];
  return removed.reduce((total, count) => total + count, 0);
}
