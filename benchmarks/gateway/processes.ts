/** Processes under measurement: started, pinned to a core, their time and memory read from /proc, ended. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { cpus } from 'node:os';

/** Clock ticks a second of /proc/PID/stat (USER_HZ, 100 on every Linux that Node runs on). */
const TICKS_PER_SEC = 100;
const PAGE_BYTES = 4096;
const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 30_000;

/** Whether processes can be kept on cores of their own here. */
export const canPin: boolean = cpus().length >= 2 && commandExists('taskset');

function commandExists(name: string): boolean {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    // Reported in the results: figures are then of processes that share cores.
    return false;
  }
}

const running = new Set<ChildProcess>();
// An interrupted run leaves nothing behind: 'exit' is the last moment at which signals can still be sent.
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

export interface StartOptions {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Null: wherever the machine puts it. */
  core: number | null;
  cwd: string;
}

/** A child that says JSON lines on stdout. */
export class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #errors = '';

  constructor({ args, env, core, cwd }: StartOptions) {
    const command =
      canPin && core !== null ? ['taskset', '-c', String(core), process.execPath] : [process.execPath];
    this.process = spawn(command[0]!, [...command.slice(1), ...args], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.process);
    this.process.once('exit', () => running.delete(this.process));
    this.process.stderr!.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString('utf8')).slice(-4_000);
    });
    this.#lines = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** The next JSON line. Throws with what the child said on stderr when it ends or says nothing in time. */
  async line<T>(timeoutMs = START_TIMEOUT_MS): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`no line within ${timeoutMs} ms: ${this.#errors}`)),
        timeoutMs,
      );
    });
    try {
      const next = await Promise.race([this.#lines.next(), late]);
      if (next.done === true) throw new Error(`a process ended too early: ${this.#errors}`);
      return JSON.parse(next.value) as T;
    } finally {
      clearTimeout(timer);
    }
  }

  /** SIGTERM, and SIGKILL when that is not heard. */
  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }
}

/** Moves a process with all its threads to one core. */
export function pin(pid: number, core: number): void {
  if (canPin) execFileSync('taskset', ['-a', '-cp', String(core), String(pid)], { stdio: 'ignore' });
}

/** CPU seconds that a process has used so far, all threads, user and kernel. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in parentheses may hold spaces: fields are counted from behind it. utime and stime are 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SEC;
}

/** CPU seconds that all processes together have used since the machine started. */
export function machineSeconds(): number {
  // user, nice, system, idle, iowait, irq, softirq: all but the two kinds of idling count.
  const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'latin1')
    .split('\n', 1)[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user! + nice! + system! + irq! + softirq!) / TICKS_PER_SEC;
}

/** Resident bytes of a process. */
export function residentBytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES;
}

/** Processes that `pid` started itself. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
}

/** The command line of a process, its parts joined by spaces. */
export function commandLine(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
}
