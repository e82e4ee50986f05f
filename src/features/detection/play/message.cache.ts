import { Slots } from '../../../kernel/slots.ts';
import type { Storage } from '../../../platform/storage/index.ts';
import { MessageFault, toMessage } from './message.parser.ts';

/** Largest file that is read (supplement 6: what may be uploaded). */
export const FILE_BYTES_MAX = 25 * 1024 * 1024;

/** mu-law of all messages, those of live calls and those kept for the next: about 18 hours of audio. */
export const MESSAGES_BYTES_MAX = 512 * 1024 * 1024;

/** Of these so much may wait for a next call. */
const IDLE_BYTES_MAX = 64 * 1024 * 1024;

/** Files read and converted at once, and those that wait behind them: two for each call of a full process, and more. */
const LOADS_MAX = 4;
const WAITING_LOADS_MAX = 8_192;

interface Entry {
  readonly version: string;
  readonly audio: Buffer;
  /** Calls that hold it. */
  holders: number;
}

/** A message that a call holds until it gives it back. */
export interface Message {
  /** mu-law, 8 kHz; shared, never written. */
  readonly audio: Buffer;
  release(): void;
}

export interface MessageCacheOptions {
  readonly storage: Pick<Storage, 'get' | 'stat'>;
  readonly bytesMax?: number;
  readonly idleBytesMax?: number;
}

/**
 * Messages as they are played, shared by the calls of a process. A file is read once for all that ask at the same time,
 * and again when it was replaced; one that was deleted is not played any more. What no call holds is kept while there is
 * room, the last used longest.
 */
export class MessageCache {
  readonly #storage: Pick<Storage, 'get' | 'stat'>;
  readonly #bytesMax: number;
  readonly #idleBytesMax: number;
  readonly #slots = new Slots({ max: LOADS_MAX, waitingMax: WAITING_LOADS_MAX });
  /** By version; idle ones in the order of their last use. */
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<Entry>>();
  #bytes = 0;
  #idleBytes = 0;
  #pending = 0;

  constructor(options: MessageCacheOptions) {
    this.#storage = options.storage;
    this.#bytesMax = options.bytesMax ?? MESSAGES_BYTES_MAX;
    this.#idleBytesMax = options.idleBytesMax ?? IDLE_BYTES_MAX;
  }

  /** Bytes of audio held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Messages asked for and not there yet. */
  get pending(): number {
    return this.#pending;
  }

  /** @throws MessageFault, AudioError, SlotsFullError, and what the storage throws */
  async take(key: string): Promise<Message> {
    this.#pending += 1;
    try {
      const entry = await this.#entry(key);
      this.#hold(entry);
      let isHeld = true;
      return {
        audio: entry.audio,
        release: () => {
          if (isHeld) this.#release(entry);
          isHeld = false;
        },
      };
    } finally {
      this.#pending -= 1;
    }
  }

  async #entry(key: string): Promise<Entry> {
    const stat = await this.#storage.stat(key);
    if (!stat) throw new MessageFault('there is no such file');
    if (stat.sizeBytes > FILE_BYTES_MAX)
      throw new MessageFault(`the file is larger than ${FILE_BYTES_MAX} bytes`);
    const version = `${key} ${stat.modifiedAtMs} ${stat.sizeBytes}`;
    const known = this.#entries.get(version);
    if (known) return known;
    const running = this.#loading.get(version);
    if (running) return running;
    const load = this.#slots.run(() => this.#load(key, version)).finally(() => this.#loading.delete(version));
    this.#loading.set(version, load);
    return load;
  }

  async #load(key: string, version: string): Promise<Entry> {
    const audio = await toMessage(await this.#read(key));
    if (!this.#makeRoom(audio.length)) throw new MessageFault('too much audio is being played already');
    const entry = { version, audio, holders: 0 };
    this.#entries.set(version, entry);
    this.#bytes += audio.length;
    this.#idleBytes += audio.length;
    return entry;
  }

  async #read(key: string): Promise<Buffer> {
    const file = await this.#storage.get(key);
    if (!file) throw new MessageFault('there is no such file');
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of file.stream as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > FILE_BYTES_MAX) throw new MessageFault(`the file is larger than ${FILE_BYTES_MAX} bytes`);
      parts.push(part);
    }
    return Buffer.concat(parts);
  }

  #hold(entry: Entry): void {
    if (this.#entries.get(entry.version) !== entry) {
      // Another load took its room before anybody held it.
      this.#entries.set(entry.version, entry);
      this.#bytes += entry.audio.length;
    } else if (entry.holders === 0) this.#idleBytes -= entry.audio.length;
    entry.holders += 1;
  }

  #release(entry: Entry): void {
    entry.holders -= 1;
    if (entry.holders > 0) return;
    this.#idleBytes += entry.audio.length;
    // To the end of the order: just used.
    this.#entries.delete(entry.version);
    this.#entries.set(entry.version, entry);
    this.#makeRoom(0);
  }

  /** Drops idle messages, the longest unused first, until `needed` bytes fit. */
  #makeRoom(needed: number): boolean {
    for (const entry of this.#entries.values()) {
      if (this.#bytes + needed <= this.#bytesMax && this.#idleBytes + needed <= this.#idleBytesMax) break;
      if (entry.holders > 0) continue;
      this.#entries.delete(entry.version);
      this.#bytes -= entry.audio.length;
      this.#idleBytes -= entry.audio.length;
    }
    return this.#bytes + needed <= this.#bytesMax;
  }
}
