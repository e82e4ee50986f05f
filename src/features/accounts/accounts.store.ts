import type { Db, Tx } from '../../platform/db/index.ts';
import type { DunningTier, Feature, NewAccount, Plan } from './accounts.rules.ts';

/** An account with its balance. */
export interface AccountRow {
  teamId: string;
  name: string;
  verified: boolean;
  operator: boolean;
  testMode: boolean;
  plan: Plan;
  features: Feature[];
  /** Null: the subscription is paid. */
  dunningTier: DunningTier | null;
  suspended: boolean;
  detection: boolean;
  buildingBlocks: boolean;
  keepTranscripts: boolean;
  concurrentSessions: number;
  /** Sends a second; null: the service's own limit. */
  sendRate: number | null;
  /** Country of its numbers without a country code. */
  region: string;
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
  testMode?: boolean;
  plan?: Plan;
  features?: readonly Feature[];
  dunningTier?: DunningTier | null;
  suspended?: boolean;
  concurrentSessions?: number;
  sendRate?: number | null;
  platformTokenCiphertext?: string | null;
}

const COLUMN_OF: Record<keyof AccountChange, string> = {
  detection: 'detection',
  buildingBlocks: 'building_blocks',
  keepTranscripts: 'keep_transcripts',
  verified: 'verified',
  testMode: 'test_mode',
  plan: 'plan',
  features: 'features',
  dunningTier: 'dunning_tier',
  suspended: 'suspended',
  concurrentSessions: 'concurrent_sessions',
  sendRate: 'send_rate',
  platformTokenCiphertext: 'platform_token_ciphertext',
};

/** The statements on teams: SQL where money or a NOTIFY belongs to the transaction, Prisma to read. */
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

  async count(): Promise<number> {
    return this.#db.prisma.team.count();
  }

  /** What a gateway asks of an account each time it renews a key: one statement on the hot pool. */
  async findAccess(teamId: string): Promise<AccessRow | null> {
    const { rows } = await this.#db.query<AccessRow>(
      `select t.detection and not t.suspended and 'detection' = any(t.features) as detection, t.concurrent_sessions, t.platform_token_ciphertext, t.keep_transcripts,
         b.balance_micros - b.reserved_micros > 0 as has_funds
       from teams t join balances b on b.team_id = t.id where t.id = $1`,
      [teamId],
    );
    return rows[0] ?? null;
  }

  /** What the gates ask of an account at a request. */
  async findStanding(teamId: string): Promise<StandingRow | null> {
    const { rows } = await this.#db.query<{
      plan: Plan;
      features: Feature[];
      dunning_tier: DunningTier | null;
      has_funds: boolean;
    }>(
      `select t.plan, t.features, t.dunning_tier, b.balance_micros - b.reserved_micros > 0 as has_funds
       from teams t join balances b on b.team_id = t.id where t.id = $1`,
      [teamId],
    );
    const row = rows[0];
    if (!row) return null;
    const { plan, features, dunning_tier: dunningTier, has_funds: hasFunds } = row;
    return { plan, features, dunningTier, hasFunds };
  }

  async insertTeam(tx: Tx, team: Required<NewAccount> & { teamId: string; nowMs: number }): Promise<void> {
    const { teamId, name, verified, operator, testMode, concurrentSessions, nowMs } = team;
    await tx.query(
      `insert into teams (id, name, verified, operator, test_mode, concurrent_sessions, created_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [teamId, name, verified, operator, testMode, concurrentSessions, new Date(nowMs)],
    );
    await tx.query('insert into balances (team_id) values ($1)', [teamId]);
    // Until agents are made by their accounts, each has one (supplement 13, Sends).
    await tx.query(
      `insert into agents (team_id, name, simulated, published_version) values ($1, 'Simulated agent', true, 1)`,
      [teamId],
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

export interface StandingRow {
  plan: Plan;
  features: Feature[];
  dunningTier: DunningTier | null;
  hasFunds: boolean;
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
  const { id, createdAt, balance, plan, features, dunningTier, ...columns } = team;
  return {
    ...columns,
    teamId: id,
    plan: plan as Plan,
    features: features as Feature[],
    dunningTier: dunningTier as DunningTier | null,
    balanceMicros: balance?.balanceMicros ?? 0n,
    reservedMicros: balance?.reservedMicros ?? 0n,
    createdAtMs: createdAt.getTime(),
  };
}
