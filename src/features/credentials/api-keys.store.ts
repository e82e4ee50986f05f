import type { Db, Tx } from '../../platform/db/index.ts';

export interface ApiKeyRow {
  keyId: string;
  teamId: string;
  name: string;
  /** The public half, sent as x-key. */
  key: string;
  scopes: readonly string[];
  createdBy: string;
  createdAtMs: number;
  expiresAtMs: number | null;
}

export interface ListedApiKeyRow extends ApiKeyRow {
  type: string;
  mcpClient: string | null;
  suspended: boolean;
  lastUsedAtMs: number | null;
  requestCount: number;
}

/** What authentication must know of a key and its account. */
export interface FoundApiKey {
  id: string;
  team_id: string;
  secret_hash: Buffer;
  scopes: string[];
  created_by: string;
  expires_at: Date | null;
  key_suspended: boolean;
  team_suspended: boolean;
  operator: boolean;
}

/** Requests made with a key since the last time they were written. */
export interface KeyUse {
  keyId: string;
  requests: number;
  lastUsedAtMs: number;
}

const FIND_SQL = `
select k.id, k.team_id, k.secret_hash, k.scopes, k.created_by, k.expires_at, k.suspended as key_suspended,
  t.suspended as team_suspended, t.operator
from api_keys k join teams t on t.id = k.team_id
where k.key = $1`;

/** Sorted by id, so that two processes that write the same keys cannot wait for each other. */
const ADD_USE_SQL = `
with used as (
  select u.id, u.requests, u.used_at, k.id as key_id
  from unnest($1::uuid[], $2::bigint[], $3::timestamptz[]) as u (id, requests, used_at)
  join api_keys k on k.id = u.id
  order by k.id for no key update of k
)
update api_keys k
set request_count = k.request_count + used.requests, last_used_at = greatest(k.last_used_at, used.used_at)
from used where k.id = used.key_id`;

/** The statements on api_keys: SQL for the look-up of every request and what belongs to a transaction, Prisma to list. */
export class ApiKeysStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async insert(tx: Tx, row: ApiKeyRow & { secretHash: Buffer }): Promise<void> {
    await tx.query(
      `insert into api_keys (id, team_id, name, key, secret_hash, scopes, created_by, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        ...[row.keyId, row.teamId, row.name, row.key, row.secretHash, row.scopes, row.createdBy],
        new Date(row.createdAtMs),
        row.expiresAtMs === null ? null : new Date(row.expiresAtMs),
      ],
    );
  }

  /** By its public half, whoever's it is: it says whose the request is. */
  async findByKey(key: string): Promise<FoundApiKey | null> {
    const { rows } = await this.#db.prepared<FoundApiKey>('api-key-find', FIND_SQL, [key]);
    return rows[0] ?? null;
  }

  /** Newest first; the limit of keys an account may have bounds it. */
  async list(teamId: string): Promise<ListedApiKeyRow[]> {
    const rows = await this.#db.prisma.apiKey.findMany({
      where: { teamId },
      omit: { secretHash: true },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    });
    return rows.map(({ id, createdAt, expiresAt, lastUsedAt, requestCount, ...row }) => ({
      ...row,
      keyId: id,
      createdAtMs: createdAt.getTime(),
      expiresAtMs: expiresAt?.getTime() ?? null,
      lastUsedAtMs: lastUsedAt?.getTime() ?? null,
      requestCount: Number(requestCount),
    }));
  }

  /** Holds the account's row, so that two creations cannot both take the last place; how many keys there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>('select count(*) as n from api_keys where team_id = $1', [
      teamId,
    ]);
    return Number(rows[0]?.n ?? 0);
  }

  /** False: no such key. */
  async delete(tx: Tx, of: { teamId: string; keyId: string }): Promise<boolean> {
    const { rowCount } = await tx.query('delete from api_keys where team_id = $1 and id = $2', [
      of.teamId,
      of.keyId,
    ]);
    return rowCount === 1;
  }

  /** False: no such key. */
  async setSuspended(of: { teamId: string; keyId: string; suspended: boolean }): Promise<boolean> {
    const { rowCount } = await this.#db.query(
      'update api_keys set suspended = $3 where team_id = $1 and id = $2',
      [of.teamId, of.keyId, of.suspended],
    );
    return rowCount === 1;
  }

  /** Adds what was counted; keys deleted since are left out. */
  async addUse(uses: readonly KeyUse[]): Promise<void> {
    await this.#db.query(ADD_USE_SQL, [
      uses.map((use) => use.keyId),
      uses.map((use) => use.requests),
      uses.map((use) => new Date(use.lastUsedAtMs)),
    ]);
  }
}
