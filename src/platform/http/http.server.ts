import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { presentProblem, PROBLEM_TYPE } from '../../kernel/problem.present.ts';
import type { Logger } from '../logger/index.ts';

/** Bodies of any route (supplement 13, Sends). */
const BODY_BYTES_MAX = 262_144;
/** Contract, Limits: a request's own id is used up to this length. */
const REQUEST_ID_MAX = 128;
/** A client has this long to send its whole request, and an idle connection to send the next. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

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
  const app = Fastify({
    ...(tls ? { https: readTls(tls) } : {}),
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    forceCloseConnections: 'idle',
    requestIdHeader: false,
    genReqId: (request) => requestId(request.headers['x-request-id'], ids),
  }) as unknown as FastifyInstance;
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id).header('X-Correlation-Id', request.id);
  });
  app.setNotFoundHandler(() => {
    throw new Problem('not-found', 'There is nothing at this path.');
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error);
    if (problem.status >= 500) logger.error({ err: error, request_id: request.id }, 'A request failed.');
    const instance = request.url.split('?')[0] ?? '/';
    return reply
      .status(problem.status)
      .type(PROBLEM_TYPE)
      .send(
        JSON.stringify(
          presentProblem(problem, { instance, requestId: request.id, publicUrl: options.publicUrl() }),
        ),
      );
  });
  app.get('/healthz', async () => ({ status: 'ok' }));
  return app;
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

/** Errors of the server itself carry a status; anything else is a bug and says nothing of itself. */
function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const status = (error as { statusCode?: number }).statusCode ?? 500;
  if (status === 413) return new Problem('payload-too-large', 'The body is too large.');
  if (status === 415) return new Problem('unsupported-media-type', 'The content type is not supported.');
  if (status >= 400 && status < 500) return new Problem('validation-error', (error as Error).message);
  return new Problem('server-error', 'Something went wrong.');
}
