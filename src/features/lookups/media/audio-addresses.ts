import type { Clock } from '../../../kernel/clock.ts';
import { CipherError } from '../../../platform/db/index.ts';
import type { Cipher } from '../../../platform/db/index.ts';
import type { Storage, StoredFile } from '../../../platform/storage/index.ts';
import { notFound } from '../input.rules.ts';

/** Binds the sealed text to this use. */
const CONTEXT = 'audio-address';
const PATH = '/media/public/audio';

export interface AudioAddressesOptions {
  cipher: Cipher;
  clock: Clock;
  storage: Storage;
  publicUrl: () => string;
}

/**
 * Addresses that play one stored file without a key until they expire. The key of the file and the end are sealed in the
 * address, so it can be neither guessed nor changed, and nothing about it is stored.
 */
export class AudioAddresses {
  readonly #options: AudioAddressesOptions;

  constructor(options: AudioAddressesOptions) {
    this.#options = options;
  }

  of(storageKey: string, expiresAtMs: number): string {
    const { cipher, publicUrl } = this.#options;
    const token = cipher.encrypt(`${expiresAtMs} ${storageKey}`, CONTEXT);
    return `${publicUrl()}${PATH}/${token}`;
  }

  /** @throws Problem not-found (made up, changed, expired, or the file is gone) */
  async open(token: string): Promise<StoredFile> {
    const { clock, storage } = this.#options;
    const [expiresAtMs, storageKey] = this.#unseal(token).split(' ');
    const isLive = Number(expiresAtMs) > clock.nowMs();
    const file = isLive && storageKey ? await storage.get(storageKey) : null;
    if (!file) throw notFound('audio');
    return file;
  }

  #unseal(token: string): string {
    try {
      return this.#options.cipher.decrypt(token, CONTEXT);
    } catch (error) {
      if (error instanceof CipherError) throw notFound('audio');
      throw error;
    }
  }
}
