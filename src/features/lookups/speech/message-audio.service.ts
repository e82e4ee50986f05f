import { Problem } from '../../../kernel/problem.ts';
import { BodyTooLarge, PostTimeout, TargetRefused } from '../../../platform/net/index.ts';
import type { Net } from '../../../platform/net/index.ts';
import type { AudioAddresses } from '../media/audio-addresses.ts';
import { FILE_BYTES_MAX } from '../media/media.rules.ts';
import type { Uploads } from '../media/uploads.service.ts';
import type { SpeechService } from './speech.service.ts';

/** A file of 25 MiB comes over 7 Mbit/s in this time. */
const FETCH_TIMEOUT_MS = 30_000;

export interface MessageAudioOptions {
  readonly speech: Pick<SpeechService, 'keep' | 'keepAudio' | 'voiceIds'>;
  readonly uploads: Pick<Uploads, 'read'>;
  readonly addresses: Pick<AudioAddresses, 'of'>;
  readonly net: Pick<Net, 'get'>;
}

/** What calls and voicemails play: spoken or fetched into files that are kept for a day. */
export class MessageAudioService {
  readonly #options: MessageAudioOptions;

  constructor(options: MessageAudioOptions) {
    this.#options = options;
  }

  /** Ids of the voices; null: there is no engine to ask. */
  async voices(): Promise<ReadonlySet<string> | null> {
    return this.#options.speech.voiceIds();
  }

  /** The storage key of a spoken text; null: it could not be spoken. */
  async speak(of: { teamId: string; voiceId: string; text: string }): Promise<string | null> {
    return unlessRefused(async () => (await this.#options.speech.keep(of.teamId, of)).speechId);
  }

  /** The storage key of what a public address holds; null: it could not be used. */
  async fetch(of: { teamId: string; url: string }): Promise<string | null> {
    const { net, uploads, speech } = this.#options;
    return unlessRefused(async () => {
      const bounds = { timeoutMs: FETCH_TIMEOUT_MS, bytesMax: FILE_BYTES_MAX };
      const { status, body } = await net.get({ url: of.url, ...bounds });
      if (status !== 200) return null;
      return (await speech.keepAudio(of.teamId, await uploads.read([body]))).speechId;
    });
  }

  /** A public, signed address of a stored file. */
  addressOf(storageKey: string, expiresAtMs: number): string {
    return this.#options.addresses.of(storageKey, expiresAtMs);
  }
}

/** What the other side, the file or the text is to blame for is no fault of this service. */
async function unlessRefused(work: () => Promise<string | null>): Promise<string | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem && error.code !== 'server-error') return null;
    if (error instanceof TargetRefused || error instanceof PostTimeout || error instanceof BodyTooLarge)
      return null;
    // Errors of the connection and of TLS carry a code; our own do not.
    if (error instanceof Error && typeof (error as { code?: unknown }).code === 'string') return null;
    throw error;
  }
}
