import { readFileSync } from 'node:fs';

/** Descriptors beside the sockets: listeners, database, event loop, files. */
const DESCRIPTORS_BESIDE = 128;

/** The process's limit of open descriptors; null where the system does not tell. */
export function descriptorLimit(): number | null {
  let text: string;
  try {
    text = readFileSync('/proc/self/limits', 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const soft = /^Max open files\s+(\S+)/m.exec(text)?.[1];
  return soft === undefined || soft === 'unlimited' ? null : Number(soft);
}

/** Null when `socketsMax` sockets fit under the limit; else the sentence for the operator (runtime.md, MAX_SESSIONS). */
export function descriptorFault(socketsMax: number, limit: number | null): string | null {
  const needed = socketsMax + DESCRIPTORS_BESIDE;
  if (limit === null || needed <= limit) return null;
  return `MAX_SESSIONS needs ${needed} open files and the limit is ${limit}: lower it or raise the limit (ulimit -n)`;
}
