import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isUuid } from '../../kernel/ids.ts';
import { StorageLimitError } from './storage.type.ts';
import type { Storage, StoredFile, StoredStat } from './storage.type.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Files begin in a folder beside the final ones; what a killed process left there is swept. */
const UNFINISHED = 'unfinished';

/** Files in a folder of their own, mode 700, spread over 256 folders by the first two digits of their key. */
export class FileStorage implements Storage {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(
    key: string,
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    { bytesMax }: { bytesMax: number },
  ): Promise<{ sizeBytes: number }> {
    const path = this.#path(key);
    const unfinished = join(this.#folder, UNFINISHED, randomUUID());
    await mkdir(dirname(unfinished), { recursive: true, mode: FOLDER_MODE });
    await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
    try {
      const sizeBytes = await write(unfinished, source, bytesMax);
      await rename(unfinished, path);
      await syncFolder(dirname(path));
      return { sizeBytes };
    } catch (error) {
      await removed(unfinished);
      throw error;
    }
  }

  async get(key: string): Promise<StoredFile | null> {
    const file = await openIfThere(this.#path(key));
    if (!file) return null;
    try {
      const { size } = await file.stat();
      return { sizeBytes: size, stream: file.createReadStream() };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async stat(key: string): Promise<StoredStat | null> {
    try {
      const { size, mtimeMs } = await stat(this.#path(key));
      return { sizeBytes: size, modifiedAtMs: Math.trunc(mtimeMs) };
    } catch (error) {
      return nullIfMissing(error);
    }
  }

  async delete(key: string): Promise<boolean> {
    return removed(this.#path(key));
  }

  /** Removes what killed processes left unfinished, when it was last written before `beforeMs`. How many files. */
  async sweep(beforeMs: number): Promise<number> {
    const folder = join(this.#folder, UNFINISHED);
    const names = await readdir(folder).catch(nullIfMissing);
    let swept = 0;
    for (const name of names ?? []) {
      const path = join(folder, name);
      const found = await stat(path).catch(nullIfMissing);
      if (found && found.mtimeMs < beforeMs && (await removed(path))) swept += 1;
    }
    return swept;
  }

  #path(key: string): string {
    if (!isUuid(key)) throw new RangeError('a storage key is a UUID');
    const name = key.toLowerCase();
    return join(this.#folder, name.slice(0, 2), name);
  }
}

async function write(
  path: string,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
): Promise<number> {
  const file = await open(path, 'wx', FILE_MODE);
  try {
    let sizeBytes = 0;
    for await (const chunk of source) {
      sizeBytes += chunk.byteLength;
      if (sizeBytes > bytesMax) throw new StorageLimitError(bytesMax);
      await file.writeFile(chunk);
    }
    await file.sync();
    return sizeBytes;
  } finally {
    await file.close();
  }
}

/** A rename outlives a power cut only when its folder was synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  return open(path, 'r').catch(nullIfMissing);
}

async function removed(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    nullIfMissing(error);
    return false;
  }
}

function nullIfMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}
