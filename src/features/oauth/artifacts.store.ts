import type { Db } from '../../platform/db/index.ts';

/** Something the OAuth server keeps between requests (a code, a session, a refresh token). */
export interface Artifact {
  payload: Record<string, unknown>;
  /** Null: not used up yet. */
  consumedAt: Date | null;
}

export interface NewArtifact {
  model: string;
  id: string;
  payload: object;
  grantId: string | null;
  uid: string | null;
  userCode: string | null;
  expiresAt: Date | null;
}

/** The statements on oauth_artifacts. They belong to the server, not to one account: ids are secrets nobody can guess. */
export class ArtifactsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async upsert(artifact: NewArtifact): Promise<void> {
    await this.#db.query(
      `insert into oauth_artifacts (model, id, payload, grant_id, uid, user_code, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (model, id) do update
          set payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
              user_code = excluded.user_code, expires_at = excluded.expires_at`,
      [
        ...[artifact.model, artifact.id, JSON.stringify(artifact.payload)],
        ...[artifact.grantId, artifact.uid, artifact.userCode, artifact.expiresAt],
      ],
    );
  }

  async find(model: string, by: 'id' | 'uid' | 'user_code', value: string): Promise<Artifact | null> {
    const { rows } = await this.#db.query<{ payload: Record<string, unknown>; consumed_at: Date | null }>(
      `select payload, consumed_at from oauth_artifacts where model = $1 and ${by} = $2`,
      [model, value],
    );
    const row = rows[0];
    return row ? { payload: row.payload, consumedAt: row.consumed_at } : null;
  }

  /** Uses it up; false: another request was first, or it is gone. */
  async consume(model: string, id: string, at: Date): Promise<boolean> {
    const { rowCount } = await this.#db.query(
      'update oauth_artifacts set consumed_at = $3 where model = $1 and id = $2 and consumed_at is null',
      [model, id, at],
    );
    return rowCount === 1;
  }

  async remove(model: string, id: string): Promise<void> {
    await this.#db.query('delete from oauth_artifacts where model = $1 and id = $2', [model, id]);
  }

  /** Everything that came of one grant. */
  async removeGrant(grantId: string): Promise<void> {
    await this.#db.query('delete from oauth_artifacts where grant_id = $1', [grantId]);
  }

  /** At most `limit` that expired before; how many went. */
  async removeExpired(before: Date, limit: number): Promise<number> {
    const { rowCount } = await this.#db.query(
      `delete from oauth_artifacts
        where (model, id) in (select model, id from oauth_artifacts where expires_at < $1 limit $2)`,
      [before, limit],
    );
    return rowCount ?? 0;
  }
}
