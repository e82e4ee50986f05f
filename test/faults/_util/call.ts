import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { pace } from '../../../src/main/cli/detect/pacer.ts';
import { parseWav } from '../../../src/main/cli/detect/wav.parser.ts';
import { until } from '../../_util/until.ts';

const SAMPLES = join(import.meta.dirname, '../../../samples');
/** 20 ms of mu-law at 8 kHz. */
const FRAME_BYTES = 160;
const SETUP_LIMIT_MS = 20_000;
const EVENT_LIMIT_MS = 40_000;

/** A sample's audio as the socket takes it (mu-law, 8 kHz). */
export function sample(file: string): Uint8Array {
  const audio = parseWav(readFileSync(join(SAMPLES, file)));
  if (audio.encoding !== 'mulaw' || audio.sampleRateHz !== 8000)
    throw new Error(`${file} is not mu-law at 8 kHz`);
  return audio.data;
}

export interface SocketEvent {
  readonly event: string;
  readonly payload: {
    readonly session_id: string;
    readonly timestamp_ms: number;
    readonly call_id?: string;
  } & Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  readonly url: string;
  readonly key: string;
  readonly callId?: string;
  readonly webhookUrl?: string;
  readonly strategy?: string;
}

/** The upgrade was answered with another status than 101. */
export class UpgradeRefused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the upgrade was answered with ${status}`);
    this.status = status;
  }
}

/** One call on the general route, as an integrator's client makes it. */
export class Call {
  readonly events: SocketEvent[] = [];
  /** Set when the socket is closed. */
  closed: { code: number; reason: string } | undefined;
  readonly #socket: WebSocket;
  readonly #stop = new AbortController();
  #streaming: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  private constructor(options: CallOptions) {
    this.#socket = new WebSocket(options.url, {
      headers: { authorization: `Bearer ${options.key}` },
      handshakeTimeout: SETUP_LIMIT_MS,
      perMessageDeflate: false,
    });
    this.#socket.on('unexpected-response', (request, response) => {
      request.destroy();
      this.#failure ??= new UpgradeRefused(response.statusCode ?? 0);
    });
    this.#socket.on('error', (error) => (this.#failure ??= error));
    this.#socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString('utf8') };
      this.#stop.abort();
    });
    this.#socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as { type: string } & SocketEvent;
      if (frame.type === 'event') this.events.push(frame);
    });
  }

  /** Dials, sends the welcome and waits for `ready`. @throws UpgradeRefused, or the socket's own error. */
  static async open(options: CallOptions): Promise<Call> {
    const call = new Call(options);
    await call.#until(() => call.#socket.readyState === WebSocket.OPEN, 'the upgrade');
    const payload = {
      audio_encoding: 'mulaw',
      sample_rate_hz: 8000,
      call_id: options.callId,
      strategy: options.strategy,
      ...(options.webhookUrl === undefined ? {} : { webhook: { url: options.webhookUrl } }),
    };
    call.#socket.send(JSON.stringify({ type: 'welcome', payload }));
    await call.#until(() => call.find('ready'), 'ready');
    return call;
  }

  get sessionId(): string {
    const ready = this.find('ready');
    if (!ready) throw new Error('the call has no session yet');
    return ready.payload.session_id;
  }

  get isOpen(): boolean {
    return this.closed === undefined;
  }

  find(name: string): SocketEvent | undefined {
    return this.events.find(({ event }) => event === name);
  }

  waitFor(name: string, limitMs = EVENT_LIMIT_MS): Promise<SocketEvent> {
    return until(() => this.find(name), limitMs, `the event ${name} of a call that heard ${this.#heard()}`);
  }

  /** Streams in the background, paced like a telephone; ends with the audio or the socket. `speed` 1: real time. */
  stream(audio: Uint8Array, options: { speed?: number; isRepeated?: boolean } = {}): this {
    const frames = Math.ceil(audio.length / FRAME_BYTES);
    this.#streaming = this.#streaming.then(() =>
      pace({
        frames: options.isRepeated ? Number.MAX_SAFE_INTEGER : frames,
        speed: options.speed ?? 1,
        signal: this.#stop.signal,
        send: (index) => {
          const at = (index % frames) * FRAME_BYTES;
          this.#socket.send(audio.subarray(at, at + FRAME_BYTES));
          return this.#socket.readyState === WebSocket.OPEN;
        },
      }),
    );
    return this;
  }

  /** Resolves when all audio has been sent. */
  async streamed(): Promise<this> {
    await this.#streaming;
    return this;
  }

  /** Says stop and waits for close, stopped and the code 1000. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#streaming;
    if (this.isOpen) this.#socket.send('{"command":"stop"}');
    await until(() => this.closed, EVENT_LIMIT_MS, 'the close after stop');
    const heard = this.events.slice(-2).map(({ event }) => event);
    if (this.closed?.code !== 1000 || heard.join() !== 'close,stopped') {
      throw new Error(`a stop ended with ${JSON.stringify(this.closed)} after ${this.#heard()}`);
    }
  }

  /** Cuts the connection without a word. */
  drop(): void {
    this.#stop.abort();
    this.#socket.terminate();
  }

  #heard(): string {
    return `[${this.events.map(({ event }) => event).join(' ')}]`;
  }

  async #until(condition: () => unknown, description: string): Promise<void> {
    await until(
      () => {
        if (this.#failure) throw this.#failure;
        if (this.closed) throw new Error(`closed with ${JSON.stringify(this.closed)} before ${description}`);
        return Boolean(condition());
      },
      SETUP_LIMIT_MS,
      description,
    );
  }
}

/** A whole call: dialled, streamed to its end, stopped. */
export async function completeCall(options: CallOptions, audio: Uint8Array, speed?: number): Promise<Call> {
  const call = await Call.open(options);
  await call.stream(audio, { speed }).streamed();
  await call.stop();
  return call;
}
