import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../logger/index.ts';
import { EmbeddedError } from './binaries.ts';

/** Each stage of ending a server has this long: fast shutdown, immediate shutdown, kill. */
const STAGE_LIMIT_MS = 10_000;
const POLL_MS = 20;

/** Whether a process with this id runs (another account's too). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The server that owns a cluster folder by its postmaster.pid, if it still runs and is a PostgreSQL. */
export async function findServer(clusterDir: string): Promise<number | null> {
  let text: string;
  try {
    text = await readFile(`${clusterDir}/postmaster.pid`, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const pid = Number(text.split('\n')[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1 || !isAlive(pid)) return null;
  return (await isPostgres(pid, clusterDir)) ? pid : null;
}

/** The id may have been given to another program since; where there is no /proc, the file is believed. */
async function isPostgres(pid: number, clusterDir: string): Promise<boolean> {
  try {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    return words.some((word) => word.endsWith('postgres')) && words.includes(clusterDir);
  } catch {
    return process.platform !== 'linux' && isAlive(pid);
  }
}

/** Ends a server that an earlier process left behind (kill -9). What it committed is on disk; a new start recovers. */
export async function endServer(pid: number, logger: Logger): Promise<void> {
  logger.warn({ postgres_pid: pid }, 'An earlier process left its PostgreSQL behind; it is ended.');
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw error;
    }
    if (await isGone(pid)) return;
  }
  throw new EmbeddedError(`the PostgreSQL left behind (pid ${pid}) cannot be ended`);
}

async function isGone(pid: number): Promise<boolean> {
  const rounds = STAGE_LIMIT_MS / POLL_MS;
  for (let round = 0; round < rounds; round += 1) {
    if (!isAlive(pid) || (await isZombie(pid))) return true;
    await delay(POLL_MS);
  }
  return false;
}

/** An ended orphan whose new parent (a container's first process) does not collect it. */
async function isZombie(pid: number): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}
