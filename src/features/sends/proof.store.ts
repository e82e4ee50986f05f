import type { Db } from '../../platform/db/index.ts';

/** A voicemail as its proof shows it. */
export interface Proof {
  readonly accountName: string;
  readonly phoneNumber: string;
  readonly callerId: string | null;
  readonly outcomeCode: number;
  readonly attemptedAtMs: number;
  readonly finishedAtMs: number;
  readonly expiresAtMs: number;
}

interface ProofRow {
  name: string;
  phone_number: string;
  caller_id: string | null;
  outcome_code: number;
  attempted_at: Date;
  finished_at: Date;
  receipt_expires_at: Date;
}

/** The statement that opens a proof: its token is all that is known, so no account is in it. */
export class ProofStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Null: no such token, or its time is over. */
  async find(tokenHash: Buffer, nowMs: number): Promise<Proof | null> {
    const { rows } = await this.#db.query<ProofRow>(
      `select t.name, s.phone_number, s.caller_id, s.outcome_code, coalesce(s.attempted_at, s.finished_at) as attempted_at,
         s.finished_at, s.receipt_expires_at
       from sends s join teams t on t.id = s.team_id
       where s.receipt_token_hash = $1 and s.receipt_expires_at > $2`,
      [tokenHash, new Date(nowMs)],
    );
    const row = rows[0];
    if (!row) return null;
    return {
      ...{ accountName: row.name, phoneNumber: row.phone_number, callerId: row.caller_id },
      ...{ outcomeCode: row.outcome_code, attemptedAtMs: row.attempted_at.getTime() },
      ...{ finishedAtMs: row.finished_at.getTime(), expiresAtMs: row.receipt_expires_at.getTime() },
    };
  }
}
