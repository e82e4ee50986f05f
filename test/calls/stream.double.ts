import { once } from 'node:events';
import WebSocket from 'ws';

/** What the platform sends in a frame. */
const FRAME_MS = 20;
/** mu-law, 8 kHz. */
const BYTES_PER_MS = 8;
const SILENCE = 0xff;
/** The other side of a call hangs up at last; longer than any plan takes. */
const CALL_MS_MAX = 120_000;

export const SIDS = {
  accountSid: 'AC00000000000000000000000000000001',
  streamSid: 'MZ00000000000000000000000000000001',
};

export interface StreamOptions {
  /** The platform route. */
  readonly url: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly callSid?: string;
  /** What the answering side says, mu-law 8 kHz; silence follows. */
  readonly answer: Uint8Array;
  /** Resolves when the media may begin: after `start` was read. */
  readonly onStarted?: () => Promise<void>;
  /** What happens on the line, by media time. */
  readonly digits?: readonly { readonly atMs: number; readonly digit: string }[];
  readonly hangUpAtMs?: number;
  readonly cutAtMs?: number;
  /** Frames, from 0, that are lost on their way to the service. */
  readonly isLost?: (chunk: number) => boolean;
  /** Longer frames make a long call short; 20 ms when omitted. */
  readonly frameMs?: number;
  /** Further frames, sent once the media has begun. */
  readonly odd?: readonly Record<string, unknown>[];
  /** What plays is not sent back as marks. */
  readonly isMarkless?: boolean;
}

/** Sound that was heard without a gap: `atMs` is the media time of its first sample. */
export interface Heard {
  readonly atMs: number;
  readonly audio: Buffer;
}

/** What the platform takes. */
type PlatformFrame = { readonly streamSid: string } & (
  | { readonly event: 'media'; readonly media: { readonly payload: string } }
  | { readonly event: 'mark'; readonly mark: { readonly name: string } }
  | { readonly event: 'clear' }
);

type Queued = { readonly audio: Buffer } | { readonly mark: string };

/**
 * A two-way media stream as Twilio makes it (Media Streams, "WebSocket messages"): connected, start with the parameters,
 * media with its time, marks back when what came before them was played, everything dropped at `clear`, stop.
 *
 * It runs as fast as both sides can, in lock-step: a ping follows each frame, and the next frame leaves when the pong is
 * back. So whatever the service answers to a frame has come before the next one, and media times do not depend on the
 * machine.
 */
export class StreamDouble {
  /** Everything that the service sent. */
  readonly frames: Record<string, unknown>[] = [];
  /** What the answering side heard. */
  readonly heard: Heard[] = [];
  /** Names of marks sent back, with the media time at which they were. */
  readonly marks: { readonly name: string; readonly atMs: number }[] = [];
  readonly clearsMs: number[] = [];
  /** Frames that a platform would not understand. */
  readonly faults: unknown[] = [];
  /** Longest sound that waited to be played, in ms. */
  bufferedMsMax = 0;
  mediaMs = 0;
  closed: { readonly code: number; readonly reason: string } | null = null;
  readonly #options: StreamOptions;
  readonly #socket: WebSocket;
  readonly #frameMs: number;
  #queue: Queued[] = [];
  #playing: { atMs: number; parts: Buffer[] } | null = null;
  #sequence = 0;

  private constructor(options: StreamOptions) {
    this.#options = options;
    this.#frameMs = options.frameMs ?? FRAME_MS;
    this.#socket = new WebSocket(options.url, { headers: { 'x-twilio-signature': 'of the platform' } });
    this.#socket.on('message', (data: Buffer) => this.#onFrame(data.toString()));
    this.#socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    this.#socket.on('error', (error) => this.faults.push(error));
  }

  /** A whole call: resolves when its stream is closed. */
  static async run(options: StreamOptions): Promise<StreamDouble> {
    const double = new StreamDouble(options);
    await once(double.#socket, 'open');
    await double.#begin();
    await double.#stream();
    await double.#end();
    return double;
  }

  /** Everything that was heard, as one. */
  get sound(): Buffer {
    return Buffer.concat(this.heard.map(({ audio }) => audio));
  }

  async #begin(): Promise<void> {
    const { parameters, callSid = 'CA00000000000000000000000000000001', onStarted } = this.#options;
    const { accountSid, streamSid } = SIDS;
    this.#send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    this.#send({
      event: 'start',
      start: {
        ...{ accountSid, callSid, streamSid },
        tracks: ['inbound'],
        mediaFormat,
        customParameters: parameters,
      },
    });
    await this.#settled();
    await onStarted?.();
  }

  async #stream(): Promise<void> {
    const { answer, digits = [], hangUpAtMs = CALL_MS_MAX, cutAtMs } = this.#options;
    for (let chunk = 0; this.closed === null; chunk += 1) {
      if (this.mediaMs >= hangUpAtMs) return;
      if (cutAtMs !== undefined && this.mediaMs >= cutAtMs) return this.#socket.terminate();
      const frame = Buffer.alloc(this.#frameMs * BYTES_PER_MS, SILENCE);
      const from = chunk * frame.length;
      frame.set(answer.subarray(from, from + frame.length));
      const endMs = this.mediaMs + this.#frameMs;
      const due = digits.filter(({ atMs }) => atMs >= this.mediaMs && atMs < endMs);
      const timestamp = String(this.mediaMs);
      const media = { track: 'inbound', chunk: String(chunk + 1), timestamp };
      if (this.#options.isLost?.(chunk) !== true)
        this.#send({ event: 'media', media: { ...media, payload: frame.toString('base64') } });
      for (const { digit } of due) this.#send({ event: 'dtmf', dtmf: { track: 'inbound_track', digit } });
      if (chunk === 1) for (const one of this.#options.odd ?? []) this.#send(one);
      const reached = this.#play();
      await this.#settled();
      this.mediaMs = endMs;
      for (const name of reached) this.#markBack(name);
    }
  }

  async #end(): Promise<void> {
    if (this.closed === null && this.#socket.readyState === WebSocket.OPEN) {
      this.#send({ event: 'stop', stop: { accountSid: SIDS.accountSid, callSid: this.#options.callSid } });
    }
    while (this.closed === null) await new Promise((resolve) => setImmediate(resolve));
    this.#pause();
  }

  #send(frame: Record<string, unknown>): void {
    this.#sequence += 1;
    const sequenceNumber = String(this.#sequence);
    const { streamSid } = SIDS;
    const ids = frame['event'] === 'connected' ? {} : { sequenceNumber, streamSid };
    this.#socket.send(JSON.stringify({ ...frame, ...ids }));
  }

  /** The service has read everything so far, and its answers are here. */
  async #settled(): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#socket.off('pong', done).off('close', done);
        resolve();
      };
      this.#socket.on('pong', done).on('close', done);
      this.#socket.ping();
    });
  }

  #onFrame(text: string): void {
    const frame = JSON.parse(text) as PlatformFrame;
    this.frames.push(frame);
    if (frame.streamSid !== SIDS.streamSid) this.faults.push(frame);
    else if (frame.event === 'media') this.#queue.push({ audio: Buffer.from(frame.media.payload, 'base64') });
    else if (frame.event === 'mark') this.#queue.push({ mark: frame.mark.name });
    else if (frame.event === 'clear') this.#clear();
    else this.faults.push(frame);
    const waiting = this.#queue.reduce((sum, one) => sum + ('audio' in one ? one.audio.length : 0), 0);
    this.bufferedMsMax = Math.max(this.bufferedMsMax, waiting / BYTES_PER_MS);
  }

  /** What was not played is dropped; its marks come back at once. */
  #clear(): void {
    this.clearsMs.push(this.mediaMs);
    const dropped = this.#queue;
    this.#queue = [];
    this.#pause();
    for (const one of dropped) if ('mark' in one) this.#markBack(one.mark);
  }

  /** Plays a frame's time of what waits; the marks that are reached by their end. */
  #play(): string[] {
    let room = this.#frameMs * BYTES_PER_MS;
    const reached: string[] = [];
    while (this.#queue.length > 0 && (room > 0 || 'mark' in this.#queue[0]!)) {
      const next = this.#queue.shift()!;
      if ('mark' in next) reached.push(next.mark);
      else {
        const audio = next.audio.subarray(0, room);
        if (audio.length < next.audio.length) this.#queue.unshift({ audio: next.audio.subarray(room) });
        this.#playing ??= { atMs: this.mediaMs, parts: [] };
        this.#playing.parts.push(audio);
        room -= audio.length;
      }
    }
    if (room > 0) this.#pause();
    return reached;
  }

  #pause(): void {
    if (this.#playing) {
      this.heard.push({ atMs: this.#playing.atMs, audio: Buffer.concat(this.#playing.parts) });
    }
    this.#playing = null;
  }

  #markBack(name: string): void {
    if (this.#options.isMarkless === true) return;
    this.marks.push({ name, atMs: this.mediaMs });
    if (this.#socket.readyState === WebSocket.OPEN) this.#send({ event: 'mark', mark: { name } });
  }
}
