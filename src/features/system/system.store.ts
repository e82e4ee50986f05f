import type { Db } from '../../platform/db/index.ts';

/** A process of the installation. */
export interface ProcessView {
  readonly processId: string;
  readonly role: string;
  readonly roles: readonly string[];
  readonly pid: number;
  readonly host: string;
  readonly version: string;
  readonly startedAtMs: number;
  readonly heartbeatAtMs: number;
  /** Calls it hears now. */
  readonly liveSessions: number;
}

/** Work of one topic that waits or is under way. */
export interface QueueView {
  readonly name: string;
  /** Due and not taken. */
  readonly ready: number;
  /** Waiting for a later time. */
  readonly held: number;
  readonly inFlight: number;
  /** Age of the oldest ready piece; null: none is ready. */
  readonly oldestMs: number | null;
  /** An operator paused it: nothing is taken. */
  readonly paused: boolean;
}

/** Heartbeats come once a second; what was silent for this long is dead (loads of gateways use the same). */
const STALE_SEC = 10;

const PROCESSES_SQL = `
select p.id, p.role, p.stats, p.pid, p.host, p.version, p.started_at, p.heartbeat_at,
  (select coalesce(sum(l.live_sessions), 0) from gateway_loads l where l.process_id = p.id) as live_sessions
from processes p
where p.ended_at is null and p.heartbeat_at > now() - make_interval(secs => $1)
order by p.role, p.started_at, p.id limit $2`;

/** A lane begins with its topic, then with the account it belongs to. $2 null: of all accounts. */
const QUEUES_SQL = `
with waiting as (
  select topic, available_at <= $1 and (lease_until is null or lease_until <= $1) as ready,
    available_at > $1 as held, lease_until > $1 as in_flight, available_at
  from outbox where $2::text is null or lane like topic || '|' || $2 || '%'
), later as (
  select topic, count(*) as n from outbox_later
  where $2::text is null or lane like topic || '|' || $2 || '%' group by topic
)
select coalesce(w.topic, l.topic, p.topic) as topic, coalesce(w.ready, 0) as ready,
  coalesce(w.held, 0) + coalesce(l.n, 0) as held, coalesce(w.in_flight, 0) as in_flight, w.oldest,
  p.topic is not null as paused
from (
  select topic, count(*) filter (where ready) as ready, count(*) filter (where held) as held,
    count(*) filter (where in_flight) as in_flight, min(available_at) filter (where ready) as oldest
  from waiting group by topic
) w full join later l on l.topic = w.topic
full join paused_queues p on p.topic = coalesce(w.topic, l.topic)
order by 1`;

const PAUSE_SQL = `
insert into paused_queues (topic, paused_by, paused_at) values ($1, $2, $3) on conflict (topic) do nothing`;

const RESUME_SQL = 'delete from paused_queues where topic = $1';

/** What runs and what waits, over the whole installation. */
export class SystemStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async processes(max: number): Promise<ProcessView[]> {
    const { rows } = await this.#db.query<{
      id: string;
      role: string;
      stats: { roles?: string[] };
      pid: number;
      host: string;
      version: string;
      started_at: Date;
      heartbeat_at: Date;
      live_sessions: bigint;
    }>(PROCESSES_SQL, [STALE_SEC, max]);
    return rows.map((row) => ({
      ...{ processId: row.id, role: row.role, roles: row.stats.roles ?? [row.role], pid: row.pid },
      ...{ host: row.host, version: row.version, startedAtMs: row.started_at.getTime() },
      ...{ heartbeatAtMs: row.heartbeat_at.getTime(), liveSessions: Number(row.live_sessions) },
    }));
  }

  async queues(nowMs: number, teamId: string | null): Promise<QueueView[]> {
    const { rows } = await this.#db.query<{
      topic: string;
      ready: bigint;
      held: bigint;
      in_flight: bigint;
      oldest: Date | null;
      paused: boolean;
    }>(QUEUES_SQL, [new Date(nowMs), teamId]);
    return rows.map((row) => ({
      name: row.topic,
      ready: Number(row.ready),
      held: Number(row.held),
      inFlight: Number(row.in_flight),
      oldestMs: row.oldest === null ? null : Math.max(0, nowMs - row.oldest.getTime()),
      paused: row.paused,
    }));
  }

  async pause(of: { name: string; userId: string; nowMs: number }): Promise<void> {
    await this.#db.query(PAUSE_SQL, [of.name, of.userId, new Date(of.nowMs)]);
  }

  async resume(name: string): Promise<void> {
    await this.#db.query(RESUME_SQL, [name]);
  }
}
