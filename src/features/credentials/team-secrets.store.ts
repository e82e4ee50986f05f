import type { Db } from '../../platform/db/index.ts';
import type { FoundApiKey } from './api-keys.store.ts';

const FIND_SQL = `
select k.id, k.team_id, k.secret_hash, k.scopes, k.created_by, k.expires_at, k.suspended as key_suspended,
  t.suspended as team_suspended, t.operator
from api_keys k join teams t on t.id = k.team_id
where k.team_id = $1 and k.secret_hash = $2`;

/** Keys as version 1 names them: by their account and their secret. */
export class TeamSecretsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** A hash of 256 random bits tells nothing by the time its comparison takes. */
  async find(teamId: string, secretHash: Buffer): Promise<FoundApiKey | null> {
    const { rows } = await this.#db.prepared<FoundApiKey>('api-key-by-secret', FIND_SQL, [
      teamId,
      secretHash,
    ]);
    return rows[0] ?? null;
  }
}
