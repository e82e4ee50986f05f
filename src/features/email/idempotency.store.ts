import type { Db, Tx } from '../../platform/db/index.ts';
import type { EmailAnswer } from './email.rules.ts';

/** A key that was used: `answer` where there is no email whose state tells it. */
export interface UsedKey {
  readonly requestHash: Buffer;
  readonly emailId: string | null;
  readonly answer: EmailAnswer | null;
}

export interface NewKey extends UsedKey {
  readonly teamId: string;
  readonly key: string;
  readonly nowMs: number;
}

/** The statements on email_idempotency. */
export class IdempotencyStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async find(teamId: string, key: string): Promise<UsedKey | null> {
    const { rows } = await this.#db.query<{
      request_hash: Buffer;
      email_id: string | null;
      answer: EmailAnswer | null;
    }>('select request_hash, email_id, answer from email_idempotency where team_id = $1 and key = $2', [
      teamId,
      key,
    ]);
    const row = rows[0];
    return row ? { requestHash: row.request_hash, emailId: row.email_id, answer: row.answer } : null;
  }

  /** False: somebody else has it; one who is about to is waited for. */
  async claim(tx: Tx, key: NewKey): Promise<boolean> {
    const { rowCount } = await tx.query(
      `insert into email_idempotency (team_id, key, request_hash, email_id, answer, created_at)
       values ($1, $2, $3, $4, $5::jsonb, $6) on conflict (team_id, key) do nothing`,
      [
        ...[key.teamId, key.key, key.requestHash, key.emailId],
        ...[key.answer === null ? null : JSON.stringify(key.answer), new Date(key.nowMs)],
      ],
    );
    return rowCount === 1;
  }

  /** Of any account: how many. */
  async removeOld(beforeMs: number, max: number): Promise<number> {
    const { rowCount } = await this.#db.query(
      `delete from email_idempotency where (team_id, key) in
         (select team_id, key from email_idempotency where created_at < $1 limit $2)`,
      [new Date(beforeMs), max],
    );
    return rowCount ?? 0;
  }
}
