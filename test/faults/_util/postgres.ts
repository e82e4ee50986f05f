import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedCluster, migrate, openDb } from '../../../src/platform/db/index.ts';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import type { TestDb } from '../../_util/index.ts';
import { postgresPid } from '../../_util/service.ts';
import type { Ledger } from './ledger.ts';

/** A PostgreSQL of a test's own, as durable as in production: it may be killed, and comes back by itself. */
export class OwnPostgres {
  readonly #cluster: EmbeddedCluster;
  readonly #folder: string;

  private constructor(cluster: EmbeddedCluster, folder: string) {
    this.#cluster = cluster;
    this.#folder = folder;
  }

  static async start(): Promise<OwnPostgres> {
    const folder = await mkdtemp(join(tmpdir(), 'tonegate-postgres-'));
    const cluster = new EmbeddedCluster({ folder, logger: silentLogger });
    await cluster.start();
    await migrate(cluster.url);
    return new OwnPostgres(cluster, folder);
  }

  /** Its one database; dropping it ends the whole. */
  async testDb(): Promise<TestDb> {
    const { url } = this.#cluster;
    const db = openDb({ url, maxConnections: 4, applicationName: 'tonegate-test', logger: silentLogger });
    return {
      db,
      url,
      drop: async () => {
        await db.close();
        await this.#cluster.stop();
        await rm(this.#folder, { recursive: true, force: true });
      },
    };
  }

  /** Of the server that runs; 0: none does. */
  async pid(): Promise<number> {
    return (await postgresPid(this.#folder)) ?? 0;
  }
}

/** A PostgreSQL stopped in its tracks: every process of it, as a machine that hangs would be. */
export interface Frozen {
  readonly pids: readonly number[];
  thaw(): void;
}

/**
 * SIGSTOPs the server of `postmaster` and all its processes. The postmaster first, so that it makes no new ones;
 * the last is the one that serves `ledger`, by which the others are found.
 */
export async function freezePostgres(ledger: Ledger, postmaster: number): Promise<Frozen> {
  process.kill(postmaster, 'SIGSTOP');
  const stopped = [postmaster];
  const thaw = (): void => {
    for (const pid of stopped.splice(0)) signalIfThere(pid, 'SIGCONT');
  };
  try {
    const rows = await ledger.query<{ pid: number }>(
      'select pid from pg_stat_activity order by pid = pg_backend_pid()',
    );
    for (const { pid } of rows) {
      signalIfThere(pid, 'SIGSTOP');
      stopped.push(pid);
    }
  } catch (error) {
    thaw();
    throw error;
  }
  return { pids: [...stopped], thaw };
}

/** A backend may have ended between the look and the signal. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
