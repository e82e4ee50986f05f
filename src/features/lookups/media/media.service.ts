import { requireScope } from '../../../kernel/caller.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Ids } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import { invalidField, requireText } from '../../../kernel/text.ts';
import type { AudioFormat, TelephoneAudio } from '../../../platform/audio/index.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Outbox } from '../../../platform/outbox/index.ts';
import type { Storage } from '../../../platform/storage/index.ts';
import { removalMessage } from '../files.jobs.ts';
import { NAME_LENGTH_MAX, notFound, requireId, searchOf, windowOf } from '../input.rules.ts';
import type { SkipPage } from '../input.rules.ts';
import type { AudioAddresses } from './audio-addresses.ts';
import {
  AUDIO_ADDRESS_LIVES_MS,
  MEDIA_MAX,
  STORED_BYTES_MAX,
  STORED_TYPE,
  TYPE_DEFAULT,
  TYPE_LENGTH_MAX,
  UPLOAD_LIVES_MS,
  UPLOAD_TOKEN_BYTES,
  UPLOAD_TYPES,
  uploadPath,
  uploadTokenHash,
} from './media.rules.ts';
import { MediaStore } from './media.store.ts';
import type { Media } from './media.store.ts';
import type { Uploads } from './uploads.service.ts';

export interface MediaOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  outbox: Outbox;
  storage: Storage;
  uploads: Uploads;
  addresses: AudioAddresses;
  publicUrl: () => string;
}

export interface NewMedia {
  name: string;
  /** Omitted: `audio`. */
  type?: string | undefined;
}

/** A media and an address that plays it for an hour; null until bytes came. */
export type PlayableMedia = Media & { audioUrl: string | null };

/** Where each kind of file is to be PUT, once, with exactly this Content-Type. */
export type UploadAddresses = Record<AudioFormat, { url: string; contentType: string }>;

/**
 * Audio files. States: `pending` (made, waiting for bytes, then for `complete`) → `ready`; a direct upload is `ready` at
 * once. Bytes are kept under the media's id as 8 kHz WAV, whatever was sent.
 */
export class MediaService {
  readonly #options: MediaOptions;
  readonly #store: MediaStore;

  constructor(options: MediaOptions) {
    this.#options = options;
    this.#store = new MediaStore(options.db);
  }

  /** Newest first. @throws Problem insufficient-scope, validation-error */
  async list(
    caller: Caller,
    query: SkipPage & { searchTerm?: string | undefined },
  ): Promise<PlayableMedia[]> {
    requireScope(caller, 'media:read');
    const of = { search: searchOf(query.searchTerm), ...windowOf(query) };
    return (await this.#store.list(caller.teamId, of)).map((media) => this.#playable(media));
  }

  /** @throws Problem insufficient-scope, not-found */
  async get(caller: Caller, mediaId: string): Promise<PlayableMedia> {
    requireScope(caller, 'media:read');
    const media = await this.#store.find(caller.teamId, requireId(mediaId, 'media'));
    if (!media) throw notFound('media');
    return this.#playable(media);
  }

  /** A media whose bytes are yet to be PUT, to one of `upload`. @throws Problem insufficient-scope, validation-error, conflict */
  async create(caller: Caller, input: NewMedia): Promise<{ media: PlayableMedia; upload: UploadAddresses }> {
    requireScope(caller, 'media:write');
    const { db, ids, publicUrl } = this.#options;
    const token = ids.secret(UPLOAD_TOKEN_BYTES);
    const insert = this.#insert(caller, input, uploadTokenHash(token));
    const media = this.#playable(await db.tx(insert));
    const addressOf = (format: AudioFormat) => ({
      url: `${publicUrl()}${uploadPath(format, token)}`,
      contentType: UPLOAD_TYPES[format],
    });
    return { media, upload: { mp3: addressOf('mp3'), wav: addressOf('wav') } };
  }

  /**
   * The bytes of a signed upload; the token is all it needs, and is used up when they are taken.
   * @throws Problem not-found (unknown, used or expired token), payload-too-large, unsupported-media-type, unprocessable
   */
  async receive(
    upload: { token: string; format: AudioFormat },
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<Media> {
    const { db, clock, uploads } = this.#options;
    const tokenHash = uploadTokenHash(upload.token);
    const isOpen = await this.#store.findByToken(tokenHash, clock.nowMs());
    if (!isOpen) throw noUpload();
    const audio = await uploads.read(source, upload.format);
    return db.tx(async (tx) => {
      const nowMs = clock.nowMs();
      const found = await this.#store.lockByToken(tx, { tokenHash, nowMs });
      if (!found) throw noUpload();
      return this.#keep(tx, { ...found, nowMs, state: 'pending' }, audio);
    });
  }

  /** Says that the upload is done. @throws Problem insufficient-scope, not-found, conflict (no bytes came) */
  async complete(caller: Caller, mediaId: string): Promise<{ mediaId: string }> {
    requireScope(caller, 'media:write');
    const { teamId } = caller;
    const id = requireId(mediaId, 'media');
    const nowMs = this.#options.clock.nowMs();
    if (await this.#store.complete({ teamId, mediaId: id, nowMs })) return { mediaId: id };
    if (!(await this.#store.find(teamId, id))) throw notFound('media');
    throw new Problem('conflict', 'No bytes were uploaded for this media yet.');
  }

  /**
   * A media with its bytes at once. `read` is given where the file goes, and answers the form it came with.
   * @throws Problem insufficient-scope, validation-error, conflict, payload-too-large, unsupported-media-type, unprocessable
   */
  async upload(
    caller: Caller,
    read: (take: (file: AsyncIterable<Uint8Array>) => Promise<void>) => Promise<NewMedia>,
  ): Promise<PlayableMedia> {
    requireScope(caller, 'media:write');
    const { db, clock, uploads } = this.#options;
    const files: TelephoneAudio[] = [];
    const form = await read(async (file) => void files.push(await uploads.read(file)));
    const [audio] = files;
    if (!audio) throw invalidField('file', 'Send one file.');
    // Made before its bytes are kept: a crash in between leaves a row that is swept, never a file nobody knows.
    const { mediaId } = await db.tx(this.#insert(caller, form, null));
    const of = { teamId: caller.teamId, mediaId, nowMs: clock.nowMs(), state: 'ready' } as const;
    return this.#playable(await db.tx((tx) => this.#keep(tx, of, audio)));
  }

  /** @throws Problem insufficient-scope, not-found */
  async remove(caller: Caller, mediaId: string): Promise<{ mediaId: string }> {
    requireScope(caller, 'media:write');
    const { outbox } = this.#options;
    const id = requireId(mediaId, 'media');
    await outbox.tx(async (tx) => {
      if (!(await this.#store.remove(tx, caller.teamId, id))) throw notFound('media');
      await outbox.add(tx, [removalMessage(id)]);
    });
    return { mediaId: id };
  }

  /** Checks at once, inserts when it is run. */
  #insert(caller: Caller, input: NewMedia, tokenHash: Buffer | null): (tx: Tx) => Promise<Media> {
    const { ids, clock } = this.#options;
    const name = requireText('name', input.name, NAME_LENGTH_MAX);
    const type = requireText('type', input.type ?? TYPE_DEFAULT, TYPE_LENGTH_MAX);
    const { teamId, userId: createdBy } = caller;
    return async (tx) => {
      if ((await this.#store.lockAndCount(tx, teamId)) >= MEDIA_MAX) {
        throw new Problem('conflict', `The account has ${MEDIA_MAX} media already: delete one first.`);
      }
      const nowMs = clock.nowMs();
      const media = { mediaId: ids.uuid(), name, type, teamId, createdBy, nowMs };
      return this.#store.insert(tx, media, { tokenHash, expiresAtMs: nowMs + UPLOAD_LIVES_MS });
    };
  }

  async #keep(
    tx: Tx,
    of: { teamId: string; mediaId: string; nowMs: number; state: 'pending' | 'ready' },
    audio: TelephoneAudio,
  ): Promise<Media> {
    const bytes = { sizeBytes: audio.wav.length, durationMs: audio.durationMs };
    const media = await this.#store.setBytes(tx, of, {
      ...{ mediaId: of.mediaId, contentType: STORED_TYPE, ...bytes },
    });
    if (!media) throw notFound('media');
    await this.#options.storage.put(of.mediaId, [audio.wav], { bytesMax: STORED_BYTES_MAX });
    return media;
  }

  #playable(media: Media): PlayableMedia {
    const { addresses, clock } = this.#options;
    const expiresAtMs = clock.nowMs() + AUDIO_ADDRESS_LIVES_MS;
    return { ...media, audioUrl: media.sizeBytes === null ? null : addresses.of(media.mediaId, expiresAtMs) };
  }
}

const noUpload = (): Problem =>
  new Problem('not-found', 'This upload address is unknown, was used, or has expired.');
