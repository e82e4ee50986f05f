/**
 * The Socket port: what the detection plane sees of a WebSocket server, whichever library carries it.
 * Two drivers stand behind it (uws.driver.ts, ws.driver.ts); one protocol test body runs over both.
 */

/** Largest frame taken, in bytes (supplement 10, Audio); a larger one closes with 1009. */
export const FRAME_BYTES_MAX = 64 * 1024;

/** What may wait unsent for one peer, in bytes (supplement 10, Capacity); beyond it the socket closes with 1013. */
export const SEND_BUFFER_BYTES_MAX = 1024 * 1024;

/** Close codes of the contract (interface.md, Detection events; supplement 10). */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  unsupported: 1003,
  policy: 1008,
  tooBig: 1009,
  tryAgainLater: 1013,
} as const;

/** Bytes lent for the length of one call; a handler that needs them later copies them. */
export type FrameBytes = ArrayBuffer | Uint8Array;

/** One open peer. Every method may be called after the end; it then does nothing. */
export interface Socket {
  /** Sends one text frame. A peer that reads too slowly is closed with 1013 (SEND_BUFFER_BYTES_MAX). */
  sendText(text: string): void;
  /** Sends a close frame and ends. `onClose` of the handler follows, at once or when the peer has answered. */
  end(code: number, reason: string): void;
}

/** Who listens to one socket. Calls come one at a time and in the order of the wire. */
export interface SocketHandler {
  onOpen(socket: Socket): void;
  /** A text frame: valid UTF-8, at most FRAME_BYTES_MAX. */
  onText(bytes: FrameBytes): void;
  /** A binary frame, at most FRAME_BYTES_MAX. */
  onBinary(bytes: FrameBytes): void;
  /** The socket is gone. Called once, whoever ended it. */
  onClose(code: number): void;
}

/** The request that asks for a WebSocket, copied out of the library's own object. */
export interface UpgradeRequest {
  /** Path without the query. */
  readonly path: string;
  /** Raw query without `?`; may be empty. */
  readonly query: string;
  /** Every header line as it came, names in lower case, repeats included. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
}

/** An HTTP answer in place of a WebSocket. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `accept` opens the socket for that handler, `refuse` answers HTTP. */
export type UpgradeDecision = { readonly accept: SocketHandler } | { readonly refuse: Refusal };

export interface SocketServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** PEM files; plain sockets without them. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  /** Decides each upgrade; requests that are odd as HTTP never reach it (upgrade.answers.ts). */
  onUpgrade(request: UpgradeRequest): UpgradeDecision | Promise<UpgradeDecision>;
  /** A handler or the decision threw: logged by the caller, the socket is closed with 1013 or answered 503. */
  onFault(error: unknown): void;
}

export interface SocketServer {
  /** `uws` or `ws`. */
  readonly driver: DriverName;
  /** Version of the package that carries the sockets. */
  readonly driverVersion: string;
  /** Opens the listener; answers the port. Rejects when the port is taken or the TLS files do not load. */
  listen(): Promise<number>;
  /** Sockets open now. */
  readonly openSockets: number;
  /** Takes the TLS files as they are now for new connections; open ones stay. Rejects, changing nothing, when they do not load. */
  reloadTls(): Promise<void>;
  /** Stops listening. Open sockets stay until they end. */
  close(): Promise<void>;
}

export type DriverName = 'uws' | 'ws';

/** The value of the first header line of that name (lower case), undefined without one. */
export function headerOf(request: UpgradeRequest, name: string): string | undefined {
  for (const [key, value] of request.headers) if (key === name) return value;
  return undefined;
}
