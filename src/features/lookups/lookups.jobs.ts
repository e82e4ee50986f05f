import { inBatches } from '../../kernel/batches.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Handler } from '../../platform/outbox/index.ts';
import type { FileStorage, Storage } from '../../platform/storage/index.ts';
import { createFileRemovalHandler } from './files.jobs.ts';
import { ABANDONED_AFTER_MS } from './media/media.rules.ts';
import { MediaStore } from './media/media.store.ts';
import { ImportJobsStore } from './numbers/import-jobs.store.ts';
import { createImportHandler } from './numbers/import.jobs.ts';
import type { NumbersService } from './numbers/numbers.service.ts';
import { SpeechStore } from './speech/speech.store.ts';

const SPEECH_INTERVAL_MS = 60_000;
const LEFTOVERS_INTERVAL_MS = 600_000;
const DAY_MS = 86_400_000;
/** Rows of one statement, and statements of one run; the next run goes on. */
const BATCH_ROWS = 200;
const BOUNDS = { rowsMax: BATCH_ROWS, batchesMax: 50 };
/** Nothing is on its way in for longer. */
const UNFINISHED_AFTER_MS = 3_600_000;

export interface LookupsJobsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly storage: Storage;
  /** Folders with files that killed processes left unfinished. */
  readonly folders: readonly Pick<FileStorage, 'sweep'>[];
  readonly numbers: NumbersService;
  readonly retentionDays: number;
}

export interface Sweep {
  readonly name: string;
  readonly intervalMs: number;
  /** How many things were removed. */
  run(signal?: AbortSignal): Promise<number>;
}

export const createLookupsHandlers = (options: LookupsJobsOptions): Handler[] => [
  createFileRemovalHandler(options),
  createImportHandler(options),
];

export const createLookupsSweeps = (options: LookupsJobsOptions): Sweep[] => [
  { name: 'expired-speech', intervalMs: SPEECH_INTERVAL_MS, run: (signal) => expiredSpeech(options, signal) },
  {
    name: 'upload-leftovers',
    intervalMs: LEFTOVERS_INTERVAL_MS,
    run: (signal) => leftovers(options, signal),
  },
];

/** Files go before their rows: what a crash interrupts is done again. */
async function expiredSpeech(
  { db, clock, storage }: LookupsJobsOptions,
  signal?: AbortSignal,
): Promise<number> {
  const store = new SpeechStore(db);
  return inBatches({ ...BOUNDS, signal }, async () => {
    const nowMs = clock.nowMs();
    const ids = await store.listExpired(nowMs, BATCH_ROWS);
    for (const id of ids) await storage.delete(id);
    await store.removeExpired(ids, nowMs);
    return ids.length;
  });
}

/** Uploads that nobody completed, imports that ended long ago, and files that a killed process was writing. */
async function leftovers(options: LookupsJobsOptions, signal?: AbortSignal): Promise<number> {
  const { db, clock, storage, folders, retentionDays } = options;
  const nowMs = clock.nowMs();
  const media = new MediaStore(db);
  const jobs = new ImportJobsStore(db);
  const uploads = await inBatches({ ...BOUNDS, signal }, () =>
    db.tx(async (tx) => {
      const ids = await media.removeAbandoned(tx, nowMs - ABANDONED_AFTER_MS, BATCH_ROWS);
      for (const id of ids) await storage.delete(id);
      return ids.length;
    }),
  );
  const oldJobs = await inBatches({ ...BOUNDS, signal }, () =>
    jobs.removeOld(nowMs - retentionDays * DAY_MS, BATCH_ROWS),
  );
  let files = 0;
  for (const folder of folders) files += await folder.sweep(nowMs - UNFINISHED_AFTER_MS);
  return uploads + oldJobs + files;
}
