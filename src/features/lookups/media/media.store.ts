import type { Db, Tx } from '../../../platform/db/index.ts';

export interface Media {
  mediaId: string;
  name: string;
  type: string;
  /** `pending` until the upload was completed. */
  state: 'pending' | 'ready';
  contentType: string | null;
  /** Null until bytes came. */
  sizeBytes: number | null;
  durationMs: number | null;
  createdAtMs: number;
  updatedAtMs: number;
}

interface MediaRow {
  id: string;
  name: string;
  type: string;
  state: 'pending' | 'ready';
  content_type: string | null;
  size_bytes: bigint | null;
  duration_ms: number | null;
  created_at: Date;
  updated_at: Date;
}

/** The audio that came: where it is is the media's id. */
export interface MediaBytes {
  mediaId: string;
  contentType: string;
  sizeBytes: number;
  durationMs: number;
}

const COLUMNS = 'id, name, type, state, content_type, size_bytes, duration_ms, created_at, updated_at';

/** The statements on media: SQL, since bytes and their row change under one lock. */
export class MediaStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first; `search`: part of the name in either case. */
  async list(
    teamId: string,
    of: { search?: string | undefined; take: number; skip: number },
  ): Promise<Media[]> {
    const { rows } = await this.#db.query<MediaRow>(
      `select ${COLUMNS} from media
       where team_id = $1 and ($2::text is null or strpos(lower(name), lower($2)) > 0)
       order by created_at desc, id limit $3 offset $4`,
      [teamId, of.search ?? null, of.take, of.skip],
    );
    return rows.map(mediaOf);
  }

  async find(teamId: string, mediaId: string): Promise<Media | null> {
    const { rows } = await this.#db.query<MediaRow>(
      `select ${COLUMNS} from media where team_id = $1 and id = $2`,
      [teamId, mediaId],
    );
    return rows[0] ? mediaOf(rows[0]) : null;
  }

  /** Holds the account's row, so that two creations cannot both take the last place; how many media there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>('select count(*) as n from media where team_id = $1', [
      teamId,
    ]);
    return Number(rows[0]?.n ?? 0);
  }

  async insert(
    tx: Tx,
    media: { mediaId: string; name: string; type: string; teamId: string; createdBy: string; nowMs: number },
    upload: { tokenHash: Buffer | null; expiresAtMs: number },
  ): Promise<Media> {
    const { rows } = await tx.query<MediaRow>(
      `insert into media
         (id, team_id, name, type, upload_token_hash, upload_expires_at, created_by, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $8) returning ${COLUMNS}`,
      [
        ...[media.mediaId, media.teamId, media.name, media.type, upload.tokenHash],
        ...[new Date(upload.expiresAtMs), media.createdBy, new Date(media.nowMs)],
      ],
    );
    return mediaOf(rows[0]!);
  }

  /** The media an upload token is for. The token says whose it is: there is no caller to ask. */
  async findByToken(tokenHash: Buffer, nowMs: number): Promise<{ teamId: string; mediaId: string } | null> {
    return this.#byToken(this.#db, { tokenHash, nowMs, lock: '' });
  }

  /** The same, held until the transaction ends: of two uploads with one token the second then finds nothing. */
  async lockByToken(
    tx: Tx,
    of: { tokenHash: Buffer; nowMs: number },
  ): Promise<{ teamId: string; mediaId: string } | null> {
    return this.#byToken(tx, { ...of, lock: 'for update' });
  }

  /** Bytes are there; the token is used up. False: no such media. */
  async setBytes(
    tx: Tx,
    of: { teamId: string; nowMs: number; state: 'pending' | 'ready' },
    bytes: MediaBytes,
  ): Promise<Media | null> {
    const { rows } = await tx.query<MediaRow>(
      `update media set storage_key = id::text, content_type = $3, size_bytes = $4, duration_ms = $5, state = $6,
         upload_token_hash = null, updated_at = $7
       where team_id = $1 and id = $2 returning ${COLUMNS}`,
      [
        ...[of.teamId, bytes.mediaId, bytes.contentType, bytes.sizeBytes, bytes.durationMs, of.state],
        new Date(of.nowMs),
      ],
    );
    return rows[0] ? mediaOf(rows[0]) : null;
  }

  /** Ends the upload of a media that has bytes. False: none is there, or no bytes. */
  async complete(of: { teamId: string; mediaId: string; nowMs: number }): Promise<boolean> {
    const { rowCount } = await this.#db.query(
      `update media set state = 'ready', updated_at = case when state = 'ready' then updated_at else $3 end
       where team_id = $1 and id = $2 and size_bytes is not null`,
      [of.teamId, of.mediaId, new Date(of.nowMs)],
    );
    return rowCount === 1;
  }

  /** False: no such media. */
  async remove(tx: Tx, teamId: string, mediaId: string): Promise<boolean> {
    const { rowCount } = await tx.query('delete from media where team_id = $1 and id = $2', [
      teamId,
      mediaId,
    ]);
    return rowCount === 1;
  }

  /** Takes out up to `max` uploads of all accounts that ended before `endedBeforeMs` and were never completed. Their ids. */
  async removeAbandoned(tx: Tx, endedBeforeMs: number, max: number): Promise<string[]> {
    const { rows } = await tx.query<{ id: string }>(
      `delete from media where id in (
         select id from media where state = 'pending' and upload_expires_at < $1 limit $2 for update skip locked)
       returning id`,
      [new Date(endedBeforeMs), max],
    );
    return rows.map((row) => row.id);
  }

  async #byToken(
    on: Pick<Db, 'query'>,
    { tokenHash, nowMs, lock }: { tokenHash: Buffer; nowMs: number; lock: '' | 'for update' },
  ): Promise<{ teamId: string; mediaId: string } | null> {
    const { rows } = await on.query<{ id: string; team_id: string }>(
      `select id, team_id from media where upload_token_hash = $1 and upload_expires_at > $2 ${lock}`,
      [tokenHash, new Date(nowMs)],
    );
    return rows[0] ? { teamId: rows[0].team_id, mediaId: rows[0].id } : null;
  }
}

const mediaOf = (row: MediaRow): Media => ({
  ...{ mediaId: row.id, name: row.name, type: row.type, state: row.state, contentType: row.content_type },
  sizeBytes: row.size_bytes === null ? null : Number(row.size_bytes),
  durationMs: row.duration_ms,
  createdAtMs: row.created_at.getTime(),
  updatedAtMs: row.updated_at.getTime(),
});
