/**
 * A client of the general detection route: one call from upgrade to close (contract, "Call-detection sockets").
 *
 * States: connecting → welcoming (welcome sent) → streaming (ready heard) → stopping (stop sent) → closed.
 * Whatever fails in one of them rejects with a {@link CallError} of one line.
 */
import { WebSocket } from 'ws';

import { UsageError } from '../context.ts';
import type { CallAudio } from './audio.reader.ts';
import { FRAME_MS, pace } from './pacer.ts';

/** An event frame of the socket, as it came (contract, "Detection events"). */
export interface WireEvent {
  type: 'event';
  event: string;
  payload: Record<string, unknown>;
}

/** Why a call could not be streamed, in one line for the user. */
export class CallError extends Error {}

export interface CallOptions {
  /** Base address or whole address of the route. */
  url: string;
  key: string;
  audio: CallAudio;
  strategy: string;
  speed: number;
  callId?: string;
  webhookUrl?: string;
  onEvent: (event: WireEvent) => void;
}

/** The upgrade and the `ready` event come within this, or the service is taken for dead. */
const SETUP_TIMEOUT_MS = 10_000;
/** From `stop` to the closed socket. */
const STOP_TIMEOUT_MS = 15_000;
/** Audio waiting in this process above which frames are held back: the network is slower than the call. */
const BUFFERED_BYTES_MAX = 1024 * 1024;

/** The route's address for a base address such as `ws://127.0.0.1:8081`. Throws {@link UsageError}. */
export function routeUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^(wss?|https?):$/.test(parsed.protocol)) {
    throw new UsageError(`--url must be a ws:// or wss:// address, not ${url}`);
  }
  parsed.protocol = parsed.protocol.replace('http', 'ws');
  if (parsed.pathname === '/') parsed.pathname = '/carrier/ws';
  return parsed.href;
}

/** Streams one call. Resolves when the socket has closed normally; rejects with {@link CallError}. */
export async function streamCall(options: CallOptions): Promise<void> {
  const socket = new WebSocket(routeUrl(options.url), {
    headers: { authorization: `Bearer ${options.key}` },
    handshakeTimeout: SETUP_TIMEOUT_MS,
    perMessageDeflate: false,
  });
  const call = new Call(socket, options);
  try {
    await call.run();
  } finally {
    socket.terminate();
  }
}

const REFUSALS: Readonly<Record<number, string>> = {
  401: 'the Detection key was refused (missing, unknown, revoked or expired)',
  402: 'the account has no funds',
  403: 'detection is switched off for the account',
  503: 'the service takes no more sessions now; try again later',
};

class Call {
  readonly #socket: WebSocket;
  readonly #options: CallOptions;
  readonly #ended = new AbortController();
  #onReady: () => void = () => undefined;
  #onClosed: () => void = () => undefined;
  #onFailed: (error: CallError) => void = () => undefined;

  constructor(socket: WebSocket, options: CallOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  async run(): Promise<void> {
    const failed = new Promise<never>((_, reject) => (this.#onFailed = reject));
    const ready = new Promise<void>((resolve) => (this.#onReady = resolve));
    const closed = new Promise<void>((resolve) => (this.#onClosed = resolve));
    // The loser of a race below must not count as unhandled.
    failed.catch(() => undefined);
    this.#listen();
    await within(SETUP_TIMEOUT_MS, Promise.race([ready, failed]), 'the service did not answer the welcome');
    await Promise.race([this.#stream(), failed]);
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send('{"command":"stop"}');
    await within(STOP_TIMEOUT_MS, Promise.race([closed, failed]), 'the service did not close after the stop');
  }

  #listen(): void {
    const socket = this.#socket;
    const fail = (message: string): void => {
      this.#onFailed(new CallError(message));
      this.#ended.abort();
    };
    socket.on('open', () => socket.send(JSON.stringify({ type: 'welcome', payload: this.#welcome() })));
    socket.on('unexpected-response', (request, response) => {
      const status = response.statusCode ?? 0;
      request.destroy();
      fail(`${REFUSALS[status] ?? 'the address does not answer as a detection socket'} (HTTP ${status})`);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const { origin } = new URL(routeUrl(this.#options.url));
      fail(
        error.code === 'ECONNREFUSED'
          ? `nothing listens at ${origin}: start it with "tonegate start"`
          : `${origin}: ${error.message}`,
      );
    });
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) this.#take(data.toString('utf8'), fail);
    });
    socket.on('close', (code, reason) => {
      this.#ended.abort();
      if (code === 1000) this.#onClosed();
      else fail(`the service closed the socket with code ${code} ${reason.toString('utf8')}`.trimEnd());
    });
  }

  #take(text: string, fail: (message: string) => void): void {
    const frame = eventOf(text);
    if (frame === undefined) return;
    this.#options.onEvent(frame);
    if (frame.event === 'ready') this.#onReady();
    if (frame.event === 'close') this.#ended.abort();
    if (frame.event !== 'error') return;
    // Before `ready` there is nothing to go on with, recoverable or not.
    const { error, code, recoverable } = frame.payload;
    if (recoverable === false || code === 'session_cap' || code === 'invalid_welcome') {
      fail(`${String(code)}: ${String(error)}`);
    }
  }

  #welcome(): Record<string, unknown> {
    const { audio, strategy, callId, webhookUrl } = this.#options;
    return {
      audio_encoding: audio.encoding,
      sample_rate_hz: audio.sampleRateHz,
      strategy,
      ...(callId === undefined ? {} : { call_id: callId }),
      ...(webhookUrl === undefined ? {} : { webhook: { url: webhookUrl } }),
    };
  }

  async #stream(): Promise<void> {
    const { audio, speed } = this.#options;
    const width = audio.encoding === 'pcm16' ? 2 : 1;
    const frameBytes = (audio.sampleRateHz / 1000) * FRAME_MS * width;
    await pace({
      frames: Math.ceil(audio.bytes.length / frameBytes),
      speed,
      signal: this.#ended.signal,
      send: (index) => {
        if (this.#socket.readyState !== WebSocket.OPEN) return false;
        if (this.#socket.bufferedAmount > BUFFERED_BYTES_MAX) {
          this.#onFailed(new CallError('the network does not keep up with the call'));
          return false;
        }
        this.#socket.send(audio.bytes.subarray(index * frameBytes, (index + 1) * frameBytes));
        return true;
      },
    });
  }
}

/** The event in a text frame; undefined for other frames, and for what is no frame of this protocol at all. */
function eventOf(text: string): WireEvent | undefined {
  try {
    const frame = JSON.parse(text) as Partial<WireEvent> | null;
    const isEvent =
      frame?.type === 'event' && typeof frame.event === 'string' && typeof frame.payload === 'object';
    return isEvent ? (frame as WireEvent) : undefined;
  } catch {
    // Not JSON: something else than this service answers, and the missing `ready` will say so.
    return undefined;
  }
}

async function within<T>(timeoutMs: number, work: Promise<T>, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CallError(message)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
