import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileStorage, StorageLimitError } from '../../../src/platform/storage/index.ts';
import type { Storage } from '../../../src/platform/storage/index.ts';

interface Installation {
  storage: Storage;
  close(): Promise<void>;
}

/** What every driver of the storage port keeps to. */
const drivers: { name: string; make(): Promise<Installation> }[] = [
  {
    name: 'file',
    async make() {
      const folder = await mkdtemp(join(tmpdir(), 'tonegate-storage-'));
      return {
        // Deeper than any key below climbs: a driver that takes one as a path still stays in the test's own folder.
        storage: new FileStorage(join(folder, 'a', 'b', 'c', 'd', 'media')),
        close: () => rm(folder, { recursive: true, force: true }),
      };
    },
  },
];

const LIMIT = { bytesMax: 1_000_000 };
const read = async (storage: Storage, key: string): Promise<Buffer | null> => {
  const file = await storage.get(key);
  return file && buffer(file.stream);
};

describe.each(drivers)('the $name storage', (driver) => {
  let storage: Storage;
  let installation: Installation;
  beforeEach(async () => {
    installation = await driver.make();
    ({ storage } = installation);
  });
  afterEach(() => installation.close());

  it('gives back what was put, whatever the chunks', async () => {
    const bytes = randomBytes(300_000);
    const chunks = Array.from({ length: 30 }, (_, n) => bytes.subarray(n * 10_000, (n + 1) * 10_000));
    const key = randomUUID();
    expect(await storage.put(key, Readable.from(chunks), LIMIT)).toEqual({ sizeBytes: 300_000 });
    const file = await storage.get(key);
    expect(file?.sizeBytes).toBe(300_000);
    expect((await buffer(file!.stream)).equals(bytes)).toBe(true);
    expect(await storage.stat(key)).toMatchObject({ sizeBytes: 300_000 });
  });

  it('finds nothing where nothing was put', async () => {
    const key = randomUUID();
    expect(await storage.get(key)).toBeNull();
    expect(await storage.stat(key)).toBeNull();
    expect(await storage.delete(key)).toBe(false);
  });

  it('takes the key in either case of its letters', async () => {
    const key = randomUUID();
    await storage.put(key, [Buffer.from('a')], LIMIT);
    expect(String(await read(storage, key.toUpperCase()))).toBe('a');
  });

  it('replaces what was there and deletes it', async () => {
    const key = randomUUID();
    await storage.put(key, [Buffer.from('first, and longer')], LIMIT);
    await storage.put(key, [Buffer.from('second')], LIMIT);
    expect(String(await read(storage, key))).toBe('second');
    expect(await storage.delete(key)).toBe(true);
    expect(await read(storage, key)).toBeNull();
  });

  it('keeps what was there when a put fails, is cut off or brings too much', async () => {
    const key = randomUUID();
    await storage.put(key, [Buffer.from('kept')], LIMIT);
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      throw new Error('the line was cut');
    }
    await expect(storage.put(key, failing(), LIMIT)).rejects.toThrow('the line was cut');
    const tooMuch = storage.put(key, [randomBytes(60), randomBytes(41)], { bytesMax: 100 });
    await expect(tooMuch).rejects.toThrow(StorageLimitError);
    expect(String(await read(storage, key))).toBe('kept');
    expect(await storage.put(key, [randomBytes(60), randomBytes(40)], { bytesMax: 100 })).toEqual({
      sizeBytes: 100,
    });
  });

  it('asks its source for no more once there is too much', async () => {
    let given = 0;
    let isEnded = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          given += 1;
          yield Buffer.alloc(10);
        }
      } finally {
        isEnded = true;
      }
    }
    await expect(storage.put(randomUUID(), endless(), { bytesMax: 100 })).rejects.toThrow(StorageLimitError);
    expect({ given, isEnded }).toEqual({ given: 11, isEnded: true });
  });

  it('lets a reader finish what is replaced or deleted meanwhile', async () => {
    const key = randomUUID();
    const bytes = randomBytes(500_000);
    await storage.put(key, [bytes], LIMIT);
    const file = await storage.get(key);
    await storage.put(key, [Buffer.from('new')], LIMIT);
    await storage.delete(key);
    expect((await buffer(file!.stream)).equals(bytes)).toBe(true);
  });

  it('keeps one whole file of many puts at once', async () => {
    const key = randomUUID();
    const values = Array.from({ length: 8 }, (_, n) => Buffer.alloc(100_000, n));
    await Promise.all(values.map((value) => storage.put(key, [value], LIMIT)));
    const kept = await read(storage, key);
    expect(values.some((value) => kept?.equals(value))).toBe(true);
  });

  it.each(['../../outside', '', 'a', `${randomUUID()}/x`, `..${randomUUID()}`])(
    'takes no key but a UUID: %j',
    async (key) => {
      await expect(storage.put(key, [Buffer.from('x')], LIMIT)).rejects.toThrow(RangeError);
      await expect(storage.get(key)).rejects.toThrow(RangeError);
      await expect(storage.stat(key)).rejects.toThrow(RangeError);
      await expect(storage.delete(key)).rejects.toThrow(RangeError);
    },
  );
});

describe('the file storage', () => {
  let parent: string;
  beforeEach(async () => void (parent = await mkdtemp(join(tmpdir(), 'tonegate-storage-'))));
  afterEach(() => rm(parent, { recursive: true, force: true }));

  it('keeps folders and files to itself', async () => {
    const storage = new FileStorage(join(parent, 'media'));
    const key = randomUUID();
    await storage.put(key, [Buffer.from('x')], LIMIT);
    const modeOf = async (...path: string[]) => (await stat(join(parent, ...path))).mode & 0o777;
    expect(await modeOf('media')).toBe(0o700);
    expect(await modeOf('media', key.slice(0, 2))).toBe(0o700);
    expect(await modeOf('media', key.slice(0, 2), key)).toBe(0o600);
  });

  it('leaves nothing of a put that failed, and sweeps only what was left long ago', async () => {
    const folder = join(parent, 'media');
    const storage = new FileStorage(folder);
    expect(await storage.sweep(Date.now())).toBe(0);
    await storage.put(randomUUID(), [Buffer.alloc(2)], { bytesMax: 1 }).catch(() => undefined);
    expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
    const nowMs = 1_800_000_000_000;
    let opened = (): void => undefined;
    const isOpen = new Promise<void>((resolve) => (opened = resolve));
    let close = (): void => undefined;
    const isClosed = new Promise<void>((resolve) => (close = resolve));
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('x');
      opened();
      await isClosed;
    }
    const key = randomUUID();
    const put = storage.put(key, slow(), LIMIT);
    await isOpen;
    const [name] = await readdir(join(folder, 'unfinished'));
    await utimes(join(folder, 'unfinished', name!), nowMs / 1_000, nowMs / 1_000);
    expect(await storage.sweep(nowMs)).toBe(0);
    expect(await storage.sweep(nowMs + 1)).toBe(1);
    close();
    await expect(put).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await storage.stat(key)).toBeNull();
  });
});
