import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { chmod, link, mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '../../platform/db/index.ts';

const NAME = 'tonegate.lock';
/** Whoever takes over a dead process's lock holds this folder for milliseconds; an older one was left by a kill. */
const TAKEOVER = 'tonegate.lock.takeover';
const TAKEOVER_OLD_MS = 10_000;
const POLL_MS = 50;
/** A command holds the folder for seconds; a service that starts meanwhile waits this long for it. */
const COMMAND_LIMIT_MS = 30_000;
const PS_TIMEOUT_MS = 5_000;

export interface LockHolder {
  readonly pid: number;
  /** Tells the process from a later one with the same id. */
  readonly startedAt: string;
  readonly purpose: 'service' | 'command';
}

/** Another service uses the data folder. */
export class FolderInUse extends Error {
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(`the data folder ${folder} is in use by process ${pid}: stop it or choose another DATA_DIR`);
    this.name = 'FolderInUse';
    this.pid = pid;
  }
}

/** One process a data folder. The lock is a file made by `link`, so that it appears whole or not at all. */
export class FolderLock {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Takes the folder, also from a process that died. @throws FolderInUse for a running service */
  static async take(folder: string, purpose: LockHolder['purpose']): Promise<FolderLock> {
    const path = resolve(folder);
    await mkdir(path, { recursive: true, mode: 0o700 });
    await chmod(path, 0o700);
    const own: LockHolder = { pid: process.pid, startedAt: startOf(process.pid) ?? '', purpose };
    const draft = join(path, `${NAME}.${randomUUID()}`);
    await writeFile(draft, JSON.stringify(own), { mode: 0o600 });
    try {
      for (let waitedMs = 0; ; waitedMs += POLL_MS) {
        if (await linked(draft, join(path, NAME))) return new FolderLock(join(path, NAME));
        const holder = await findHolder(path);
        if (!holder) await removeDead(path);
        else if (holder.purpose === 'service' || waitedMs > COMMAND_LIMIT_MS)
          throw new FolderInUse(path, holder.pid);
        await delay(POLL_MS * (0.5 + Math.random()));
      }
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Synchronous, since the last thing a process does may be this. */
  release(): void {
    rmSync(this.#path, { force: true });
  }
}

/** The running process that holds a folder; null when none does. */
export async function findHolder(folder: string): Promise<LockHolder | null> {
  let holder: LockHolder;
  try {
    holder = JSON.parse(await readFile(join(resolve(folder), NAME), 'utf8')) as LockHolder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  return isAlive(holder.pid) && startOf(holder.pid) === holder.startedAt ? holder : null;
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a dead holder's lock. Two at it at once would remove a fresh lock: one at a time, and looked at again. */
async function removeDead(folder: string): Promise<void> {
  const guard = join(folder, TAKEOVER);
  try {
    await mkdir(guard);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const age = await stat(guard).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    if (age > TAKEOVER_OLD_MS) await rm(guard, { recursive: true, force: true });
    return;
  }
  try {
    if (!(await findHolder(folder))) await rm(join(folder, NAME), { force: true });
  } finally {
    await rmdir(guard);
  }
}

/** When a process started, in any stable text; null when it cannot be read or the process is gone. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc(5): field 22 is the start in clock ticks since boot; fields are counted after the name's last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    if (process.platform === 'linux') return null;
  }
  try {
    const options = { encoding: 'utf8', timeout: PS_TIMEOUT_MS } as const;
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], options).trim() || null;
  } catch {
    return null;
  }
}
