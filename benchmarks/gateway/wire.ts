/** One raw client connection: TCP or TLS, the upgrade, and then frames of bytes that were made beforehand. */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { maskedFrame, parseFrames } from './frames.ts';

export interface WireOptions {
  host: string;
  port: number;
  path: string;
  tls: boolean;
  headers: Readonly<Record<string, string>>;
  onText: (wire: Wire, text: string) => void;
  onEnd: (wire: Wire, why: string) => void;
}

/** The upgrade's answer comes within this, or the server is taken for overloaded. */
const UPGRADE_TIMEOUT_MS = 30_000;
/** Bytes of a head that never ends are not kept. */
const HEAD_BYTES_MAX = 16 * 1024;
const PONG = maskedFrame(new Uint8Array(0), 'pong');

/** An upgraded connection. */
export class Wire {
  readonly #socket: Socket;
  readonly #options: WireOptions;
  #left: Buffer = Buffer.alloc(0);
  #ended = false;

  constructor(socket: Socket, options: WireOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  /** Frames are written as they are; the kernel's buffer is the only queue that is wanted. */
  send(frame: Buffer): void {
    this.#socket.write(frame);
  }

  /** Bytes that the kernel did not take yet. */
  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  get ended(): boolean {
    return this.#ended;
  }

  destroy(): void {
    this.#ended = true;
    this.#socket.destroy();
  }

  /** Reads what follows the head of the upgrade's answer, and everything after. */
  listen(first: Buffer): void {
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.on('close', () => this.#end('the connection was closed'));
    if (first.length > 0) this.#take(first);
  }

  #take(chunk: Buffer): void {
    const { frames, rest } = parseFrames(
      this.#left.length === 0 ? chunk : Buffer.concat([this.#left, chunk]),
    );
    this.#left = rest;
    for (const { kind, payload } of frames) {
      if (kind === 'text') this.#options.onText(this, payload.toString('utf8'));
      else if (kind === 'ping') this.send(PONG);
      else if (kind === 'close') {
        const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
        this.#end(`close ${code} ${payload.subarray(2).toString('utf8')}`.trimEnd());
      }
    }
  }

  #end(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.onEnd(this, why);
    this.#socket.destroy();
  }
}

/** Connects and upgrades. Answers the HTTP status instead of a wire when the server refuses. */
export function openWire(options: WireOptions): Promise<Wire | number> {
  const { host, port, path, tls, headers } = options;
  const socket = tls ? connectTls({ host, port, rejectUnauthorized: false }) : connectTcp({ host, port });
  socket.setNoDelay(true);
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return new Promise((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0);
    const timer = setTimeout(() => fail(new Error('no answer to the upgrade')), UPGRADE_TIMEOUT_MS);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const early = (): void => fail(new Error('closed before the answer to the upgrade'));
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return head.length > HEAD_BYTES_MAX ? fail(new Error('an endless head')) : undefined;
      clearTimeout(timer);
      socket.off('data', onData).off('close', early);
      const status = Number(head.subarray(9, 12).toString('latin1'));
      if (status !== 101) {
        socket.destroy();
        return resolve(status);
      }
      const wire = new Wire(socket, options);
      wire.listen(head.subarray(end + 4));
      resolve(wire);
    };
    socket.on('data', onData);
    socket.on('error', fail);
    socket.on('close', early);
    socket.once(tls ? 'secureConnect' : 'connect', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
  });
}
