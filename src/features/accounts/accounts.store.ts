import type { Db, Tx } from '../../platform/db/index.ts';
import type { NewAccount, NewUser, Plan } from './accounts.rules.ts';

/** An account with its balance. */
export interface AccountRow {
  teamId: string;
  name: string;
  verified: boolean;
  operator: boolean;
  testMode: boolean;
  plan: Plan;
  detection: boolean;
  buildingBlocks: boolean;
  keepTranscripts: boolean;
  concurrentSessions: number;
  platformTokenCiphertext: string | null;
  balanceMicros: bigint;
  reservedMicros: bigint;
  createdAtMs: number;
}

/** Columns an operator may change. */
export interface AccountChange {
  detection?: boolean;
  buildingBlocks?: boolean;
  keepTranscripts?: boolean;
  verified?: boolean;
  plan?: Plan;
  concurrentSessions?: number;
  platformTokenCiphertext?: string | null;
}

const COLUMN_OF: Record<keyof AccountChange, string> = {
  detection: 'detection',
  buildingBlocks: 'building_blocks',
  keepTranscripts: 'keep_transcripts',
  verified: 'verified',
  plan: 'plan',
  concurrentSessions: 'concurrent_sessions',
  platformTokenCiphertext: 'platform_token_ciphertext',
};

/** The statements on teams and users: SQL where money or a NOTIFY belongs to the transaction, Prisma to read. */
export class AccountsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async find(teamId: string): Promise<AccountRow | null> {
    const team = await this.#db.prisma.team.findUnique({ where: { id: teamId }, include: { balance: true } });
    return team ? accountOf(team) : null;
  }

  /** Oldest first, at most `max`. */
  async list(max: number): Promise<AccountRow[]> {
    const teams = await this.#db.prisma.team.findMany({
      include: { balance: true },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take: max,
    });
    return teams.map(accountOf);
  }

  async findOwnerId(teamId: string): Promise<string | null> {
    const where = { teamId, role: 'owner' };
    const owner = await this.#db.prisma.user.findFirst({
      where,
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    return owner?.id ?? null;
  }

  async count(): Promise<number> {
    return this.#db.prisma.team.count();
  }

  /** What a gateway asks of an account each time it renews a key: one statement on the hot pool. */
  async findAccess(teamId: string): Promise<AccessRow | null> {
    const { rows } = await this.#db.query<AccessRow>(
      `select t.detection, t.concurrent_sessions, t.platform_token_ciphertext, t.keep_transcripts,
         b.balance_micros - b.reserved_micros > 0 as has_funds
       from teams t join balances b on b.team_id = t.id where t.id = $1`,
      [teamId],
    );
    return rows[0] ?? null;
  }

  async insertTeam(tx: Tx, team: Required<NewAccount> & { teamId: string; nowMs: number }): Promise<void> {
    const { teamId, name, verified, operator, testMode, concurrentSessions, nowMs } = team;
    await tx.query(
      `insert into teams (id, name, verified, operator, test_mode, concurrent_sessions, created_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [teamId, name, verified, operator, testMode, concurrentSessions, new Date(nowMs)],
    );
    await tx.query('insert into balances (team_id) values ($1)', [teamId]);
  }

  /** Throws the driver's unique_violation when the email is taken. */
  async insertUser(tx: Sql, user: UserRow): Promise<void> {
    const { userId, teamId, email, displayName, role, aiAccess, passwordHash, nowMs } = user;
    await tx.query(
      `insert into users (id, team_id, email, display_name, role, ai_access, password_hash, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [userId, teamId, email, displayName, role, aiAccess, passwordHash, new Date(nowMs)],
    );
  }

  /** False: no such account. */
  async update(tx: Tx, teamId: string, change: AccountChange): Promise<boolean> {
    const names = (Object.keys(change) as (keyof AccountChange)[]).filter(
      (name) => change[name] !== undefined,
    );
    const sets = names.map((name, index) => `${COLUMN_OF[name]} = $${index + 2}`);
    const { rowCount } = await tx.query(`update teams set ${['id = id', ...sets].join(', ')} where id = $1`, [
      teamId,
      ...names.map((name) => change[name]),
    ]);
    return rowCount === 1;
  }

  async notify(tx: Tx, channel: string, teamId: string): Promise<void> {
    await tx.query('select pg_notify($1, $2)', [channel, teamId]);
  }
}

/** A transaction, or the pool for a single statement. */
interface Sql {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

export interface UserRow extends Omit<NewUser, 'email' | 'password' | 'displayName'> {
  userId: string;
  email: string | null;
  displayName: string;
  passwordHash: string | null;
  nowMs: number;
}

interface AccessRow {
  detection: boolean;
  concurrent_sessions: number;
  platform_token_ciphertext: string | null;
  keep_transcripts: boolean;
  has_funds: boolean;
}

type StoredTeam = NonNullable<Awaited<ReturnType<Db['prisma']['team']['findUnique']>>> & {
  balance: { balanceMicros: bigint; reservedMicros: bigint } | null;
};

function accountOf(team: StoredTeam): AccountRow {
  const { id, createdAt, balance, plan, ...columns } = team;
  return {
    ...columns,
    teamId: id,
    plan: plan as Plan,
    balanceMicros: balance?.balanceMicros ?? 0n,
    reservedMicros: balance?.reservedMicros ?? 0n,
    createdAtMs: createdAt.getTime(),
  };
}
