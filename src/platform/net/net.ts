import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Logger } from '../logger/index.ts';
import { isPublicAddress } from './address.ts';
import { systemBoundary } from './boundary.ts';
import type { NetBoundary, ResolvedAddress } from './boundary.ts';
import { createConnector } from './connector.ts';
import { hostOf, parseTarget, TargetRefused } from './target.ts';
import { isIP } from 'node:net';

/** Bytes of an answer's body that are read; the rest is cut off with its connection. */
export const RESPONSE_BYTES_MAX = 65_536;
/** How long `checkUrl` waits for a resolver; a name that has not answered by then counts as not resolving now. */
const RESOLVE_TIMEOUT_MS = 2_000;
/** Connections to one origin. */
const CONNECTIONS_PER_ORIGIN_MAX = 64;
/** Idle connections are closed after this time. */
const KEEP_ALIVE_MS = 4_000;

export interface PostRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Total: resolving, connecting, sending and the answer's head; also ends the reading of its body. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

export interface PostAnswer {
  status: number;
  /** Names in lower case; repeated ones joined by ", ". */
  headers: Record<string, string>;
  /** At most RESPONSE_BYTES_MAX. */
  body: Buffer;
  durationMs: number;
}

export interface GetRequest {
  url: string;
  /** Total, the body included. */
  timeoutMs: number;
  /** A longer body is refused. */
  bytesMax: number;
  signal?: AbortSignal | undefined;
}

/** The body is longer than was allowed. */
export class BodyTooLarge extends Error {
  readonly code = 'TOO_LARGE';
}

/** The request did not get an answer's head within `timeoutMs`. */
export class PostTimeout extends Error {
  readonly code = 'TIMEOUT';
}

/** The only way out of the process over HTTP (supplement 8). Redirects are answers here, never followed. */
export interface Net {
  /** Judges an address, its name resolved. A name that does not resolve now is accepted. @throws TargetRefused */
  checkUrl(url: string): Promise<void>;
  /** The part of `checkUrl` that needs no resolver. @throws TargetRefused */
  checkUrlSyntax(url: string): void;
  /** @throws TargetRefused, PostTimeout, or the connection's error with its `code` */
  post(request: PostRequest): Promise<PostAnswer>;
  /** A whole file. @throws TargetRefused, PostTimeout, BodyTooLarge, or the connection's error with its `code` */
  get(request: GetRequest): Promise<Pick<PostAnswer, 'status' | 'body'>>;
  close(): Promise<void>;
}

export interface NetOptions {
  /** Development: http and private addresses are allowed. */
  allowPrivateTargets: boolean;
  logger: Logger;
  monotonicMs?: (() => number) | undefined;
  /** Replaced in tests: what lies outside the process. */
  boundary?: NetBoundary | undefined;
}

export function createNet(options: NetOptions): Net {
  return new OutboundNet(options);
}

class OutboundNet implements Net {
  readonly #allowPrivateTargets: boolean;
  readonly #boundary: NetBoundary;
  readonly #monotonicMs: () => number;
  readonly #agent: Agent;

  constructor(options: NetOptions) {
    this.#allowPrivateTargets = options.allowPrivateTargets;
    this.#boundary = options.boundary ?? systemBoundary;
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
    if (options.allowPrivateTargets) {
      options.logger.warn({}, 'ALLOW_PRIVATE_TARGETS is on: outbound http and private addresses are allowed');
    }
    this.#agent = new Agent({
      connect: createConnector(this.#boundary, options.allowPrivateTargets),
      connections: CONNECTIONS_PER_ORIGIN_MAX,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  checkUrlSyntax(url: string): void {
    parseTarget(url, this.#allowPrivateTargets);
  }

  async checkUrl(url: string): Promise<void> {
    const host = hostOf(parseTarget(url, this.#allowPrivateTargets));
    if (this.#allowPrivateTargets || isIP(host) !== 0) return;
    const found = await this.#resolveNow(host);
    if (!found.every(({ address }) => isPublicAddress(address))) throw new TargetRefused('address');
  }

  async post(request: PostRequest): Promise<PostAnswer> {
    const url = parseTarget(request.url, this.#allowPrivateTargets);
    const startedMs = this.#monotonicMs();
    return this.#within(request, async (signal) => {
      const { headers, body } = request;
      const answer = await this.#agent.request({ ...targetOf(url), method: 'POST', headers, body, signal });
      return {
        status: answer.statusCode,
        headers: flatHeaders(answer.headers),
        body: await readBody(answer.body),
        durationMs: this.#monotonicMs() - startedMs,
      };
    });
  }

  async get(request: GetRequest): Promise<Pick<PostAnswer, 'status' | 'body'>> {
    const url = parseTarget(request.url, this.#allowPrivateTargets);
    return this.#within(request, async (signal) => {
      const answer = await this.#agent.request({ ...targetOf(url), method: 'GET', signal });
      return { status: answer.statusCode, body: await readWhole(answer.body, request.bytesMax) };
    });
  }

  async #within<T>(
    { timeoutMs, signal: outer }: Pick<PostRequest, 'timeoutMs' | 'signal'>,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      return await work(outer ? AbortSignal.any([deadline, outer]) : deadline);
    } catch (error) {
      if (deadline.aborted && !outer?.aborted) {
        throw new PostTimeout(`no answer within ${timeoutMs} ms`, { cause: error });
      }
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #resolveNow(host: string): Promise<ResolvedAddress[]> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<ResolvedAddress[]>((resolve) => {
      timer = setTimeout(() => resolve([]), RESOLVE_TIMEOUT_MS);
    });
    // A name that does not resolve now is accepted: its deliveries fail, and each connection is checked anyway.
    const found = this.#boundary.resolve(host).catch((): ResolvedAddress[] => []);
    try {
      return await Promise.race([found, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

const targetOf = (url: URL): { origin: string; path: string } => ({
  origin: url.origin,
  path: url.pathname + url.search,
});

/** All of it, or an error. */
async function readWhole(stream: Dispatcher.ResponseData['body'], bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new BodyTooLarge(`the body is longer than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads up to the bound. A body that breaks or drips past the deadline keeps what came: the head was the answer. */
async function readBody(stream: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, RESPONSE_BYTES_MAX - bytes));
      bytes += chunk.length;
      if (bytes >= RESPONSE_BYTES_MAX) break;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  return Buffer.concat(chunks);
}

function flatHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
