import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { RawData, WebSocket } from 'ws';
import { plainAnswer, refusal, upgradeFault } from './upgrade.answers.ts';
import { CLOSE, FRAME_BYTES_MAX, SEND_BUFFER_BYTES_MAX } from './socket.type.ts';
import type { Refusal, Socket, SocketHandler, SocketServer, SocketServerOptions } from './socket.type.ts';
import type { UpgradeDecision, UpgradeRequest } from './socket.type.ts';

/** Two rounds without a sign of life end a socket; one sweep serves all of them. */
const PING_ROUND_MS = 16_000;

/** A request head must be complete by then. */
const REQUEST_HEAD_TIMEOUT_MS = 10_000;

/** A peer that does not answer our close frame is cut off after this many rounds of the sweep. */
const CLOSING_ROUNDS_MAX = 1;

class WsSocket implements Socket {
  readonly ws: WebSocket;
  readonly handler: SocketHandler;
  alive = true;
  closingRounds = 0;

  constructor(ws: WebSocket, handler: SocketHandler) {
    this.ws = ws;
    this.handler = handler;
  }

  sendText(text: string): void {
    if (this.ws.readyState !== this.ws.OPEN) return;
    this.ws.send(text);
    if (this.ws.bufferedAmount > SEND_BUFFER_BYTES_MAX) this.end(CLOSE.tryAgainLater, 'send buffer full');
  }

  end(code: number, reason: string): void {
    if (this.ws.readyState === this.ws.OPEN) this.ws.close(code, reason);
  }
}

function copyRequest(req: IncomingMessage): UpgradeRequest {
  const headers: Array<readonly [string, string]> = [];
  for (let i = 0; i + 1 < req.rawHeaders.length; i += 2)
    headers.push([(req.rawHeaders[i] ?? '').toLowerCase(), req.rawHeaders[i + 1] ?? '']);
  const [path = '/', ...rest] = (req.url ?? '/').split('?');
  return { path, query: rest.join('?'), headers };
}

function answerRaw(stream: Duplex, { status, headers, body }: Refusal): void {
  const lines = Object.entries({
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  stream.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${body}`);
}

function answerPlain(req: IncomingMessage, res: ServerResponse): void {
  const { status, headers, body } = plainAnswer(req.method ?? 'GET', copyRequest(req).path);
  res.writeHead(status, { ...headers, connection: 'close' });
  res.end(req.method === 'HEAD' ? undefined : body);
}

/**
 * The `ws` package behind the Socket port: slower, but it runs wherever Node does. Several workers share the port
 * through node:cluster, which hands Node's own listeners out to its workers.
 */
export class WsServer implements SocketServer {
  readonly driver = 'ws';
  readonly driverVersion: string;
  readonly #options: SocketServerOptions;
  readonly #sockets = new Set<WsSocket>();
  readonly #upgrader = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: FRAME_BYTES_MAX,
    perMessageDeflate: false,
  });
  #http: HttpServer | HttpsServer | null = null;
  #sweep: NodeJS.Timeout | null = null;

  constructor(options: SocketServerOptions) {
    this.#options = options;
    const require = createRequire(import.meta.url);
    this.driverVersion = (require('ws/package.json') as { version: string }).version;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  async listen(): Promise<number> {
    const tls = await this.#readTls();
    const http = tls ? createHttpsServer(tls, answerPlain) : createHttpServer(answerPlain);
    http.headersTimeout = REQUEST_HEAD_TIMEOUT_MS;
    http.requestTimeout = REQUEST_HEAD_TIMEOUT_MS;
    http.on('upgrade', (req: IncomingMessage, stream: Duplex, head: Buffer) =>
      this.#onUpgrade(req, stream, head),
    );
    http.on('clientError', (_error: Error, stream: Duplex) => {
      if (stream.writable) answerRaw(stream, refusal(400, 'Bad Request', 'This is not HTTP.'));
      else stream.destroy();
    });
    await new Promise<void>((resolve, reject) => {
      http.once('error', reject);
      http.listen(this.#options.port, this.#options.host, () => {
        http.off('error', reject);
        resolve();
      });
    });
    this.#http = http;
    this.#sweep = setInterval(() => this.#sweepSockets(), PING_ROUND_MS);
    this.#sweep.unref();
    return (http.address() as AddressInfo).port;
  }

  async reloadTls(): Promise<void> {
    const tls = await this.#readTls();
    if (tls && this.#http && 'setSecureContext' in this.#http) this.#http.setSecureContext(tls);
  }

  close(): Promise<void> {
    const http = this.#http;
    this.#http = null;
    if (this.#sweep && this.#sockets.size === 0) clearInterval(this.#sweep);
    // Its callback would wait for the open WebSockets too; the listener itself is gone at once.
    http?.close();
    http?.closeIdleConnections();
    return Promise.resolve();
  }

  async #readTls(): Promise<{ cert: Buffer; key: Buffer } | null> {
    const { tls } = this.#options;
    if (!tls) return null;
    const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)]);
    return { cert, key };
  }

  #onUpgrade(req: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on('error', () => stream.destroy());
    const request = copyRequest(req);
    const fault = upgradeFault(request);
    if (fault) return answerRaw(stream, fault);
    void this.#decide(request, { req, stream, head });
  }

  async #decide(
    request: UpgradeRequest,
    { req, stream, head }: { req: IncomingMessage; stream: Duplex; head: Buffer },
  ): Promise<void> {
    let decision: UpgradeDecision;
    try {
      decision = await this.#options.onUpgrade(request);
    } catch (error) {
      this.#options.onFault(error);
      decision = { refuse: refusal(503, 'Service Unavailable', 'Try again in a moment.') };
    }
    if (stream.destroyed) return;
    if ('refuse' in decision) return answerRaw(stream, decision.refuse);
    const { accept } = decision;
    this.#upgrader.handleUpgrade(req, stream, head, (ws) => this.#onOpen(ws, accept));
  }

  #onOpen(ws: WebSocket, handler: SocketHandler): void {
    const socket = new WsSocket(ws, handler);
    this.#sockets.add(socket);
    // The library has already sent 1002, 1007 or 1009 when it tells of a protocol error.
    ws.on('error', () => undefined);
    ws.on('pong', () => {
      socket.alive = true;
    });
    ws.on('message', (data, isBinary) => this.#onMessage(socket, data, isBinary));
    ws.on('close', (code) => {
      this.#sockets.delete(socket);
      this.#guard(socket, () => handler.onClose(code));
    });
    this.#guard(socket, () => handler.onOpen(socket));
  }

  #onMessage(socket: WsSocket, data: RawData, isBinary: boolean): void {
    // After our own close frame the peer's late frames mean nothing any more.
    if (socket.ws.readyState !== socket.ws.OPEN) return;
    socket.alive = true;
    try {
      // One Buffer: binaryType is the library's default, nodebuffer.
      if (isBinary) socket.handler.onBinary(data as Buffer);
      else socket.handler.onText(data as Buffer);
    } catch (error) {
      this.#options.onFault(error);
      socket.end(CLOSE.tryAgainLater, 'internal error');
    }
  }

  #guard(socket: WsSocket, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.onFault(error);
      socket.end(CLOSE.tryAgainLater, 'internal error');
    }
  }

  #sweepSockets(): void {
    for (const socket of this.#sockets) {
      const { ws } = socket;
      if (ws.readyState !== ws.OPEN) {
        if (++socket.closingRounds > CLOSING_ROUNDS_MAX) ws.terminate();
      } else if (!socket.alive) ws.terminate();
      else {
        socket.alive = false;
        ws.ping();
      }
    }
  }
}
