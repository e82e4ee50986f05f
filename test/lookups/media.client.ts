import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { ApiAnswer, TestAccount } from '../_util/api.ts';
import { sine, wavOf } from '../platform/audio/wav.ts';
import type { LookupsWorld } from './world.ts';

/** A second of 440 Hz at 16 kHz. */
export const WAV = wavOf(sine({ rateHz: 16_000, hz: 440, seconds: 1 }), { rateHz: 16_000 });
/** The same as MP3. */
export const MP3 = readFileSync(
  fileURLToPath(new URL('../platform/audio/tone-440-22050-vbr.mp3', import.meta.url)),
);
export const MIB = 1_048_576;

export interface MediaAnswer {
  media_id: string;
  name: string;
  status: string;
  media_exists: boolean;
  duration_ms: number | null;
  audio_url: string | null;
  upload: { mp3: { url: string; content_type: string }; wav: { url: string; content_type: string } };
}

/** Parts of a form: texts, and files with their names. */
export type FormParts = [string, string | [Buffer, string]][];

/** Requests of the media routes. */
export class MediaClient {
  readonly #world: LookupsWorld;

  constructor(world: LookupsWorld) {
    this.#world = world;
  }

  /** An address of ours without its origin. */
  path(url: string): string {
    return url.slice(this.#world.api.url.length);
  }

  async create(as: TestAccount): Promise<MediaAnswer> {
    const body = { name: 'Greeting', type: 'audio', signed_upload: true };
    const answer = await this.#world.api.request('POST', '/media/public/media', { as, body });
    expect(answer.status).toBe(201);
    return answer.data as MediaAnswer;
  }

  put(url: string, bytes: Buffer, type = 'audio/wav'): Promise<ApiAnswer> {
    return this.#world.api.request('PUT', this.path(url), { body: bytes, headers: { 'content-type': type } });
  }

  upload(as: TestAccount, parts: FormParts): Promise<ApiAnswer> {
    const body = new FormData();
    for (const [name, value] of parts) {
      if (typeof value === 'string') body.append(name, value);
      else body.append(name, new Blob([new Uint8Array(value[0])], { type: 'audio/wav' }), value[1]);
    }
    return this.#world.api.request('POST', '/media/public/media', { as, body });
  }

  complete(as: TestAccount, id: string): Promise<ApiAnswer> {
    return this.#world.api.request('POST', `/media/public/media/${id}/complete`, { as });
  }

  get(as: TestAccount, id: string): Promise<ApiAnswer> {
    return this.#world.api.request('GET', `/media/public/media/${id}`, { as });
  }

  remove(as: TestAccount, id: string): Promise<ApiAnswer> {
    return this.#world.api.request('DELETE', `/media/public/media/${id}`, { as });
  }

  /** Files that are on disk, kept or on their way in. */
  filesOnDisk(): string[] {
    return readdirSync(this.#world.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name);
  }
}
