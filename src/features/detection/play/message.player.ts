import { clearFrame, markFrame, mediaFrame } from './platform.present.ts';

/** Bytes of mu-law, 8 kHz, in a millisecond. */
export const BYTES_PER_MS = 8;

/** One frame to the platform: 200 ms. */
const CHUNK_BYTES = 200 * BYTES_PER_MS;

/** The platform has at most so much that it has not played yet: what `clear` takes back and a slow peer holds up. */
export const AHEAD_MS_MAX = 1_000;

/** A mark that is not back by so much after the message's end does not come any more. */
export const MARK_WAIT_MS = 10_000;

/** Two clocks: the wall, monotonic, and the audio received. The further one counts, as for the deadlines of detection. */
export interface PlayTime {
  readonly nowMs: number;
  readonly mediaMs: number;
}

/** One message on its way to the platform: paced, with a mark behind it. */
export class MessagePlayer {
  readonly markName: string;
  readonly #audio: Buffer;
  readonly #streamSid: string;
  readonly #begunAt: PlayTime;
  #sentBytes = 0;
  #isMarked = false;

  /** `audio`: mu-law, 8 kHz. `markName` is not that of another message of the stream. */
  constructor(message: { audio: Buffer; streamSid: string; markName: string; begunAt: PlayTime }) {
    this.#audio = message.audio;
    this.#streamSid = message.streamSid;
    this.markName = message.markName;
    this.#begunAt = message.begunAt;
  }

  /** All of it was sent, its mark too. */
  get isSent(): boolean {
    return this.#isMarked;
  }

  /** Sends what is due. False when the mark is overdue: nothing more comes of this message. */
  pump(time: PlayTime, send: (frame: string) => void): boolean {
    const { nowMs, mediaMs } = this.#begunAt;
    const playedMs = Math.max(time.nowMs - nowMs, time.mediaMs - mediaMs);
    const dueBytes = Math.floor((playedMs + AHEAD_MS_MAX) * BYTES_PER_MS);
    while (this.#sentBytes < this.#audio.length) {
      const from = this.#sentBytes;
      const to = Math.min(this.#audio.length, from + CHUNK_BYTES);
      if (to > dueBytes) break;
      this.#sentBytes = to;
      send(mediaFrame(this.#streamSid, this.#audio.subarray(from, to)));
    }
    if (this.#sentBytes === this.#audio.length && !this.#isMarked) {
      this.#isMarked = true;
      send(markFrame(this.#streamSid, this.markName));
    }
    return playedMs <= this.#audio.length / BYTES_PER_MS + MARK_WAIT_MS;
  }

  /** Takes back what was not played yet. */
  clear(send: (frame: string) => void): void {
    send(clearFrame(this.#streamSid));
  }
}
