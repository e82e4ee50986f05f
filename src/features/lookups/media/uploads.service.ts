import type { Ids } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import { Slots, SlotsFullError } from '../../../kernel/slots.ts';
import type { AudioConverter, AudioFormat, TelephoneAudio } from '../../../platform/audio/index.ts';
import { StorageLimitError } from '../../../platform/storage/index.ts';
import type { Storage } from '../../../platform/storage/index.ts';
import { refusalOf } from './media.refusal.ts';
import { AUDIO_SECONDS_MAX, FILE_BYTES_MAX } from './media.rules.ts';

/** Files on their way in, in one process: bounds the disk they take to 1.6 GB. */
const UPLOADS_MAX = 64;

export interface UploadsOptions {
  ids: Ids;
  /** Where files are kept while they come in. */
  incoming: Storage;
  converter: Pick<AudioConverter, 'convert'>;
}

/** Takes a client's file to disk, reads it in a thread as telephone audio, and forgets the file. */
export class Uploads {
  readonly #options: UploadsOptions;
  readonly #slots = new Slots({ max: UPLOADS_MAX, waitingMax: 0 });

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** @throws Problem payload-too-large, unsupported-media-type, unprocessable, service-unavailable */
  async read(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    format?: AudioFormat,
  ): Promise<TelephoneAudio> {
    try {
      return await this.#slots.run(() => this.#read(source, format));
    } catch (error) {
      if (error instanceof StorageLimitError) {
        throw new Problem('payload-too-large', `The file is larger than ${FILE_BYTES_MAX} bytes.`);
      }
      if (error instanceof SlotsFullError) {
        throw new Problem('service-unavailable', 'Too many files are being uploaded; try again soon.');
      }
      throw refusalOf(error);
    }
  }

  async #read(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    format?: AudioFormat,
  ): Promise<TelephoneAudio> {
    const { ids, incoming, converter } = this.#options;
    const key = ids.uuid();
    await incoming.put(key, source, { bytesMax: FILE_BYTES_MAX });
    try {
      const options = { secondsMax: AUDIO_SECONDS_MAX, ...(format ? { format } : {}) };
      return await converter.convert(() => load(incoming, key), options);
    } finally {
      await incoming.delete(key);
    }
  }
}

async function load(storage: Storage, key: string): Promise<Uint8Array> {
  const file = await storage.get(key);
  if (!file) throw new Error('a file on its way in was taken away');
  const bytes = new Uint8Array(file.sizeBytes);
  let at = 0;
  for await (const chunk of file.stream) {
    bytes.set(chunk as Buffer, at);
    at += (chunk as Buffer).length;
  }
  return bytes;
}
