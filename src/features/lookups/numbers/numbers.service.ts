import { requireScope } from '../../../kernel/caller.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Ids } from '../../../kernel/ids.ts';
import { checkText, invalidField } from '../../../kernel/text.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Outbox } from '../../../platform/outbox/index.ts';
import { notFound, requireId } from '../input.rules.ts';
import { LinesStore } from '../lines/lines.store.ts';
import { ImportJobsStore } from './import-jobs.store.ts';
import type { ImportJob } from './import-jobs.store.ts';
import { importMessage } from './import.jobs.ts';
import { BATCH_NUMBERS, IMPORT_MAX, judgeBatch, NUMBER_TEXT_MAX, NUMBERS_MAX } from './numbers.rules.ts';
import type { NumberBatch, ReadNumber, Rejection } from './numbers.rules.ts';
import { NumbersStore } from './numbers.store.ts';
import type { PhoneNumber } from './numbers.store.ts';

export interface NumbersOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  outbox: Outbox;
  readNumber: ReadNumber;
  /** Country of an account's numbers in national form (ISO 3166). */
  regionOf: (teamId: string) => Promise<string>;
}

/**
 * Phone numbers of an account. Imports: `pending` → `running` → `complete`, a batch and its progress in one transaction,
 * so that one that is cut off goes on where it stood.
 */
export class NumbersService {
  readonly #options: NumbersOptions;
  readonly #store: NumbersStore;
  readonly #jobs: ImportJobsStore;
  readonly #lines: LinesStore;

  constructor(options: NumbersOptions) {
    this.#options = options;
    this.#store = new NumbersStore(options.db);
    this.#jobs = new ImportJobsStore(options.db);
    this.#lines = new LinesStore(options.db);
  }

  /** All, oldest first. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<PhoneNumber[]> {
    requireScope(caller, 'numbers:read');
    return this.#store.list(caller.teamId);
  }

  /** Begins an import; answers its job. @throws Problem insufficient-scope, validation-error, not-found (line) */
  async import(
    caller: Caller,
    input: { phoneNumbers: readonly string[]; lineId?: string | null | undefined },
  ): Promise<{ jobId: string }> {
    requireScope(caller, 'numbers:write');
    const { db, clock, ids, outbox, regionOf } = this.#options;
    const { teamId, userId: createdBy } = caller;
    const numbers = [...input.phoneNumbers];
    if (numbers.length === 0 || numbers.length > IMPORT_MAX) {
      throw invalidField('phone_numbers', `phone_numbers must be 1 to ${IMPORT_MAX} numbers.`);
    }
    for (const number of numbers) checkText('phone_numbers', number, NUMBER_TEXT_MAX);
    const lineId = input.lineId ? requireId(input.lineId, 'phone line') : null;
    if (lineId && !(await this.#lines.find(db, teamId, lineId))) throw notFound('phone line');
    const region = await regionOf(teamId);
    const jobId = ids.uuid();
    await outbox.tx(async (tx) => {
      const job = { jobId, teamId, createdBy, nowMs: clock.nowMs(), input: { numbers, lineId, region } };
      await this.#jobs.insert(tx, job);
      await outbox.add(tx, [importMessage({ jobId, teamId })]);
    });
    return { jobId };
  }

  /** @throws Problem insufficient-scope, not-found */
  async importStatus(caller: Caller, jobId: string): Promise<ImportJob> {
    requireScope(caller, 'numbers:read');
    const job = await this.#jobs.find(caller.teamId, requireId(jobId, 'import'));
    if (!job) throw notFound('import');
    return job;
  }

  /** The next batch of a job, within the transaction that ends its message; true: nothing is left to do. */
  async importBatch(tx: Tx, jobId: string): Promise<boolean> {
    const { clock, readNumber } = this.#options;
    const next = await this.#jobs.lockNext(tx, jobId, BATCH_NUMBERS);
    if (!next) return true;
    const { teamId, lineId, region } = next;
    const nowMs = clock.nowMs();
    const batch = judgeBatch(next.numbers, next.from, (text) => readNumber(text, region));
    const { taken, rejected } = await this.#room(tx, teamId, batch);
    await this.#store.upsert(tx, { teamId, lineId, nowMs }, taken);
    const done = { done: next.numbers.length, imported: taken.length };
    return this.#jobs.advance(
      tx,
      { teamId, jobId, nowMs },
      { ...done, rejected: [...batch.rejected, ...rejected].sort((a, b) => a.index - b.index) },
    );
  }

  /** Numbers that the account has already need no room. */
  async #room(
    tx: Tx,
    teamId: string,
    batch: NumberBatch,
  ): Promise<{ taken: { id: string; phoneNumber: string }[]; rejected: Rejection[] }> {
    const { ids } = this.#options;
    let room = NUMBERS_MAX - (await this.#store.lockAndCount(tx, teamId));
    const existing = await this.#store.existing(tx, teamId, batch.numbers);
    const taken: { id: string; phoneNumber: string }[] = [];
    const rejected: Rejection[] = [];
    batch.numbers.forEach((phoneNumber, n) => {
      const isNew = !existing.has(phoneNumber);
      if (isNew && room <= 0)
        rejected.push({ index: batch.indexes[n]!, phoneNumber, reason: 'limit_reached' });
      else taken.push({ id: ids.uuid(), phoneNumber });
      if (isNew) room -= 1;
    });
    return { taken, rejected };
  }
}
