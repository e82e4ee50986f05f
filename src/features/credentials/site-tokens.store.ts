import type { Db } from '../../platform/db/index.ts';

/** What became of a token's account and of the API key that minted it. */
export interface MinterState {
  suspended: boolean;
  /** False: the key was deleted, expired or suspended. */
  keyLives: boolean;
}

const STATE_SQL = `
select t.suspended, $2::uuid is null or exists (
    select 1 from api_keys k
    where k.id = $2 and k.team_id = t.id and not k.suspended and (k.expires_at is null or k.expires_at > $3)
  ) as key_lives
from teams t where t.id = $1`;

/** What a site token's verification reads; tokens themselves are not stored. */
export class SiteTokensStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async findMinter(of: { teamId: string; keyId: string | null; nowMs: number }): Promise<MinterState | null> {
    const { rows } = await this.#db.query<{ suspended: boolean; key_lives: boolean }>(STATE_SQL, [
      of.teamId,
      of.keyId,
      new Date(of.nowMs),
    ]);
    const row = rows[0];
    return row ? { suspended: row.suspended, keyLives: row.key_lives } : null;
  }
}
