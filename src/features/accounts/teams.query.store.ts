import type { Db } from '../../platform/db/index.ts';
import type { AiAccess, DunningTier, Feature, Plan, Role } from './accounts.rules.ts';
import type { LedgerKind } from './ledger.rules.ts';
import type { UserRow } from './users.store.ts';

/** An account as consoles show it; `atUs` is what lists are sorted by. */
export interface TeamView {
  teamId: string;
  name: string;
  verified: boolean;
  operator: boolean;
  testMode: boolean;
  plan: Plan;
  features: Feature[];
  dunningTier: DunningTier | null;
  suspended: boolean;
  detection: boolean;
  buildingBlocks: boolean;
  keepTranscripts: boolean;
  concurrentSessions: number;
  sendRate: number | null;
  region: string;
  hasPlatformToken: boolean;
  createdAtMs: number;
  atUs: string;
}

export interface BalanceRow {
  teamId: string;
  balanceMicros: bigint;
  reservedMicros: bigint;
}

export interface LedgerEntryView {
  entryId: string;
  teamId: string;
  kind: LedgerKind;
  amountMicros: bigint;
  reservedMicros: bigint;
  causeType: string;
  causeId: string;
  createdAtMs: number;
}

export interface PriceView {
  productCode: string;
  priceMicros: bigint;
  /** The default of all accounts, not one of its own. */
  isDefault: boolean;
}

export type UserView = UserRow & { atUs: string };

const AT_US = '(extract(epoch from created_at) * 1000000)::bigint as at_us';

const TEAM_COLUMNS = `id, name, verified, operator, test_mode, plan, features, dunning_tier, suspended, detection,
  building_blocks, keep_transcripts, concurrent_sessions, send_rate, region,
  platform_token_ciphertext is not null as has_platform_token, created_at, ${AT_US}`;

/** Without wildcards of the search term. */
const contains = (column: string, parameter: string): string =>
  `(${parameter}::text is null or strpos(lower(${column}), lower(${parameter})) > 0)`;

const LIST_TEAMS_SQL = `
select ${TEAM_COLUMNS} from teams
where ($1::bigint is null
    or (created_at, id) < (timestamptz 'epoch' + $1 * interval '1 microsecond', $2::uuid))
  and ${contains('name', '$3')}
order by created_at desc, id desc limit $4`;

const COUNT_TEAMS_SQL = `select count(*) as n from teams where ${contains('name', '$1')}`;

const FIND_TEAMS_SQL = `select ${TEAM_COLUMNS} from teams where id = any($1::uuid[])`;

const BALANCES_SQL = `
select team_id, balance_micros, reserved_micros from balances where team_id = any($1::uuid[])`;

const LEDGER_SQL = `
select id, team_id, kind, amount_micros, reserved_micros, cause_type, cause_id, created_at from ledger_entries
where team_id = $1 and ($2::bigint is null or id < $2) and ($3::text is null or kind = $3)
order by id desc limit $4`;

const COUNT_LEDGER_SQL = `
select count(*) as n from ledger_entries where team_id = $1 and ($2::text is null or kind = $2)`;

const PRICES_SQL = `
select distinct on (product_code) product_code, price_micros, team_id is null as is_default from prices
where team_id = $1 or team_id is null order by product_code, team_id nulls last`;

const USER_COLUMNS = `id, team_id, email, display_name, role, ai_access, created_at, ${AT_US}`;

const LIST_USERS_SQL = `
select ${USER_COLUMNS} from users
where team_id = $1
  and ($2::bigint is null
    or (created_at, id) < (timestamptz 'epoch' + $2 * interval '1 microsecond', $3::uuid))
  and ${contains("display_name || ' ' || coalesce(email, '')", '$4')}
order by created_at desc, id desc limit $5`;

const COUNT_USERS_SQL = `
select count(*) as n from users
where team_id = $1 and ${contains("display_name || ' ' || coalesce(email, '')", '$2')}`;

const FIND_USERS_SQL = `select ${USER_COLUMNS} from users where team_id = $1 and id = any($2::uuid[])`;

/** Oldest first within an account; at most $2 of each. */
const USERS_OF_TEAMS_SQL = `
select u.* from unnest($1::uuid[]) as t (id)
cross join lateral (
  select ${USER_COLUMNS} from users where team_id = t.id order by created_at, id limit $2
) u`;

interface After {
  atUs: string | null;
  id: string | null;
}

/** What consoles read of accounts, money and users: one statement a call, however many accounts it is about. */
export class TeamsQueryStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async listTeams(of: { after: After; searchTerm: string | null; limit: number }): Promise<TeamView[]> {
    const values = [of.after.atUs, of.after.id, of.searchTerm, of.limit];
    return (await this.#db.query<TeamRow>(LIST_TEAMS_SQL, values)).rows.map(teamOf);
  }

  async countTeams(searchTerm: string | null): Promise<number> {
    return this.#count(COUNT_TEAMS_SQL, [searchTerm]);
  }

  async findTeams(teamIds: readonly string[]): Promise<TeamView[]> {
    return (await this.#db.query<TeamRow>(FIND_TEAMS_SQL, [teamIds])).rows.map(teamOf);
  }

  async balances(teamIds: readonly string[]): Promise<BalanceRow[]> {
    const { rows } = await this.#db.query<{
      team_id: string;
      balance_micros: bigint;
      reserved_micros: bigint;
    }>(BALANCES_SQL, [teamIds]);
    return rows.map((row) => ({
      ...{ teamId: row.team_id, balanceMicros: row.balance_micros, reservedMicros: row.reserved_micros },
    }));
  }

  async ledger(
    teamId: string,
    of: { afterId: string | null; kind: LedgerKind | null; limit: number },
  ): Promise<LedgerEntryView[]> {
    const { rows } = await this.#db.query<LedgerRow>(LEDGER_SQL, [teamId, of.afterId, of.kind, of.limit]);
    return rows.map((row) => ({
      ...{ entryId: String(row.id), teamId: row.team_id, kind: row.kind, amountMicros: row.amount_micros },
      ...{ reservedMicros: row.reserved_micros, causeType: row.cause_type, causeId: row.cause_id },
      createdAtMs: row.created_at.getTime(),
    }));
  }

  async countLedger(teamId: string, kind: LedgerKind | null): Promise<number> {
    return this.#count(COUNT_LEDGER_SQL, [teamId, kind]);
  }

  /** What each product costs the account, by product code. */
  async prices(teamId: string): Promise<PriceView[]> {
    const { rows } = await this.#db.query<{
      product_code: string;
      price_micros: bigint;
      is_default: boolean;
    }>(PRICES_SQL, [teamId]);
    return rows.map((row) => ({
      ...{ productCode: row.product_code, priceMicros: row.price_micros, isDefault: row.is_default },
    }));
  }

  async listUsers(
    teamId: string,
    of: { after: After; searchTerm: string | null; limit: number },
  ): Promise<UserView[]> {
    const values = [teamId, of.after.atUs, of.after.id, of.searchTerm, of.limit];
    return (await this.#db.query<UserSqlRow>(LIST_USERS_SQL, values)).rows.map(userOf);
  }

  async countUsers(teamId: string, searchTerm: string | null): Promise<number> {
    return this.#count(COUNT_USERS_SQL, [teamId, searchTerm]);
  }

  async findUsers(teamId: string, userIds: readonly string[]): Promise<UserView[]> {
    return (await this.#db.query<UserSqlRow>(FIND_USERS_SQL, [teamId, userIds])).rows.map(userOf);
  }

  async usersOf(teamIds: readonly string[], limit: number): Promise<UserView[]> {
    return (await this.#db.query<UserSqlRow>(USERS_OF_TEAMS_SQL, [teamIds, limit])).rows.map(userOf);
  }

  async #count(sql: string, values: unknown[]): Promise<number> {
    const { rows } = await this.#db.query<{ n: bigint }>(sql, values);
    return Number(rows[0]?.n ?? 0);
  }
}

interface TeamRow {
  id: string;
  name: string;
  verified: boolean;
  operator: boolean;
  test_mode: boolean;
  plan: Plan;
  features: Feature[];
  dunning_tier: DunningTier | null;
  suspended: boolean;
  detection: boolean;
  building_blocks: boolean;
  keep_transcripts: boolean;
  concurrent_sessions: number;
  send_rate: number | null;
  region: string;
  has_platform_token: boolean;
  created_at: Date;
  at_us: bigint;
}

interface LedgerRow {
  id: bigint;
  team_id: string;
  kind: LedgerKind;
  amount_micros: bigint;
  reserved_micros: bigint;
  cause_type: string;
  cause_id: string;
  created_at: Date;
}

interface UserSqlRow {
  id: string;
  team_id: string;
  email: string | null;
  display_name: string;
  role: Role;
  ai_access: AiAccess;
  created_at: Date;
  at_us: bigint;
}

const teamOf = (row: TeamRow): TeamView => ({
  ...{ teamId: row.id, name: row.name, verified: row.verified, operator: row.operator },
  ...{ testMode: row.test_mode, plan: row.plan, features: row.features, dunningTier: row.dunning_tier },
  ...{ suspended: row.suspended, detection: row.detection, buildingBlocks: row.building_blocks },
  ...{ keepTranscripts: row.keep_transcripts, concurrentSessions: row.concurrent_sessions },
  ...{ sendRate: row.send_rate, region: row.region },
  ...{ hasPlatformToken: row.has_platform_token, createdAtMs: row.created_at.getTime() },
  atUs: String(row.at_us),
});

const userOf = (row: UserSqlRow): UserView => ({
  ...{ userId: row.id, teamId: row.team_id, email: row.email, displayName: row.display_name },
  ...{ role: row.role, aiAccess: row.ai_access, createdAtMs: row.created_at.getTime() },
  atUs: String(row.at_us),
});
