import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, startService, stopService, tonegate } from '../../_util/service.ts';
import type { CommandResult, Exit, ReadyLine, RunningService } from '../../_util/service.ts';

/** The fields of credentials.json and of `account create --json`. */
export interface Credentials {
  readonly team_id: string;
  readonly key: string;
  readonly secret: string;
  readonly detection_key: string;
}

export type Environment = Record<string, string>;

/** Local receivers are allowed, and an end does not hold up the test. */
const DEFAULTS: Environment = { ALLOW_PRIVATE_TARGETS: 'true', SHUTDOWN_GRACE_SEC: '5' };
const STATUS_LIMIT_MS = 3_000;

/** Settings for a service on a database of the test's own instead of the embedded one. */
export const databaseEnv = (databaseUrl: string): Environment => ({
  DATABASE_URL: databaseUrl,
  MASTER_KEY: randomBytes(32).toString('base64'),
});

/** A built `tonegate start` that is ready. */
export class Service {
  readonly ready: ReadyLine;
  readonly dataDir: string;
  readonly #running: RunningService;

  private constructor(running: RunningService, started: { ready: ReadyLine; dataDir: string }) {
    this.#running = running;
    this.ready = started.ready;
    this.dataDir = started.dataDir;
  }

  /** Rejects with its log when it ends before it is ready. */
  static async start(dataDir: string, env: Environment = {}): Promise<Service> {
    const running = startService({ ...DEFAULTS, DATA_DIR: dataDir, ...env });
    try {
      return new Service(running, { ready: await running.ready, dataDir });
    } catch (error) {
      running.kill('SIGKILL');
      throw error;
    }
  }

  get pid(): number {
    return this.#running.pid;
  }

  get exited(): Promise<Exit> {
    return this.#running.exited;
  }

  get log(): string {
    return this.#running.stderr();
  }

  /** Address of the general detection route. */
  get detectUrl(): string {
    return `${this.ready.detect}/carrier/ws`;
  }

  signal(name: NodeJS.Signals): void {
    this.#running.kill(name);
  }

  /** kill -9, and waits until it is gone; its children and its PostgreSQL are left as they are. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  async end(): Promise<void> {
    this.signal('SIGCONT');
    await stopService(this.#running);
  }

  async credentials(): Promise<Credentials> {
    return JSON.parse(await readFile(join(this.dataDir, 'credentials.json'), 'utf8')) as Credentials;
  }

  /** Status of a path on the internal listener; null when nothing answers. */
  async status(path: '/healthz' | '/readyz'): Promise<number | null> {
    try {
      const answer = await fetch(`${this.ready.internal}${path}`, {
        signal: AbortSignal.timeout(STATUS_LIMIT_MS),
      });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      // Refused, cut or too late: all of them are "no answer" to the one who asks.
      return null;
    }
  }
}

/** Runs `tonegate` with JSON output and gives what it said. */
export async function command<T>(args: string[], env: Environment): Promise<T> {
  const result: CommandResult = await tonegate([...args, '--json'], env);
  if (result.code !== 0) throw new Error(`tonegate ${args.join(' ')} failed: ${result.stderr}`);
  return JSON.parse(result.stdout) as T;
}

/** An account with funds for many calls. */
export const createAccount = (env: Environment): Promise<Credentials> =>
  command<Credentials>(['account', 'create', '--name', 'Test', '--funds', '100'], env);

/** False for an ended process too that nobody has collected yet (only Linux shows those). */
export function isAlive(pid: number): boolean {
  if (!isRunning(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    // It ended between the two looks.
    return false;
  }
}
