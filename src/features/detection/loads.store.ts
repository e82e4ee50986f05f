import type { Db } from '../../platform/db/index.ts';

/** A process whose heartbeat is older counts for nothing any more. */
export const HEARTBEAT_STALE_MS = 10_000;

export interface TeamLoad {
  readonly teamId: string;
  readonly liveSessions: number;
}

/** Who this process is, in `processes`. */
export interface ProcessIdentity {
  readonly id: string;
  readonly role: string;
  readonly pid: number;
  readonly host: string;
  readonly version: string;
}

const REGISTER_SQL = `
insert into processes (id, role, pid, host, version) values ($1, $2, $3, $4, $5)
on conflict (id) do update set pid = excluded.pid, heartbeat_at = now(), ended_at = null`;

const HEARTBEAT_SQL = `
update processes set heartbeat_at = now(), stats = $2 where id = $1`;

const REPLACE_SQL = `
with wanted as (
  select team_id, live_sessions from unnest($2::uuid[], $3::int[]) as w (team_id, live_sessions)
), gone as (
  delete from gateway_loads where process_id = $1 and team_id not in (select team_id from wanted)
)
insert into gateway_loads (process_id, team_id, live_sessions)
select $1, team_id, live_sessions from wanted order by team_id
on conflict (process_id, team_id) do update set live_sessions = excluded.live_sessions`;

const OTHERS_SQL = `
select l.team_id, sum(l.live_sessions)::int as live_sessions
from gateway_loads l join processes p on p.id = l.process_id
where l.process_id <> $1 and p.ended_at is null and p.heartbeat_at > now() - make_interval(secs => $2)
group by l.team_id`;

const END_SQL = `
with gone as (delete from gateway_loads where process_id = $1)
update processes set ended_at = now(), heartbeat_at = now() where id = $1`;

/** Live sessions of every account in every gateway process (supplement 10, Capacity). */
export class LoadsStore {
  readonly #db: Db;
  readonly #processId: string;

  constructor(db: Db, processId: string) {
    this.#db = db;
    this.#processId = processId;
  }

  async register(process: ProcessIdentity): Promise<void> {
    await this.#db.query(REGISTER_SQL, [
      process.id,
      process.role,
      process.pid,
      process.host,
      process.version,
    ]);
  }

  /** Says what is live here and answers what is live in the other processes. */
  async exchange(loads: readonly TeamLoad[], stats: Record<string, unknown>): Promise<TeamLoad[]> {
    await this.#db.query(HEARTBEAT_SQL, [this.#processId, JSON.stringify(stats)]);
    await this.#db.query(REPLACE_SQL, [
      this.#processId,
      loads.map((load) => load.teamId),
      loads.map((load) => load.liveSessions),
    ]);
    const { rows } = await this.#db.query<{ team_id: string; live_sessions: number }>(OTHERS_SQL, [
      this.#processId,
      HEARTBEAT_STALE_MS / 1000,
    ]);
    return rows.map((row) => ({ teamId: row.team_id, liveSessions: row.live_sessions }));
  }

  async end(): Promise<void> {
    await this.#db.query(END_SQL, [this.#processId]);
  }
}
