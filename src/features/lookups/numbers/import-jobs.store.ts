import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Rejection } from './numbers.rules.ts';

export type JobState = 'pending' | 'running' | 'complete' | 'failed';

export interface ImportJob {
  jobId: string;
  state: JobState;
  total: number;
  done: number;
  imported: number;
  rejected: Rejection[];
  createdAtMs: number;
  finishedAtMs: number | null;
}

export interface ImportInput {
  numbers: string[];
  lineId: string | null;
  /** Country of numbers in national form. */
  region: string;
}

/** What one batch adds to its job. */
export interface BatchResult {
  done: number;
  imported: number;
  rejected: readonly Rejection[];
}

interface JobRow {
  id: string;
  state: JobState;
  total: number;
  done: number;
  result: { imported?: number; rejected?: Rejection[] };
  created_at: Date;
  finished_at: Date | null;
}

const KIND = 'numbers.import';

/** The statements on long_jobs of imports of numbers. */
export class ImportJobsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async insert(
    tx: Tx,
    job: { jobId: string; teamId: string; createdBy: string; nowMs: number; input: ImportInput },
  ): Promise<void> {
    await tx.query(
      `insert into long_jobs (id, team_id, kind, input, total, created_by, created_at)
       values ($1, $2, $3, $4::jsonb, $5, $6, $7)`,
      [
        ...[job.jobId, job.teamId, KIND, JSON.stringify(job.input), job.input.numbers.length],
        ...[job.createdBy, new Date(job.nowMs)],
      ],
    );
  }

  async find(teamId: string, jobId: string): Promise<ImportJob | null> {
    const { rows } = await this.#db.query<JobRow>(
      `select id, state, total, done, result, created_at, finished_at from long_jobs
       where team_id = $1 and id = $2 and kind = $3`,
      [teamId, jobId, KIND],
    );
    const row = rows[0];
    if (!row) return null;
    return {
      ...{ jobId: row.id, state: row.state, total: row.total, done: row.done },
      ...{ imported: row.result.imported ?? 0, rejected: row.result.rejected ?? [] },
      createdAtMs: row.created_at.getTime(),
      finishedAtMs: row.finished_at?.getTime() ?? null,
    };
  }

  /** A job that is not finished, held until the transaction ends, with up to `max` of the numbers that are yet to do. */
  async lockNext(
    tx: Tx,
    jobId: string,
    max: number,
  ): Promise<{
    teamId: string;
    lineId: string | null;
    region: string;
    from: number;
    numbers: string[];
  } | null> {
    const { rows } = await tx.query<{
      team_id: string;
      line_id: string | null;
      region: string;
      done: number;
      numbers: string[];
    }>(
      `select team_id, input ->> 'lineId' as line_id, input ->> 'region' as region, done,
         array(select jsonb_array_elements_text(input -> 'numbers') offset done limit $2) as numbers
       from long_jobs where id = $1 and state in ('pending', 'running') for update`,
      [jobId, max],
    );
    const row = rows[0];
    if (!row) return null;
    const { team_id: teamId, line_id: lineId, region, done: from, numbers } = row;
    return { teamId, lineId, region, from, numbers };
  }

  /** Moves a held job on; true: it is complete. */
  async advance(
    tx: Tx,
    of: { teamId: string; jobId: string; nowMs: number },
    batch: BatchResult,
  ): Promise<boolean> {
    const { rows } = await tx.query<{ state: JobState }>(
      `update long_jobs set
         done = done + $3,
         state = case when done + $3 >= total then 'complete' else 'running' end,
         finished_at = case when done + $3 >= total then $4::timestamptz end,
         result = jsonb_build_object(
           'imported', coalesce((result ->> 'imported')::integer, 0) + $5,
           'rejected', coalesce(result -> 'rejected', '[]'::jsonb) || $6::jsonb)
       where team_id = $1 and id = $2 returning state`,
      [
        ...[of.teamId, of.jobId, batch.done, new Date(of.nowMs), batch.imported],
        JSON.stringify(batch.rejected),
      ],
    );
    return rows[0]?.state === 'complete';
  }

  /** Deletes up to `max` jobs of all accounts that finished before a time. How many. */
  async removeOld(finishedBeforeMs: number, max: number): Promise<number> {
    const { rowCount } = await this.#db.query(
      `delete from long_jobs where id in (select id from long_jobs where kind = $1 and finished_at < $2 limit $3)`,
      [KIND, new Date(finishedBeforeMs), max],
    );
    return rowCount ?? 0;
  }
}
