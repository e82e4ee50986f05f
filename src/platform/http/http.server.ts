import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Logger } from '../logger/index.ts';
import { sendError } from './errors.ts';
import { protect } from './cors.ts';
import { parseJsonBody } from './json.body.ts';
import { compileValidator } from './validation.ts';

/** Bodies of any route (supplement 13, Sends). */
const BODY_BYTES_MAX = 262_144;
/** Contract, Limits: a request's own id is used up to this length. */
const REQUEST_ID_MAX = 128;
/** Path and headers together: queries may list many numbers and addresses, each character written as three. */
const HEADER_BYTES_MAX = 65_536;
/** A client has this long to send its whole request, and an idle connection to send the next. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Characters of one part of a path: ids, addresses of email, signed tokens. */
const PARAM_LENGTH_MAX = 1_024;
const CLIENT_ERRORS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The public HTTP server, to mount on. */
export type HttpApp = FastifyInstance;

export interface HttpOptions {
  readonly logger: Logger;
  readonly ids: Ids;
  readonly tls: TlsFiles | null;
  readonly trustProxy: readonly string[];
  /** PUBLIC_URL, under which the types of problems are addresses; asked for late, since HTTP_PORT may be any free one. */
  readonly publicUrl: () => string;
}

/** The public HTTP server: request ids, problem details for every error, `/healthz`. Features mount their routes on it. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const { logger, ids, tls } = options;
  const fail = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    sendError(error, { request, reply, publicUrl: options.publicUrl(), logger });
  const app = Fastify({
    ...(tls ? { https: { ...readTls(tls), maxHeaderSize: HEADER_BYTES_MAX } } : {}),
    ...(tls ? {} : { http: { maxHeaderSize: HEADER_BYTES_MAX } }),
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    forceCloseConnections: 'idle',
    requestIdHeader: false,
    genReqId: (request) => requestId(request.headers['x-request-id'], ids),
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    // What the router itself refuses has passed no hook yet.
    frameworkErrors: (error, request, reply) => void fail(error, request, nameRequest(request, reply)),
    clientErrorHandler: refuseConnection,
  }) as unknown as FastifyInstance;
  app.addHook('onRequest', async (request, reply) => void nameRequest(request, reply));
  protect(app, { isSecure: tls !== null });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => parseJsonBody(body),
  );
  app.setValidatorCompiler(compileValidator);
  app.setNotFoundHandler(() => {
    throw new Problem('not-found', 'There is nothing at this path.');
  });
  app.setErrorHandler(fail);
  app.get('/healthz', async () => ({ status: 'ok' }));
  return app;
}

/** Both headers carry the request's id, on errors too (interface.md, Response envelope). */
const nameRequest = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.header('X-Request-Id', request.id).header('X-Correlation-Id', request.id);

/** What is no HTTP at all is answered without a request: a bare status line, then the end of the connection. */
function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const status = CLIENT_ERRORS[error.code ?? ''] ?? '400 Bad Request';
  if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  socket.destroySoon();
}

/** Listens and answers the port; `port` 0 takes any free one. */
export async function listenHttp(app: FastifyInstance, at: { host: string; port: number }): Promise<number> {
  await app.listen({ host: at.host, port: at.port });
  return (app.server.address() as { port: number }).port;
}

/** Reads the TLS files again; connections that are open keep what they have. Throws when the pair is not usable. */
export function reloadTls(server: Server, files: TlsFiles): void {
  if (server instanceof TlsServer) server.setSecureContext(readTls(files));
}

function readTls(files: TlsFiles): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) };
}

function requestId(given: string | string[] | undefined, ids: Ids): string {
  const isUsable =
    typeof given === 'string' && given.length <= REQUEST_ID_MAX && /^[\x21-\x7e]+$/.test(given);
  return isUsable ? given : ids.uuid();
}
