import type { Db, Tx } from '../../platform/db/index.ts';
import type { Circuit } from './breaker.ts';
import type { CarrierKind, CarrierState } from './carriers.rules.ts';

export interface CarrierRow {
  carrierId: string;
  teamId: string;
  kind: CarrierKind;
  name: string;
  settingsCiphertext: string;
  state: CarrierState;
  /** Requests a second that go out at most; null: no limit of ours. */
  ratePerSecond: number | null;
  createdBy: string;
  createdAtMs: number;
  updatedAtMs: number;
}

/** How a connection fares, over the processes that used it within the last minute. */
export interface CarrierHealth {
  /** The worst of the processes'. */
  circuit: Circuit;
  /** Requests and faults of the last minute. */
  requests: number;
  faults: number;
  lastFault: string | null;
  lastFaultAtMs: number | null;
}

export interface CarrierChange {
  name?: string;
  state?: CarrierState;
  settingsCiphertext?: string;
  ratePerSecond?: number | null;
}

/** What one process saw of one connection. */
export interface HealthRow extends CarrierHealth {
  carrierId: string;
  teamId: string;
}

/** A process that has not told anything for so long is not counted any more. */
const HEALTH_LIVES_MS = 90_000;
/** Its rows are deleted after this time. */
const HEALTH_KEPT_MS = 3_600_000;

const COLUMNS = `c.id, c.team_id, c.kind, c.name, c.settings_ciphertext, c.state, c.rate_per_second, c.created_by,
  c.created_at, c.updated_at`;

const HEALTH = `left join lateral (
    select sum(h.requests)::int as requests, sum(h.faults)::int as faults, bool_or(h.circuit = 'open') as is_open,
      bool_or(h.circuit = 'half_open') as is_half_open, max(h.last_fault_at) as last_fault_at,
      (array_agg(h.last_fault order by h.last_fault_at desc nulls last))[1] as last_fault
    from carrier_health h where h.carrier_id = c.id and h.team_id = c.team_id and h.updated_at > $2
  ) h on true`;

const HEALTH_COLUMNS = 'h.requests, h.faults, h.is_open, h.is_half_open, h.last_fault, h.last_fault_at';

const REPORT = `
with old as (delete from carrier_health where updated_at < $3)
insert into carrier_health (process_id, updated_at, carrier_id, team_id, circuit, requests, faults, last_fault, last_fault_at)
select $1, $2, v.* from unnest($4::uuid[], $5::uuid[], $6::text[], $7::int[], $8::int[], $9::text[], $10::timestamptz[])
  as v (carrier_id, team_id, circuit, requests, faults, last_fault, last_fault_at)
where exists (select from carrier_connections c where c.id = v.carrier_id and c.team_id = v.team_id)
order by v.carrier_id
on conflict (carrier_id, process_id) do update set updated_at = excluded.updated_at, circuit = excluded.circuit,
  requests = excluded.requests, faults = excluded.faults, last_fault = excluded.last_fault,
  last_fault_at = excluded.last_fault_at`;

/** The statements on carrier_connections and carrier_health. */
export class CarriersStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Oldest first; the limit of connections bounds it. */
  async list(teamId: string, nowMs: number): Promise<(CarrierRow & CarrierHealth)[]> {
    const { rows } = await this.#db.query<Stored & StoredHealth>(
      `select ${COLUMNS}, ${HEALTH_COLUMNS} from carrier_connections c ${HEALTH}
       where c.team_id = $1 order by c.created_at, c.id`,
      [teamId, new Date(nowMs - HEALTH_LIVES_MS)],
    );
    return rows.map(withHealth);
  }

  async find(teamId: string, carrierId: string, nowMs: number): Promise<(CarrierRow & CarrierHealth) | null> {
    const { rows } = await this.#db.query<Stored & StoredHealth>(
      `select ${COLUMNS}, ${HEALTH_COLUMNS} from carrier_connections c ${HEALTH} where c.team_id = $1 and c.id = $3`,
      [teamId, new Date(nowMs - HEALTH_LIVES_MS), carrierId],
    );
    return rows[0] ? withHealth(rows[0]) : null;
  }

  /** All of an account for its sends, oldest first. */
  async listForWork(teamId: string): Promise<CarrierRow[]> {
    const { rows } = await this.#db.prepared<Stored>(
      'carriers-for-work',
      `select ${COLUMNS} from carrier_connections c where c.team_id = $1 order by c.created_at, c.id`,
      [teamId],
    );
    return rows.map(carrierOf);
  }

  /** The connection that a carrier's own address names: whose it is, is what is asked for. */
  async findNamed(carrierId: string): Promise<CarrierRow | null> {
    const { rows } = await this.#db.query<Stored>(
      `select ${COLUMNS} from carrier_connections c where c.id = $1`,
      [carrierId],
    );
    return rows[0] ? carrierOf(rows[0]) : null;
  }

  /** A connection that leads out of the service: the oldest active one, else the oldest. */
  async findConnected(teamId: string): Promise<{ id: string; kind: CarrierKind } | null> {
    const { rows } = await this.#db.query<{ id: string; kind: CarrierKind }>(
      `select id, kind from carrier_connections
       where team_id = $1 and kind <> 'simulator'
       order by state = 'active' desc, created_at, id limit 1`,
      [teamId],
    );
    return rows[0] ?? null;
  }

  /** Holds the account's row, so that two connections cannot both take the last place; how many there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>(
      'select count(*) as n from carrier_connections where team_id = $1',
      [teamId],
    );
    return Number(rows[0]?.n ?? 0);
  }

  async insert(tx: Tx, row: CarrierRow): Promise<void> {
    await tx.query(
      `insert into carrier_connections
         (id, team_id, kind, name, settings_ciphertext, state, rate_per_second, created_by, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        ...[row.carrierId, row.teamId, row.kind, row.name, row.settingsCiphertext, row.state],
        ...[row.ratePerSecond, row.createdBy, new Date(row.createdAtMs), new Date(row.updatedAtMs)],
      ],
    );
  }

  /** False: no such connection. */
  async update(
    of: { teamId: string; carrierId: string; nowMs: number },
    change: CarrierChange,
  ): Promise<boolean> {
    const { name, state, settingsCiphertext, ratePerSecond } = change;
    const { rowCount } = await this.#db.query(
      `update carrier_connections set updated_at = $3, name = coalesce($4, name), state = coalesce($5, state),
         settings_ciphertext = coalesce($6, settings_ciphertext),
         rate_per_second = case when $7 then $8::int else rate_per_second end
       where team_id = $1 and id = $2`,
      [
        ...[of.teamId, of.carrierId, new Date(of.nowMs), name ?? null, state ?? null],
        ...[settingsCiphertext ?? null, ratePerSecond !== undefined, ratePerSecond ?? null],
      ],
    );
    return rowCount === 1;
  }

  /** False: no such connection. */
  async delete(teamId: string, carrierId: string): Promise<boolean> {
    const { rowCount } = await this.#db.query(
      'delete from carrier_connections where team_id = $1 and id = $2',
      [teamId, carrierId],
    );
    return rowCount === 1;
  }

  /** Writes what a process saw of its connections; those that were removed meanwhile are left out. */
  async report(of: { processId: string; nowMs: number }, rows: readonly HealthRow[]): Promise<void> {
    await this.#db.query(REPORT, [
      ...[of.processId, new Date(of.nowMs), new Date(of.nowMs - HEALTH_KEPT_MS)],
      ...[rows.map((row) => row.carrierId), rows.map((row) => row.teamId), rows.map((row) => row.circuit)],
      ...[rows.map((row) => row.requests), rows.map((row) => row.faults), rows.map((row) => row.lastFault)],
      rows.map((row) => (row.lastFaultAtMs === null ? null : new Date(row.lastFaultAtMs))),
    ]);
  }
}

interface Stored {
  id: string;
  team_id: string;
  kind: CarrierKind;
  name: string;
  settings_ciphertext: string;
  state: CarrierState;
  rate_per_second: number | null;
  created_by: string;
  created_at: Date;
  updated_at: Date;
}

interface StoredHealth {
  requests: number | null;
  faults: number | null;
  is_open: boolean | null;
  is_half_open: boolean | null;
  last_fault: string | null;
  last_fault_at: Date | null;
}

const carrierOf = (row: Stored): CarrierRow => ({
  carrierId: row.id,
  teamId: row.team_id,
  kind: row.kind,
  name: row.name,
  settingsCiphertext: row.settings_ciphertext,
  state: row.state,
  ratePerSecond: row.rate_per_second,
  createdBy: row.created_by,
  createdAtMs: row.created_at.getTime(),
  updatedAtMs: row.updated_at.getTime(),
});

const withHealth = (row: Stored & StoredHealth): CarrierRow & CarrierHealth => ({
  ...carrierOf(row),
  circuit: row.is_open ? 'open' : row.is_half_open ? 'half_open' : 'closed',
  requests: row.requests ?? 0,
  faults: row.faults ?? 0,
  lastFault: row.last_fault,
  lastFaultAtMs: row.last_fault_at?.getTime() ?? null,
});
