import type { Db } from '../../platform/db/index.ts';

export interface HookRow {
  readonly teamId: string;
  readonly createdBy: string;
  readonly secretCiphertext: string | null;
}

/** The secret that a connection signs its mail webhooks with. */
export class HookSecretsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** By the id in the webhook's address; the secret says who may use it. */
  async find(carrierId: string): Promise<HookRow | null> {
    const { rows } = await this.#db.query<{
      team_id: string;
      created_by: string;
      webhook_secret_ciphertext: string | null;
    }>('select team_id, created_by, webhook_secret_ciphertext from carrier_connections where id = $1', [
      carrierId,
    ]);
    const row = rows[0];
    return row
      ? { teamId: row.team_id, createdBy: row.created_by, secretCiphertext: row.webhook_secret_ciphertext }
      : null;
  }

  /** False: no such connection. */
  async set(of: {
    teamId: string;
    carrierId: string;
    secretCiphertext: string;
    nowMs: number;
  }): Promise<boolean> {
    const { rowCount } = await this.#db.query(
      `update carrier_connections set webhook_secret_ciphertext = $3, updated_at = $4 where team_id = $1 and id = $2`,
      [of.teamId, of.carrierId, of.secretCiphertext, new Date(of.nowMs)],
    );
    return rowCount === 1;
  }
}
