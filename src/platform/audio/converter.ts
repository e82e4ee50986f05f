import { Slots, SlotsFullError } from '../../kernel/slots.ts';
import { AudioError } from './audio.type.ts';
import type { TelephoneAudio } from './audio.type.ts';
import { ConversionThread } from './conversion.thread.ts';
import type { ConversionJob } from './convert.worker.ts';
import type { TelephoneOptions } from './telephone.ts';

/** Conversions at once: each is a thread that works hard. */
const THREADS_MAX = 2;
const WAITING_MAX = 64;
/** Half an hour of audio at 48 kHz takes some 10 s of a core. */
const TIME_LIMIT_MS = 60_000;
/** A thread without work ends after this. */
const IDLE_MS = 10_000;

export interface ConverterOptions {
  readonly timeLimitMs?: number;
  readonly threadsMax?: number;
  readonly waitingMax?: number;
}

/** Makes uploaded files telephone audio off the event loop: hostile bytes stall nobody, and end with their thread. */
export class AudioConverter {
  readonly #slots: Slots;
  readonly #timeLimitMs: number;
  /** Threads between two jobs. */
  readonly #resting = new Set<ConversionThread>();

  constructor(options: ConverterOptions = {}) {
    this.#slots = new Slots({
      max: options.threadsMax ?? THREADS_MAX,
      waitingMax: options.waitingMax ?? WAITING_MAX,
    });
    this.#timeLimitMs = options.timeLimitMs ?? TIME_LIMIT_MS;
  }

  /**
   * `load` is called when it is this file's turn, so that files that wait take no memory.
   * @throws AudioError not-audio, empty, too-long, too-slow, busy
   */
  async convert(load: () => Promise<Uint8Array>, options: TelephoneOptions): Promise<TelephoneAudio> {
    try {
      return await this.#slots.run(async () => this.#convert({ bytes: await load(), options }));
    } catch (error) {
      if (!(error instanceof SlotsFullError)) throw error;
      throw new AudioError('busy', 'Too many files wait to be read; try again soon.');
    }
  }

  async #convert(job: ConversionJob): Promise<TelephoneAudio> {
    const [rested] = this.#resting;
    const thread = rested ?? new ConversionThread();
    this.#resting.delete(thread);
    let isUsable = false;
    try {
      const answer = await thread.run(job, this.#timeLimitMs);
      isUsable = answer !== null;
      if (answer === null) throw new AudioError('too-slow', 'The file takes too long to read.');
      if ('audio' in answer) return answer.audio;
      throw new AudioError(answer.fault, answer.message);
    } finally {
      if (isUsable) this.#rest(thread);
      else await thread.end();
    }
  }

  #rest(thread: ConversionThread): void {
    this.#resting.add(thread);
    thread.rest(IDLE_MS, () => this.#resting.delete(thread));
  }
}
