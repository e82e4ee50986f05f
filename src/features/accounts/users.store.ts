import type { Db, Tx } from '../../platform/db/index.ts';
import type { AiAccess, Role } from './accounts.rules.ts';

/** A user; never the password. */
export interface UserRow {
  userId: string;
  teamId: string;
  /** Null: cannot sign in. */
  email: string | null;
  displayName: string;
  role: Role;
  aiAccess: AiAccess;
  createdAtMs: number;
}

export interface UserChange {
  displayName?: string;
  role?: Role;
  aiAccess?: AiAccess;
}

export interface SignInRow extends UserRow {
  passwordHash: string | null;
  suspended: boolean;
}

/** A transaction, or the pool for a single statement. */
interface Sql {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** The statements on users: SQL, since emails are compared as the index does and owners are counted under a lock. */
export class UsersStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Throws the driver's unique_violation when the email is taken. */
  async insert(tx: Sql, user: UserRow & { passwordHash: string | null }): Promise<void> {
    const { userId, teamId, email, displayName, role, aiAccess, passwordHash, createdAtMs } = user;
    await tx.query(
      `insert into users (id, team_id, email, display_name, role, ai_access, password_hash, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [userId, teamId, email, displayName, role, aiAccess, passwordHash, new Date(createdAtMs)],
    );
  }

  async find(teamId: string, userId: string): Promise<UserRow | null> {
    const { rows } = await this.#db.query<SqlRow>(
      `select ${COLUMNS} from users u where u.team_id = $1 and u.id = $2`,
      [teamId, userId],
    );
    return rows[0] ? userOf(rows[0]) : null;
  }

  /** Whatever the account: who signs in says only an email. Compared as the index does, without patterns. */
  async findByEmail(email: string): Promise<SignInRow | null> {
    const { rows } = await this.#db.query<SqlRow & { password_hash: string | null; suspended: boolean }>(
      `select ${COLUMNS}, u.password_hash, t.suspended
       from users u join teams t on t.id = u.team_id where lower(u.email) = lower($1)`,
      [email],
    );
    const row = rows[0];
    return row ? { ...userOf(row), passwordHash: row.password_hash, suspended: row.suspended } : null;
  }

  /** Oldest first; `searchTerm`: part of the name or the email. */
  async list(
    teamId: string,
    page: { skip: number; limit: number; searchTerm?: string | undefined },
  ): Promise<UserRow[]> {
    const { rows } = await this.#db.query<SqlRow>(
      `select ${COLUMNS} from users u
       where u.team_id = $1
         and ($2::text is null or strpos(lower(u.display_name || ' ' || coalesce(u.email, '')), lower($2)) > 0)
       order by u.created_at, u.id offset $3 limit $4`,
      [teamId, page.searchTerm ?? null, page.skip, page.limit],
    );
    return rows.map(userOf);
  }

  /** Display names of those of `userIds` that are the account's, by id. */
  async names(teamId: string, userIds: readonly string[]): Promise<Map<string, string>> {
    const { rows } = await this.#db.query<{ id: string; display_name: string }>(
      'select id, display_name from users where team_id = $1 and id = any($2::uuid[])',
      [teamId, userIds],
    );
    return new Map(rows.map((row) => [row.id, row.display_name]));
  }

  async count(teamId: string): Promise<number> {
    const { rows } = await this.#db.query<{ n: bigint }>(
      'select count(*) as n from users where team_id = $1',
      [teamId],
    );
    return Number(rows[0]?.n ?? 0);
  }

  async findOwnerId(teamId: string): Promise<string | null> {
    const { rows } = await this.#db.query<{ id: string }>(
      `select id from users where team_id = $1 and role = 'owner' order by created_at, id limit 1`,
      [teamId],
    );
    return rows[0]?.id ?? null;
  }

  /** Holds the account's row, so that two changes cannot each take one of the last two owners. */
  async lockOwners(tx: Tx, teamId: string): Promise<string[]> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ id: string }>(
      `select id from users where team_id = $1 and role = 'owner' order by id`,
      [teamId],
    );
    return rows.map((row) => row.id);
  }

  async update(tx: Tx, of: { teamId: string; userId: string }, change: UserChange): Promise<void> {
    await tx.query(
      `update users set display_name = coalesce($3, display_name), role = coalesce($4, role),
         ai_access = coalesce($5, ai_access)
       where team_id = $1 and id = $2`,
      [of.teamId, of.userId, change.displayName ?? null, change.role ?? null, change.aiAccess ?? null],
    );
  }

  /** Replaces a hash that is still `former`: a password changed meanwhile stays. */
  async rehash(user: {
    teamId: string;
    userId: string;
    former: string;
    passwordHash: string;
  }): Promise<void> {
    await this.#db.query(
      'update users set password_hash = $4 where team_id = $1 and id = $2 and password_hash = $3',
      [user.teamId, user.userId, user.former, user.passwordHash],
    );
  }
}

const COLUMNS = 'u.id, u.team_id, u.email, u.display_name, u.role, u.ai_access, u.created_at';

interface SqlRow {
  id: string;
  team_id: string;
  email: string | null;
  display_name: string;
  role: Role;
  ai_access: AiAccess;
  created_at: Date;
}

const userOf = (row: SqlRow): UserRow => ({
  ...{ userId: row.id, teamId: row.team_id, email: row.email, displayName: row.display_name },
  ...{ role: row.role, aiAccess: row.ai_access, createdAtMs: row.created_at.getTime() },
});
