import type { Db, Tx } from '../../platform/db/index.ts';

export interface DetectionKeyRow {
  keyId: string;
  teamId: string;
  name: string;
  keyHint: string;
  createdBy: string;
  createdAtMs: number;
  expiresAtMs: number | null;
  suspended: boolean;
}

export interface FoundKey {
  keyId: string;
  teamId: string;
  createdBy: string;
  expiresAtMs: number | null;
  /** Also while an operator has suspended it. */
  revoked: boolean;
}

/** The statements on detection_keys: SQL for look-ups and where a lock or a NOTIFY belongs to it, Prisma to list. */
export class DetectionKeysStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Not revoked, newest first; the limit of keys an account may have bounds it. */
  async list(teamId: string): Promise<DetectionKeyRow[]> {
    const rows = await this.#db.prisma.detectionKey.findMany({
      where: { teamId, revokedAt: null },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    });
    return rows.map(({ id, createdAt, expiresAt, name, keyHint, createdBy, suspended }) => ({
      ...{ keyId: id, teamId, name, keyHint, createdBy, suspended },
      createdAtMs: createdAt.getTime(),
      expiresAtMs: expiresAt?.getTime() ?? null,
    }));
  }

  /** Holds the account's row, so that two creations cannot both take the last place; how many keys there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>(
      'select count(*) as n from detection_keys where team_id = $1 and revoked_at is null',
      [teamId],
    );
    return Number(rows[0]?.n ?? 0);
  }

  async insert(tx: Tx, key: DetectionKeyRow & { keyHash: Buffer; keyCiphertext: string }): Promise<void> {
    await tx.query(
      `insert into detection_keys
         (id, team_id, name, key_hash, key_ciphertext, key_hint, created_by, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        ...[key.keyId, key.teamId, key.name, key.keyHash, key.keyCiphertext, key.keyHint, key.createdBy],
        new Date(key.createdAtMs),
        key.expiresAtMs === null ? null : new Date(key.expiresAtMs),
      ],
    );
  }

  /** Revokes and announces it to the gateways; false: no such key, or revoked before. */
  async revoke(
    tx: Tx,
    key: { teamId: string; keyId: string; nowMs: number; channel: string },
  ): Promise<boolean> {
    const { rowCount } = await tx.query(
      `update detection_keys set revoked_at = $3 where team_id = $1 and id = $2 and revoked_at is null`,
      [key.teamId, key.keyId, new Date(key.nowMs)],
    );
    if (rowCount !== 1) return false;
    await tx.query('select pg_notify($1, $2)', [key.channel, key.teamId]);
    return true;
  }

  /** Announced to the gateways; false: no such key, or revoked. */
  async setSuspended(
    tx: Tx,
    key: { teamId: string; keyId: string; suspended: boolean; channel: string },
  ): Promise<boolean> {
    const { rowCount } = await tx.query(
      'update detection_keys set suspended = $3 where team_id = $1 and id = $2 and revoked_at is null',
      [key.teamId, key.keyId, key.suspended],
    );
    if (rowCount !== 1) return false;
    await tx.query('select pg_notify($1, $2)', [key.channel, key.teamId]);
    return true;
  }

  async findByHash(keyHash: Buffer): Promise<FoundKey | null> {
    const { rows } = await this.#db.query<{
      id: string;
      team_id: string;
      created_by: string;
      expires_at: Date | null;
      revoked: boolean;
    }>(
      `select id, team_id, created_by, expires_at, revoked_at is not null or suspended as revoked
       from detection_keys where key_hash = $1`,
      [keyHash],
    );
    const row = rows[0];
    if (!row) return null;
    return {
      keyId: row.id,
      teamId: row.team_id,
      createdBy: row.created_by,
      expiresAtMs: row.expires_at?.getTime() ?? null,
      revoked: row.revoked,
    };
  }

  async findCiphertext(keyId: string): Promise<string | null> {
    const { rows } = await this.#db.query<{ key_ciphertext: string }>(
      'select key_ciphertext from detection_keys where id = $1',
      [keyId],
    );
    return rows[0]?.key_ciphertext ?? null;
  }
}
