import type { Clock } from '../../../kernel/clock.ts';
import { Slots, SlotsFullError } from '../../../kernel/slots.ts';
import { runChild } from './child.ts';
import { SpeechError } from './speech.type.ts';
import type { SpeechEngine, Voice } from './speech.type.ts';

/** 1,200 characters take espeak-ng well below a second. */
const TIME_LIMIT_MS = 20_000;
/** 12 minutes at 22,050 Hz, pcm16: 1,200 digits read out one by one. */
const SPEECH_BYTES_MAX = 33_554_432;
const LIST_BYTES_MAX = 1_048_576;
const VOICES_MAX = 1_000;
const CHILDREN_MAX = 2;
const WAITING_MAX = 64;
/** How long the list of voices is believed; an engine installed meanwhile is found after it. */
const VOICES_LIVE_MS = 60_000;

export interface EspeakOptions {
  readonly clock: Clock;
  /** A name in PATH, or a path. */
  readonly executable?: string;
  readonly timeLimitMs?: number;
  readonly childrenMax?: number;
  readonly waitingMax?: number;
}

/** Speech by the espeak-ng that is installed, a child process for each text, the text on its stdin. */
export class EspeakEngine implements SpeechEngine {
  readonly #options: EspeakOptions;
  readonly #slots: Slots;
  /** Voice files by voice: of some voices espeak-ng lists a language that it does not find them by. */
  #files: ReadonlyMap<string, string> = new Map();
  #known: { readonly atMs: number; readonly voices: Promise<readonly Voice[]> } | undefined;

  constructor(options: EspeakOptions) {
    this.#options = options;
    this.#slots = new Slots({
      max: options.childrenMax ?? CHILDREN_MAX,
      waitingMax: options.waitingMax ?? WAITING_MAX,
    });
  }

  async voices(): Promise<readonly Voice[]> {
    const nowMs = this.#options.clock.monotonicMs();
    if (!this.#known || nowMs - this.#known.atMs > VOICES_LIVE_MS) {
      const known = { atMs: nowMs, voices: this.#list() };
      this.#known = known;
      // A failure is not kept: whoever asks next tries again.
      known.voices.catch(() => {
        if (this.#known === known) this.#known = undefined;
      });
    }
    return this.#known.voices;
  }

  async synthesize({ voiceId, text }: { voiceId: string; text: string }): Promise<Uint8Array> {
    const args = ['-v', this.#files.get(voiceId) ?? voiceId, '-b', '1', '--stdin', '--stdout'];
    return this.#run(args, { input: withoutPhonemes(text), bytesMax: SPEECH_BYTES_MAX });
  }

  async #list(): Promise<readonly Voice[]> {
    try {
      const table = await this.#run(['--voices'], { input: '', bytesMax: LIST_BYTES_MAX });
      const listed = parseVoices(table.toString('utf8'));
      this.#files = new Map(listed.map(({ voiceId, file }) => [voiceId, file]));
      return listed.map(({ voiceId, name, language }) => ({ voiceId, name, language }));
    } catch (error) {
      if (error instanceof SpeechError && error.fault === 'missing') return [];
      throw error;
    }
  }

  async #run(args: readonly string[], of: { input: string; bytesMax: number }): Promise<Buffer> {
    const { executable = 'espeak-ng', timeLimitMs = TIME_LIMIT_MS } = this.#options;
    try {
      return await this.#slots.run(() => runChild({ executable, args, timeLimitMs, ...of }));
    } catch (error) {
      if (!(error instanceof SlotsFullError)) throw error;
      throw new SpeechError('busy', 'too many texts wait to be spoken');
    }
  }
}

/** espeak-ng reads `[[…]]` as phonemes; what users write is text. */
const withoutPhonemes = (text: string): string => text.replaceAll('[[', '[ [');

type ListedVoice = Voice & { readonly file: string };

/** The table of `espeak-ng --voices`: priority, language, age and gender, name, file. The first voice of a language counts. */
function parseVoices(table: string): ListedVoice[] {
  const voices = new Map<string, ListedVoice>();
  for (const line of table.split('\n')) {
    const match = /^\s*\d+\s+([A-Za-z0-9-]+)\s+\S+\s+(\S+)\s+(\S+)/.exec(line);
    const [, language, name, file] = match ?? [];
    if (!language || !name || !file || voices.has(language) || voices.size >= VOICES_MAX) continue;
    voices.set(language, { voiceId: language, name: name.replaceAll('_', ' '), language, file });
  }
  return [...voices.values()];
}
