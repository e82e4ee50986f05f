import type {
  LoadedUws,
  UwsApp,
  UwsBinding,
  UwsListenToken,
  UwsRequest,
  UwsResponse,
} from './uws.binding.ts';
import type { UwsWebSocket } from './uws.binding.ts';
import { plainAnswer, refusal, upgradeFault } from './upgrade.answers.ts';
import { CLOSE, FRAME_BYTES_MAX, SEND_BUFFER_BYTES_MAX } from './socket.type.ts';
import type { Refusal, Socket, SocketHandler, SocketServer, SocketServerOptions } from './socket.type.ts';
import type { UpgradeDecision, UpgradeRequest } from './socket.type.ts';

/**
 * The library's own limit ends a socket without a close frame, so it stands above ours: frames between the two
 * get their 1009, larger ones are cut off at the header.
 */
const LIBRARY_FRAME_BYTES_MAX = 2 * 1024 * 1024;

/** A peer that answers nothing for so long, our pings included, is gone. The library counts in steps of 4 s. */
const IDLE_TIMEOUT_SEC = 32;

/** Status lines that this port answers. */
const REASON: Record<number, string> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  426: 'Upgrade Required',
  503: 'Service Unavailable',
};

/** One peer. `ws` is null once the library has let go of it: its object must not be touched after that. */
class UwsSocket implements Socket {
  ws: UwsWebSocket | null;
  readonly handler: SocketHandler;

  constructor(ws: UwsWebSocket, handler: SocketHandler) {
    this.ws = ws;
    this.handler = handler;
  }

  sendText(text: string): void {
    if (this.ws === null) return;
    const sent = this.ws.send(text, false, false);
    if (sent === 1) return;
    // 2: the frame was dropped. 0: it waits; how much does, the library tells.
    if (sent === 2 || this.ws.getBufferedAmount() > SEND_BUFFER_BYTES_MAX)
      this.end(CLOSE.tryAgainLater, 'send buffer full');
  }

  end(code: number, reason: string): void {
    // The library runs `close` inside this call.
    this.ws?.end(code, reason);
  }
}

interface PendingUpgrade {
  readonly res: UwsResponse;
  readonly context: object;
  readonly key: string;
  aborted: boolean;
}

function copyRequest(req: UwsRequest): UpgradeRequest {
  const headers: Array<readonly [string, string]> = [];
  req.forEach((name, value) => headers.push([name, value]));
  return { path: req.getUrl(), query: req.getQuery() ?? '', headers };
}

/** Ends the connection behind the answer: what follows on it was sent for a WebSocket. */
function answer(res: UwsResponse, { status, headers, body }: Refusal): void {
  res.cork(() => {
    res.writeStatus(`${status} ${REASON[status] ?? 'Refused'}`);
    for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value);
    res.end(body, true);
  });
}

/** uWebSockets.js behind the Socket port. Several processes share one port by SO_REUSEPORT, which the library sets. */
export class UwsServer implements SocketServer {
  readonly driver = 'uws';
  readonly driverVersion: string;
  readonly #binding: UwsBinding;
  readonly #options: SocketServerOptions;
  #token: UwsListenToken | null = null;
  #port = 0;
  #openSockets = 0;

  constructor(loaded: LoadedUws, options: SocketServerOptions) {
    this.driverVersion = loaded.version;
    this.#binding = loaded.binding;
    this.#options = options;
  }

  get openSockets(): number {
    return this.#openSockets;
  }

  async listen(): Promise<number> {
    this.#port = this.#options.port === 0 ? await this.#freePort() : this.#options.port;
    this.#token = await this.#open(this.#port);
    return this.#port;
  }

  async reloadTls(): Promise<void> {
    if (!this.#options.tls || !this.#token) return;
    // A second listener with the new files on the same port, then the first one goes; its sockets live on.
    const replacement = await this.#open(this.#port);
    // Right after the loop has accepted what waited on the first one: closing it resets what waits there.
    await new Promise((resolve) => setImmediate(resolve));
    this.#binding.us_listen_socket_close(this.#token);
    this.#token = replacement;
  }

  close(): Promise<void> {
    if (this.#token) this.#binding.us_listen_socket_close(this.#token);
    this.#token = null;
    return Promise.resolve();
  }

  /** The library shares a port (SO_REUSEPORT) only when it is asked for by number; sharing is what `reloadTls` needs. */
  async #freePort(): Promise<number> {
    const probe = await this.#open(0);
    const port = this.#binding.us_socket_local_port(probe);
    this.#binding.us_listen_socket_close(probe);
    return port;
  }

  #open(port: number): Promise<UwsListenToken> {
    const app = this.#app();
    return new Promise((resolve, reject) => {
      app.listen(this.#options.host, port, (token) => {
        if (token) resolve(token);
        else reject(new Error(`cannot listen on ${this.#options.host}:${port}`));
      });
    });
  }

  #app(): UwsApp {
    const { tls } = this.#options;
    const app = tls
      ? this.#binding.SSLApp({ key_file_name: tls.keyFile, cert_file_name: tls.certFile })
      : this.#binding.App();
    app.ws('/*', {
      maxPayloadLength: LIBRARY_FRAME_BYTES_MAX,
      // 0: none of its own, which would drop single frames; UwsSocket.sendText watches ours.
      maxBackpressure: 0,
      idleTimeout: IDLE_TIMEOUT_SEC,
      sendPingsAutomatically: true,
      // A known bug of the library's compression overwrote bytes.
      compression: 0,
      upgrade: (res, req, context) => this.#onUpgrade(res, req, context),
      open: (ws) => this.#onOpen(ws),
      message: (ws, message, isBinary) => this.#onMessage(ws, message, isBinary),
      close: (ws, code) => this.#onClose(ws, code),
    });
    app.any('/*', (res, req) => answer(res, plainAnswer(req.getMethod().toUpperCase(), req.getUrl())));
    return app;
  }

  #onUpgrade(res: UwsResponse, req: UwsRequest, context: object): void {
    const request = copyRequest(req);
    const fault = upgradeFault(request);
    if (fault) return answer(res, fault);
    const pending: PendingUpgrade = { res, context, key: req.getHeader('sec-websocket-key'), aborted: false };
    res.onAborted(() => {
      pending.aborted = true;
    });
    void this.#decide(request, pending);
  }

  async #decide(request: UpgradeRequest, pending: PendingUpgrade): Promise<void> {
    let decision: UpgradeDecision;
    try {
      decision = await this.#options.onUpgrade(request);
    } catch (error) {
      this.#options.onFault(error);
      decision = { refuse: refusal(503, 'Service Unavailable', 'Try again in a moment.') };
    }
    if (pending.aborted) return;
    if ('refuse' in decision) return answer(pending.res, decision.refuse);
    const { accept } = decision;
    pending.res.cork(() => {
      pending.res.upgrade({ handler: accept }, pending.key, '', '', pending.context);
    });
  }

  #onOpen(ws: UwsWebSocket): void {
    const { handler } = ws.getUserData() as { handler: SocketHandler };
    const socket = new UwsSocket(ws, handler);
    ws.owner = socket;
    this.#openSockets++;
    try {
      handler.onOpen(socket);
    } catch (error) {
      this.#onFault(socket, error);
    }
  }

  #onMessage(ws: UwsWebSocket, message: ArrayBuffer, isBinary: boolean): void {
    const socket = ws.owner as UwsSocket;
    if (message.byteLength > FRAME_BYTES_MAX) return socket.end(CLOSE.tooBig, 'frame too large');
    try {
      if (isBinary) socket.handler.onBinary(message);
      else socket.handler.onText(message);
    } catch (error) {
      this.#onFault(socket, error);
    }
  }

  #onClose(ws: UwsWebSocket, code: number): void {
    const socket = ws.owner as UwsSocket;
    socket.ws = null;
    this.#openSockets--;
    try {
      socket.handler.onClose(code);
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  #onFault(socket: UwsSocket, error: unknown): void {
    this.#options.onFault(error);
    socket.end(CLOSE.tryAgainLater, 'internal error');
  }
}
