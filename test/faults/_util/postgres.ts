import type { Ledger } from './ledger.ts';

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
