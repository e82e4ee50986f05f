import type { Scope } from '../../kernel/caller.ts';
import type { Db, Prisma, Tx } from '../../platform/db/index.ts';

export interface ClientRow {
  clientId: string;
  teamId: string;
  name: string;
  /** Null: a public client. */
  secretHash: Buffer | null;
  redirectUris: readonly string[];
  scopes: readonly Scope[];
  /** The user it acts under (supplement 13, Who acts). */
  createdBy: string;
  createdAtMs: number;
}

/** What a token of a client is judged by. */
export type ActingClient = Pick<ClientRow, 'clientId' | 'teamId' | 'scopes' | 'createdBy'> & {
  operator: boolean;
  teamSuspended: boolean;
};

type StoredClient = Prisma.OauthClientGetPayload<object>;

/** The statements on oauth_clients: SQL for look-ups and where a lock belongs to it, Prisma to list. Revoked ones are not found. */
export class ClientsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Not revoked, newest first; the limit of clients an account may have bounds it. */
  async list(teamId: string): Promise<ClientRow[]> {
    const rows = await this.#db.prisma.oauthClient.findMany({
      where: { teamId, revokedAt: null },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    });
    return rows.map(clientOf);
  }

  /** Holds the account's row, so that two creations cannot both take the last place; how many clients there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>(
      'select count(*) as n from oauth_clients where team_id = $1 and revoked_at is null',
      [teamId],
    );
    return Number(rows[0]?.n ?? 0);
  }

  async insert(tx: Tx, client: ClientRow): Promise<void> {
    await tx.query(
      `insert into oauth_clients (id, team_id, name, secret_hash, redirect_uris, scopes, created_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        ...[client.clientId, client.teamId, client.name, client.secretHash, client.redirectUris],
        ...[client.scopes, client.createdBy, new Date(client.createdAtMs)],
      ],
    );
  }

  /** False: no such client, or revoked before. */
  async revoke(client: { teamId: string; clientId: string; nowMs: number }): Promise<boolean> {
    const { rowCount } = await this.#db.query(
      'update oauth_clients set revoked_at = $3 where team_id = $1 and id = $2 and revoked_at is null',
      [client.teamId, client.clientId, new Date(client.nowMs)],
    );
    return rowCount === 1;
  }

  /** By id alone: this is how an account is found, before there is a caller. */
  async find(clientId: string): Promise<ClientRow | null> {
    const row = await this.#db.prisma.oauthClient.findFirst({ where: { id: clientId, revokedAt: null } });
    return row ? clientOf(row) : null;
  }

  /** For every request with a token: one statement. */
  async findActing(clientId: string): Promise<ActingClient | null> {
    const { rows } = await this.#db.prepared<{
      team_id: string;
      scopes: Scope[];
      created_by: string;
      operator: boolean;
      suspended: boolean;
    }>(
      'oauth-client-find',
      `select c.team_id, c.scopes, c.created_by, t.operator, t.suspended
         from oauth_clients c join teams t on t.id = c.team_id
        where c.id = $1 and c.revoked_at is null`,
      [clientId],
    );
    const row = rows[0];
    if (!row) return null;
    return {
      ...{ clientId, teamId: row.team_id, scopes: row.scopes },
      ...{ createdBy: row.created_by, operator: row.operator, teamSuspended: row.suspended },
    };
  }
}

const clientOf = ({ id, createdAt, scopes, secretHash, ...row }: StoredClient): ClientRow => ({
  ...{ clientId: id, teamId: row.teamId, name: row.name, createdBy: row.createdBy },
  ...{ redirectUris: row.redirectUris, scopes: scopes as Scope[] },
  secretHash: secretHash === null ? null : Buffer.from(secretHash),
  createdAtMs: createdAt.getTime(),
});
