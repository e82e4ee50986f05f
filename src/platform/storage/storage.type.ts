import type { Readable } from 'node:stream';

/**
 * The storage port: bytes under keys that this service made (UUIDs), so that nothing of a client ever becomes a path.
 * What is there is always whole: a `put` that fails or is cut off leaves what was there before.
 */
export interface Storage {
  /** Stores all that `source` gives and replaces what was there. @throws StorageLimitError past `bytesMax` */
  put(
    key: string,
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    limit: { readonly bytesMax: number },
  ): Promise<{ sizeBytes: number }>;
  /** The bytes as they are now, whatever happens to the key meanwhile; null: nothing there. Read it or destroy it. */
  get(key: string): Promise<StoredFile | null>;
  stat(key: string): Promise<StoredStat | null>;
  /** False: nothing was there. */
  delete(key: string): Promise<boolean>;
}

export interface StoredFile {
  readonly sizeBytes: number;
  readonly stream: Readable;
}

export interface StoredStat {
  readonly sizeBytes: number;
  /** Epoch milliseconds. */
  readonly modifiedAtMs: number;
}

/** More bytes came than the caller of `put` takes. */
export class StorageLimitError extends Error {
  readonly bytesMax: number;

  constructor(bytesMax: number) {
    super(`more than ${bytesMax} bytes`);
    this.name = 'StorageLimitError';
    this.bytesMax = bytesMax;
  }
}
