import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

/** The built command: `npm run build` comes before the tests. */
const COMMAND = fileURLToPath(new URL('../../dist/main/cli/tonegate.js', import.meta.url));
const START_LIMIT_MS = 90_000;
const COMMAND_LIMIT_MS = 90_000;

export interface ReadyLine {
  event: 'ready';
  http: string;
  detect: string;
  auth: string;
  internal: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningService {
  readonly pid: number;
  /** Parsed from stdout; rejects with the log when the process ends before. */
  readonly ready: Promise<ReadyLine>;
  readonly exited: Promise<Exit>;
  stdout(): string;
  /** The log. */
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
}

/** Nothing of the machine's own settings reaches a service under test. */
function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: process.env.HOME, LOG_FORMAT: 'json', ...env };
}

const FREE_PORTS = { HTTP_PORT: '0', DETECT_PORT: '0', AUTH_PORT: '0', INTERNAL_PORT: '0' };

/** A fresh data folder, and the end of all that was left running in it. */
export async function dataFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), 'tonegate-data-'));
  const path = join(parent, 'data');
  return {
    path,
    remove: async () => {
      const orphan = await postgresPid(path);
      if (orphan !== null) process.kill(orphan, 'SIGQUIT');
      await until(() => orphan === null || !isRunning(orphan), 20_000, 'the end of PostgreSQL');
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** The PostgreSQL of a data folder, when it runs. */
export async function postgresPid(dataDir: string): Promise<number | null> {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  // It may go away between a look and the reading.
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const pid = Number(text.split('\n')[0]);
  return isRunning(pid) ? pid : null;
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Starts the built service on free ports. */
export function startService(env: Record<string, string>, args: string[] = []): RunningService {
  const child = spawn(process.execPath, [COMMAND, 'start', ...args], {
    cwd: tmpdir(),
    env: environment({ ...FREE_PORTS, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.on('exit', (code, signal) => {
      exit = { code, signal };
      resolve(exit);
    });
  });
  const ready = until(() => stdout.includes('\n') || exit, START_LIMIT_MS, 'the ready line').then(() => {
    if (!stdout.includes('\n')) throw new Error(`the service ended (${JSON.stringify(exit)}):\n${stderr}`);
    return JSON.parse(stdout.split('\n')[0] ?? '') as ReadyLine;
  });
  // A test that waits for the exit alone has no use for the line.
  ready.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    ready,
    exited,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
  };
}

/** Ends a service (if it still runs) and waits for it. */
export async function stopService(service: RunningService | undefined): Promise<void> {
  if (!service) return;
  service.kill('SIGTERM');
  const isGone = await Promise.race([
    service.exited.then(() => true),
    new Promise<false>((resolve) => setTimeout(() => resolve(false), 40_000).unref()),
  ]);
  if (!isGone) service.kill('SIGKILL');
  await service.exited;
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export async function tonegate(args: string[], env: Record<string, string> = {}): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { env: environment(env), cwd: tmpdir(), timeout: COMMAND_LIMIT_MS };
    execFile(process.execPath, [COMMAND, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}
