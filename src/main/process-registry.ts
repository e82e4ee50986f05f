import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAlive } from '../platform/db/index.ts';
import type { Db } from '../platform/db/index.ts';
import { VERSION } from './version.ts';

/** Ended processes waiting to be recorded while the database is away. */
const ENDED_WAITING_MAX = 1_000;
/** Rows of processes that ended are kept as long as the sessions that name them. */
const KEPT_DAYS = 7;
/** A process whose heartbeat (one a second) is older works on nothing any more; its leases go to others. */
const DEAD_AFTER_SEC = 10;
/** No lease is longer: whoever died before that has none left. */
const DEAD_LATELY_SEC = 300;

const BEAT_SQL = `
insert into processes (id, role, pid, host, version, stats)
values ($1, 'main', $2, $3, $4, jsonb_build_object('roles', $5::text[], 'pid_space', $6::text))
on conflict (id) do update set heartbeat_at = now(), ended_at = null`;

const END_SQL = `
with gone as (delete from gateway_loads where process_id = any($1::uuid[]))
update processes set ended_at = now() where id = any($1::uuid[]) and ended_at is null`;

/** Main processes beside this one whose pids mean the same processes here. */
const NEIGHBOURS_SQL = `
select id, pid from processes
where role = 'main' and ended_at is null and id <> $1 and host = $2 and stats ->> 'pid_space' = $3`;

const DEAD_SQL = `
select id from processes
where id <> $4 and (
  ended_at > now() - make_interval(secs => $1)
  or (ended_at is null and $3 and heartbeat_at < now() - make_interval(secs => $2)
    and heartbeat_at > now() - make_interval(secs => $1))
)`;

const FORGET_SQL = `
delete from processes where heartbeat_at < now() - make_interval(days => $1)`;

/** The row of this process in `processes`, and the ends of its children. */
export class ProcessRegistry {
  readonly #db: Db;
  readonly #id: string;
  readonly #roles: readonly string[];
  readonly #onLost: (processId: string) => Promise<unknown>;
  #ended: string[] = [];

  /** `onLost` is called once for each child that ended, when the database takes it. */
  constructor(options: {
    db: Db;
    id: string;
    roles: readonly string[];
    onLost: (processId: string) => Promise<unknown>;
  }) {
    this.#db = options.db;
    this.#id = options.id;
    this.#roles = options.roles;
    this.#onLost = options.onLost;
  }

  /** Names this process in the database, in its leases too. */
  get id(): string {
    return this.#id;
  }

  /** Records the end of main processes of this machine that were killed: nobody else could. */
  async endKilledNeighbours(): Promise<void> {
    const { rows } = await this.#db.query<{ id: string; pid: number }>(NEIGHBOURS_SQL, [
      ...[this.#id, hostname(), pidSpace()],
    ]);
    // A row with this very pid is of an earlier process: in a container every start may get the same.
    const killed = rows.filter(({ pid }) => pid === process.pid || !isAlive(pid));
    if (killed.length > 0) await this.#db.query(END_SQL, [killed.map(({ id }) => id)]);
  }

  /**
   * Processes that ended lately or, with `byHeartbeat`, were not heard of for 10 s. After an outage of the database nobody
   * was: then only those count whose end is known.
   */
  async diedLately(options: { byHeartbeat: boolean }): Promise<string[]> {
    const { rows } = await this.#db.query<{ id: string }>(DEAD_SQL, [
      ...[DEAD_LATELY_SEC, DEAD_AFTER_SEC, options.byHeartbeat, this.#id],
    ]);
    return rows.map(({ id }) => id);
  }

  /** Says that this process lives; makes its row the first time. Then records the ends that wait. */
  async beat(): Promise<void> {
    await this.#db.query(BEAT_SQL, [this.#id, process.pid, hostname(), VERSION, this.#roles, pidSpace()]);
    await this.#flush();
  }

  /** A child ended: its row says so, and its live sessions are lost. Recorded now, or with a later heartbeat. */
  async childEnded(processId: string): Promise<void> {
    this.#ended = [...this.#ended, processId].slice(-ENDED_WAITING_MAX);
    await this.#flush();
  }

  async #flush(): Promise<void> {
    for (const processId of [...this.#ended]) {
      await this.#db.query(END_SQL, [[processId]]);
      await this.#onLost(processId);
      this.#ended = this.#ended.filter((waiting) => waiting !== processId);
    }
  }

  async end(): Promise<void> {
    await this.#flush();
    await this.#db.query(END_SQL, [[this.#id]]);
  }

  /** Deletes rows of processes that are long gone. */
  async forget(): Promise<void> {
    await this.#db.query(FORGET_SQL, [KEPT_DAYS]);
  }
}

/** What pids are counted in: containers of one host name may each have their own. Systems without are one space. */
function pidSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Not Linux.
    return 'machine';
  }
}
