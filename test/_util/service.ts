import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

const COMMAND = join(import.meta.dirname, '../../dist/main/cli/tonegate.js');
/** A first start makes a PostgreSQL cluster; on a busy machine that takes a while. */
const READY_LIMIT_MS = 90_000;
const COMMAND_LIMIT_MS = 60_000;
const LOG_CHARS_MAX = 200_000;

/** The ready line (runtime.md, First start): addresses of what the process serves. */
export interface ReadyLine {
  readonly event: 'ready';
  readonly http?: string;
  readonly detect?: string;
  readonly auth?: string;
  readonly internal: string;
}

/** The fields of credentials.json and of `account create --json`. */
export interface Credentials {
  readonly team_id: string;
  readonly key: string;
  readonly secret: string;
  readonly detection_key: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type Environment = Record<string, string | undefined>;

export interface ServiceOptions {
  /** Beside or over the defaults of `serviceEnv`. */
  readonly env?: Environment;
  /** DATA_DIR; omitted: a fresh folder, see `makeDataDir`. */
  readonly dataDir?: string;
}

/** The environment of a service under test: free ports, local receivers allowed, nothing of the caller's settings. */
export function serviceEnv(dataDir: string, env: Environment = {}): Environment {
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'test',
    DATA_DIR: dataDir,
    HTTP_PORT: '0',
    DETECT_PORT: '0',
    AUTH_PORT: '0',
    INTERNAL_PORT: '0',
    ALLOW_PRIVATE_TARGETS: 'true',
    LOG_FORMAT: 'json',
    SHUTDOWN_GRACE_SEC: '5',
    ...env,
  };
}

/** A fresh folder for DATA_DIR; `removeDataDir` ends what was left running in it and removes it. */
export const makeDataDir = (): Promise<string> => mkdtemp(join(tmpdir(), 'tonegate-data-'));

export async function removeDataDir(dataDir: string): Promise<void> {
  const pid = await postmasterPid(dataDir);
  if (pid !== null && isAlive(pid)) {
    process.kill(pid, 'SIGCONT');
    process.kill(pid, 'SIGQUIT');
    await until(() => !isAlive(pid), 20_000, 'the end of the PostgreSQL that was left behind');
  }
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
}

/** Process id of a folder's embedded PostgreSQL, running or not; null: none was ever started. */
export async function postmasterPid(dataDir: string): Promise<number | null> {
  for (const folder of ['postgres', 'postgres/postgres']) {
    const file = join(dataDir, folder, 'postmaster.pid');
    if (existsSync(file)) return Number((await readFile(file, 'utf8')).split('\n')[0]);
  }
  return null;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A built `tonegate start` as a process of its own, as an operator runs it. */
export class Service {
  readonly ready: ReadyLine;
  readonly dataDir: string;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #said: () => string;
  #exit: Exit | undefined;

  constructor(child: ChildProcess, started: { ready: ReadyLine; dataDir: string; said: () => string }) {
    this.ready = started.ready;
    this.dataDir = started.dataDir;
    this.#child = child;
    this.#said = started.said;
    this.pid = child.pid ?? 0;
    this.exited = exitOf(child);
    void this.exited.then((exit) => (this.#exit = exit));
  }

  /** Undefined while it runs. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** The end of what it logged, for the message of a failing test. */
  get log(): string {
    return this.#said();
  }

  /** Address of the detection route. */
  get detectUrl(): string {
    return `${this.ready.detect}/carrier/ws`;
  }

  signal(name: NodeJS.Signals): void {
    if (!this.#exit) this.#child.kill(name);
  }

  /** kill -9, and waits until it is gone. Its children and its PostgreSQL are left as they are. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  /** SIGTERM, waits; after the limit kill -9, so that no test leaves a process behind. */
  async end(limitMs = 40_000): Promise<Exit> {
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    const late = setTimeout(() => this.signal('SIGKILL'), limitMs);
    const exit = await this.exited;
    clearTimeout(late);
    return exit;
  }

  async credentials(): Promise<Credentials> {
    return JSON.parse(await readFile(join(this.dataDir, 'credentials.json'), 'utf8')) as Credentials;
  }

  /** Status of a path on the internal listener; null when nothing answers within 3 s. */
  async status(path: '/healthz' | '/readyz'): Promise<number | null> {
    try {
      const answer = await fetch(`${this.ready.internal}${path}`, { signal: AbortSignal.timeout(3_000) });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      // Refused, cut or too late: all of them are "no answer" to the one who asks.
      return null;
    }
  }
}

/** Starts the built service and waits for its ready line. Throws with the end of its log when it ends before. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const dataDir = options.dataDir ?? (await makeDataDir());
  const { child, said } = spawnCommand(['start'], serviceEnv(dataDir, options.env));
  let stdout = '';
  let ready: ReadyLine | undefined;
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
    const line = stdout.split('\n').find((text) => text.startsWith('{') && text.includes('"ready"'));
    if (line && stdout.includes(`${line}\n`)) ready ??= JSON.parse(line) as ReadyLine;
  });
  let exit: Exit | undefined;
  void exitOf(child).then((value) => (exit = value));
  try {
    await until(() => ready ?? exit, READY_LIMIT_MS, 'the ready line');
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`${(error as Error).message}\n${said()}`);
  }
  if (!ready)
    throw new Error(`the service ended with ${JSON.stringify(exit)} before it was ready\n${said()}`);
  return new Service(child, { ready, dataDir, said });
}

export interface CommandResult extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one `tonegate` command to its end. */
export async function runCommand(args: string[], env: Environment): Promise<CommandResult> {
  const { child, said } = spawnCommand(args, env);
  let stdout = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  const late = setTimeout(() => child.kill('SIGKILL'), COMMAND_LIMIT_MS);
  const exit = await exitOf(child);
  clearTimeout(late);
  return { ...exit, stdout, stderr: said() };
}

/** An account on the database of `env`, made by the command, with funds for many calls. */
export async function createAccount(env: Environment, options: string[] = []): Promise<Credentials> {
  const args = ['account', 'create', '--name', 'Test', '--funds', '100', '--json', ...options];
  const result = await runCommand(args, env);
  if (result.code !== 0) throw new Error(`account create failed: ${result.stderr}`);
  return JSON.parse(result.stdout) as Credentials;
}

/** Settings for a service on a database of the test's own (without the embedded one). */
export const databaseEnv = (databaseUrl: string): Environment => ({
  DATABASE_URL: databaseUrl,
  MASTER_KEY: randomBytes(32).toString('base64'),
});

function spawnCommand(args: string[], env: Environment): { child: ChildProcess; said: () => string } {
  if (!existsSync(COMMAND)) throw new Error('the service is not built: npm run build');
  const child = spawn(process.execPath, [COMMAND, ...args], {
    // Away from the project, so that no .env of its folder is read.
    cwd: tmpdir(),
    env: env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString('utf8')).slice(-LOG_CHARS_MAX)));
  return { child, said: () => said };
}

async function exitOf(child: ChildProcess): Promise<Exit> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { code: child.exitCode, signal: child.signalCode };
}

/** An ended process that its parent has not collected yet; only Linux shows it. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    // It ended between the two looks.
    return true;
  }
}
