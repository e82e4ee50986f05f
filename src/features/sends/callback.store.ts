import type { Db, Tx } from '../../platform/db/index.ts';
import type { SendKey } from './dispatch.type.ts';

export interface PendingCallback extends SendKey {
  readonly url: string;
  readonly body: string;
}

export interface CallbackEnd extends SendKey {
  readonly state: 'delivered' | 'failed';
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly nowMs: number;
}

/** The statements on send_callbacks. */
export class CallbackStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Null: there is none, or it was made. */
  async findPending(key: SendKey): Promise<PendingCallback | null> {
    const { rows } = await this.#db.prepared<{ url: string; body: string }>(
      'send_callbacks_find',
      `select url, body from send_callbacks where send_id = $1 and team_id = $2 and state = 'pending'`,
      [key.sendId, key.teamId],
    );
    return rows[0] ? { ...key, ...rows[0] } : null;
  }

  /** False: it had ended. */
  async finish(tx: Tx, end: CallbackEnd): Promise<boolean> {
    const { rowCount } = await tx.query(
      `update send_callbacks set state = $3, status_code = $4, error = $5, finished_at = $6
       where send_id = $1 and team_id = $2 and state = 'pending'`,
      [end.sendId, end.teamId, end.state, end.statusCode, end.error, new Date(end.nowMs)],
    );
    return rowCount === 1;
  }
}
