import { hostname } from 'node:os';
import type { Db } from '../platform/db/index.ts';
import { VERSION } from './version.ts';

/** Ended processes waiting to be recorded while the database is away. */
const ENDED_WAITING_MAX = 1_000;
/** Rows of processes that ended are kept as long as the sessions that name them. */
const KEPT_DAYS = 7;

const BEAT_SQL = `
insert into processes (id, role, pid, host, version, stats)
values ($1, 'main', $2, $3, $4, jsonb_build_object('roles', $5::text[]))
on conflict (id) do update set heartbeat_at = now(), ended_at = null`;

const END_SQL = `
with gone as (delete from gateway_loads where process_id = any($1::uuid[]))
update processes set ended_at = now() where id = any($1::uuid[]) and ended_at is null`;

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

  /** Says that this process lives; makes its row the first time. Then records the ends that wait. */
  async beat(): Promise<void> {
    await this.#db.query(BEAT_SQL, [this.#id, process.pid, hostname(), VERSION, this.#roles]);
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
