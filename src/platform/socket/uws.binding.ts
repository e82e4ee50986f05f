import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The part of uWebSockets.js that the driver uses, typed by hand: both packages differ in their own typings. */
export interface UwsBinding {
  App(): UwsApp;
  SSLApp(options: { key_file_name: string; cert_file_name: string }): UwsApp;
  us_listen_socket_close(token: UwsListenToken): void;
  us_socket_local_port(token: UwsListenToken): number;
}

export type UwsListenToken = object;

export interface UwsApp {
  ws(pattern: string, behavior: UwsBehavior): UwsApp;
  any(pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void): UwsApp;
  listen(host: string, port: number, done: (token: UwsListenToken | false) => void): UwsApp;
}

export interface UwsBehavior {
  maxPayloadLength: number;
  maxBackpressure: number;
  idleTimeout: number;
  sendPingsAutomatically: boolean;
  compression: number;
  upgrade(res: UwsResponse, req: UwsRequest, context: object): void;
  open(ws: UwsWebSocket): void;
  message(ws: UwsWebSocket, message: ArrayBuffer, isBinary: boolean): void;
  close(ws: UwsWebSocket, code: number): void;
}

export interface UwsResponse {
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  end(body: string, closeConnection: boolean): UwsResponse;
  cork(work: () => void): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  upgrade(userData: object, key: string, protocol: string, extensions: string, context: object): void;
}

export interface UwsRequest {
  getUrl(): string;
  getQuery(): string | undefined;
  getMethod(): string;
  getHeader(name: string): string;
  forEach(visit: (name: string, value: string) => void): void;
}

export interface UwsWebSocket {
  send(message: string, isBinary: boolean, compress: boolean): number;
  end(code: number, reason: string): void;
  getBufferedAmount(): number;
  getUserData(): object;
  /** Ours: the handler's socket, set in `open`. A property of the object costs less per message than a call for it. */
  owner: unknown;
}

export interface LoadedUws {
  readonly binding: UwsBinding;
  readonly version: string;
}

/** Newer package first; the older one runs where the C library is too old for the newer. */
const PACKAGES = [
  { name: 'uws-node22', folder: '.' },
  { name: 'uws-node20', folder: '../binaries' },
] as const;

/**
 * Loads the native binding itself, never the packages' entry files: the older package's entry falls back to a slow
 * JavaScript stand-in without an error, so only the binary proves that it is the real one.
 * Answers the reasons when no binary loads here.
 */
export function loadUws(): LoadedUws | { readonly failures: string[] } {
  const require = createRequire(import.meta.url);
  const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const failures: string[] = [];
  for (const { name, folder } of PACKAGES) {
    try {
      const entryFolder = dirname(require.resolve(name));
      const binding = require(join(entryFolder, folder, binary)) as UwsBinding;
      const manifest = join(entryFolder, folder === '.' ? '.' : '..', 'package.json');
      return { binding, version: (require(manifest) as { version: string }).version };
    } catch (error) {
      const [firstLine = 'does not load'] = String(error instanceof Error ? error.message : error).split(
        '\n',
      );
      failures.push(`${name}: ${firstLine}`);
    }
  }
  return { failures };
}
