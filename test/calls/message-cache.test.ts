import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MessageCache } from '../../src/features/detection/index.ts';
import type { MessageCacheOptions } from '../../src/features/detection/play/message.cache.ts';
import { FileStorage } from '../../src/platform/storage/index.ts';
import { wavOf } from '../platform/audio/wav.ts';

/** mu-law of one second. */
const SECOND = 8_000;

describe('the messages of calls', () => {
  let folder: string;
  let storage: FileStorage;
  let reads: string[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tonegate-messages-'));
    storage = new FileStorage(folder);
    reads = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const cacheOf = (options: Partial<MessageCacheOptions> = {}): MessageCache =>
    new MessageCache({
      storage: {
        get: (key) => {
          reads.push(key);
          return storage.get(key);
        },
        stat: (key) => storage.stat(key),
      },
      ...options,
    });

  const put = async (seconds: number, key: string = randomUUID(), code = 0x55): Promise<string> => {
    const file = wavOf(Buffer.alloc(seconds * SECOND, code), { tag: 7, bits: 8 });
    await storage.put(key, [file], { bytesMax: file.length });
    return key;
  };

  it('reads a file once for all calls that ask for it, at the same time and later', async () => {
    const cache = cacheOf();
    const key = await put(1);
    const held = await Promise.all([cache.take(key), cache.take(key), cache.take(key)]);
    for (const message of held) message.release();
    const later = await cache.take(key);
    expect(later.audio).toBe(held[0]?.audio);
    expect(later.audio).toHaveLength(SECOND);
    expect(reads).toEqual([key]);
    expect(cache.bytes).toBe(SECOND);
  });

  it('reads a file again that was replaced, and plays none that was deleted', async () => {
    const cache = cacheOf();
    const key = await put(1);
    const first = await cache.take(key);
    await put(2, key, 0x44);
    const second = await cache.take(key);
    expect(second.audio.equals(Buffer.alloc(2 * SECOND, 0x44))).toBe(true);
    // The call that holds the first one is not disturbed.
    expect(first.audio.equals(Buffer.alloc(SECOND, 0x55))).toBe(true);
    await storage.delete(key);
    await expect(cache.take(key)).rejects.toThrow('no such file');
  });

  it('drops what no call holds, the longest unused first, and never what one holds', async () => {
    const cache = cacheOf({ idleBytesMax: 2 * SECOND });
    const [a, b, c] = [await put(1), await put(1), await put(1)];
    const held = [await cache.take(a), await cache.take(b), await cache.take(c)];
    expect(cache.bytes).toBe(3 * SECOND);
    for (const one of held) one.release();
    expect(cache.bytes).toBe(2 * SECOND);
    (await cache.take(c)).release();
    (await cache.take(b)).release();
    expect(reads).toEqual([a, b, c]);
    await cache.take(a);
    expect(reads).toEqual([a, b, c, a]);
  });

  it('takes no more than it has room for, and again when there is', async () => {
    const cache = cacheOf({ bytesMax: 3 * SECOND, idleBytesMax: 3 * SECOND });
    const [a, b, c] = [await put(2), await put(1), await put(1)];
    const first = await cache.take(a);
    const second = await cache.take(b);
    await expect(cache.take(c)).rejects.toThrow('too much audio');
    second.release();
    // Given back twice counts once.
    second.release();
    await cache.take(c);
    expect(cache.bytes).toBe(3 * SECOND);
    first.release();
    expect((await cache.take(a)).audio).toBe(first.audio);
  });

  it('counts its bytes right whatever is taken, dropped and given back at the same time', async () => {
    const cache = cacheOf({ bytesMax: 6 * SECOND, idleBytesMax: SECOND });
    const keys = await Promise.all([1, 1, 2, 2, 3].map((seconds) => put(seconds)));
    const rounds = Array.from({ length: 60 }, (_, n) => keys[(n * 7) % keys.length]!);
    await Promise.all(
      rounds.map(async (key) => {
        const message = await cache.take(key).catch(() => null);
        await new Promise((resolve) => setImmediate(resolve));
        message?.release();
        expect(cache.bytes).toBeLessThanOrEqual(6 * SECOND);
      }),
    );
    expect(cache.pending).toBe(0);
    expect(cache.bytes).toBeLessThanOrEqual(SECOND);
  });

  it('leaves the loop free while a long message is made ready', async () => {
    const cache = cacheOf();
    const key = await put(600);
    let turns = 0;
    const taken = cache.take(key);
    const count = (): void => {
      turns += 1;
      if (cache.pending > 0) setImmediate(count);
    };
    setImmediate(count);
    expect((await taken).audio).toHaveLength(600 * SECOND);
    // One for each block of 2 s at least.
    expect(turns).toBeGreaterThan(290);
  });
});
