import { requireScope } from '../../../kernel/caller.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Ids } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import type { AudioConverter, SpeechEngine, TelephoneAudio, Voice } from '../../../platform/audio/index.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Storage } from '../../../platform/storage/index.ts';
import type { LedgerService } from '../../accounts/index.ts';
import { notFound, windowOf } from '../input.rules.ts';
import type { SkipPage } from '../input.rules.ts';
import type { AudioAddresses } from '../media/audio-addresses.ts';
import { AUDIO_SECONDS_MAX, STORED_BYTES_MAX } from '../media/media.rules.ts';
import { noEngine, speechRefusalOf } from './speech.refusal.ts';
import { charactersOf, SPEECH_LIVES_MS, SPEECH_PRODUCT, speechText, speechUnits } from './speech.rules.ts';
import { SpeechStore } from './speech.store.ts';

export interface SpeechOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  storage: Storage;
  converter: Pick<AudioConverter, 'convert'>;
  engine: SpeechEngine;
  addresses: AudioAddresses;
  ledger: Pick<LedgerService, 'capture'>;
}

export interface Speech {
  audioUrl: string;
  expiresAtMs: number;
  characters: number;
}

/** Voices, and speech made of text: paid by started hundreds of characters, kept for a day. */
export class SpeechService {
  readonly #options: SpeechOptions;
  readonly #store: SpeechStore;

  constructor(options: SpeechOptions) {
    this.#options = options;
    this.#store = new SpeechStore(options.db);
  }

  /** Empty without an engine. @throws Problem insufficient-scope, validation-error, service-unavailable */
  async voices(caller: Caller, page: SkipPage): Promise<readonly Voice[]> {
    requireScope(caller, 'media:read');
    const { take, skip } = windowOf(page);
    return (await this.#voices()).slice(skip, skip + take);
  }

  /**
   * Whether the account may spend is asked before this. What could not be spoken costs nothing.
   * @throws Problem insufficient-scope, validation-error, not-found (voice), unprocessable (nothing to say), service-unavailable
   */
  async synthesize(caller: Caller, input: { voiceId: string; text: string }): Promise<Speech> {
    requireScope(caller, 'voice:send');
    const { db, addresses, ledger } = this.#options;
    const { teamId } = caller;
    const text = speechText(input.text);
    const { speechId, expiresAtMs } = await this.keep(teamId, { voiceId: input.voiceId, text });
    const characters = charactersOf(text);
    const units = speechUnits(characters);
    const charge = { teamId, productCode: SPEECH_PRODUCT, units, causeType: 'speech', causeId: speechId };
    await db.tx((tx) => ledger.capture(tx, [charge]));
    return { audioUrl: addresses.of(speechId, expiresAtMs), expiresAtMs, characters };
  }

  /**
   * Speaks a text into a file that is kept for a day, its id the storage key; charges nothing.
   * @throws Problem not-found (voice), unprocessable, service-unavailable
   */
  async keep(
    teamId: string,
    of: { voiceId: string; text: string },
  ): Promise<{ speechId: string; expiresAtMs: number }> {
    const audio = await this.#speak(of.voiceId, of.text);
    return this.#put(teamId, { voiceId: of.voiceId, characters: charactersOf(of.text), wav: audio.wav });
  }

  /** Keeps audio that came from elsewhere as long as speech. */
  async keepAudio(teamId: string, audio: TelephoneAudio): Promise<{ speechId: string; expiresAtMs: number }> {
    return this.#put(teamId, { voiceId: '', characters: 0, wav: audio.wav });
  }

  /** Ids of the voices; null without an engine that can be asked now. */
  async voiceIds(): Promise<ReadonlySet<string> | null> {
    try {
      return new Set((await this.#voices()).map((voice) => voice.voiceId));
    } catch (error) {
      if (error instanceof Problem) return null;
      throw error;
    }
  }

  async #put(
    teamId: string,
    of: { voiceId: string; characters: number; wav: Uint8Array },
  ): Promise<{ speechId: string; expiresAtMs: number }> {
    const { clock, ids, storage } = this.#options;
    const speechId = ids.uuid();
    const createdAtMs = clock.nowMs();
    const expiresAtMs = createdAtMs + SPEECH_LIVES_MS;
    const { voiceId, characters } = of;
    // The row comes first: a crash before the file leaves a row that is swept, never a file nobody knows.
    await this.#store.insert({ speechId, teamId, voiceId, characters, createdAtMs, expiresAtMs });
    await storage.put(speechId, [of.wav], { bytesMax: STORED_BYTES_MAX });
    return { speechId, expiresAtMs };
  }

  async #speak(voiceId: string, text: string): Promise<TelephoneAudio> {
    const { engine, converter } = this.#options;
    const voices = await this.#voices();
    if (voices.length === 0) {
      throw noEngine();
    }
    if (!voices.some((voice) => voice.voiceId === voiceId)) throw notFound('voice');
    try {
      const wav = await engine.synthesize({ voiceId, text });
      return await converter.convert(async () => wav, { secondsMax: AUDIO_SECONDS_MAX, format: 'wav' });
    } catch (error) {
      throw speechRefusalOf(error);
    }
  }

  async #voices(): Promise<readonly Voice[]> {
    try {
      return await this.#options.engine.voices();
    } catch (error) {
      throw speechRefusalOf(error);
    }
  }
}
