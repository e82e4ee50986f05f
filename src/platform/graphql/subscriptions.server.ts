import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { GraphQLError, specifiedRules, validate } from 'graphql';
import type { ExecutionArgs } from 'graphql';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer } from 'graphql-ws';
import type { Context, SubscribePayload } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { Caller } from '../../kernel/caller.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { credentialsOf, parseJsonBody } from '../http/index.ts';
import type { RequestCredentials } from '../http/index.ts';
import { Loaders } from './context.ts';
import type { GraphContext } from './context.ts';
import { presentError } from './errors.ts';
import { checkIntrospection, GRAPHQL_PATH } from './graphql.server.ts';
import type { GraphqlOptions } from './graphql.server.ts';
import { DOCUMENT_BYTES_MAX, inspect } from './limits.ts';

/** Connections of one process. */
export const CONNECTIONS_MAX = 1_000;
/** Operations under way on one connection. */
export const SUBSCRIPTIONS_PER_CONNECTION_MAX = 20;
/** A revoked credential's connections end within this time. */
export const RECHECK_MS = 5_000;
/** A peer that is gone shows within two of these. */
const PING_MS = 15_000;
const INIT_TIMEOUT_MS = 5_000;
/** What may wait unsent for one peer before its socket is cut. */
const UNSENT_BYTES_MAX = 1_048_576;
/** Codes of graphql-transport-ws. */
const FORBIDDEN = 4403;
const GOING_AWAY = 1001;

export interface SubscriptionsOptions extends GraphqlOptions {
  readonly ids: Ids;
  /** Who connects, behind TRUST_PROXY the one it forwards. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Shorter in tests. */
  readonly recheckMs?: number;
}

/** What a connection is, once it said who it is. */
interface Connection {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  caller?: Caller;
  recheck?: NodeJS.Timeout;
}

type Ctx = Context<Record<string, unknown> | undefined, Connection>;

/**
 * Serves graphql-transport-ws at `/graphql`. A connection says who it is in `connection_init` (the same credentials as
 * the headers of HTTP, by the same names) or in the headers of its upgrade. The credential is judged again and again
 * while it is open: revoked, expired or changed, it ends with 4403.
 */
export function mountSubscriptions(app: FastifyInstance, options: SubscriptionsOptions): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: DOCUMENT_BYTES_MAX,
    perMessageDeflate: false,
    handleProtocols: (offered) =>
      offered.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : false,
  });
  const server = makeServer<Record<string, unknown> | undefined, Connection>({
    schema: options.schema,
    connectionInitWaitTimeout: INIT_TIMEOUT_MS,
    onConnect: (ctx) => connect(ctx, options),
    onSubscribe: (ctx, _id, payload) => prepare(ctx, payload, options),
    onNext: (...[, , , args, result]) => {
      if (!result.errors) return undefined;
      return { ...result, errors: presented(result.errors, args.contextValue as GraphContext, options) };
    },
    onError: (_ctx, _id, _payload, errors) => presented(errors, { requestId: options.ids.uuid() }, options),
  });
  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const connection: Connection = { socket, request };
    const closed = server.opened(adapted(socket), connection);
    const stopPings = keepAlive(socket);
    socket.on('error', (error) =>
      options.logger.debug({ err: error }, 'A GraphQL socket was cut: its peer broke the protocol.'),
    );
    socket.once('close', (code, reason) => {
      stopPings();
      clearInterval(connection.recheck);
      void closed(code, String(reason)).catch((error: unknown) =>
        options.logger.error({ err: error }, 'The end of a GraphQL socket failed.'),
      );
    });
  });
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void =>
    upgraded(sockets, { request, socket, head });
  app.server.on('upgrade', upgrade);
  app.addHook('preClose', async () => {
    app.server.off('upgrade', upgrade);
    for (const socket of sockets.clients) socket.close(GOING_AWAY, 'The service is ending.');
    sockets.close();
  });
}

function upgraded(
  sockets: WebSocketServer,
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
): void {
  const refuse = (status: string): void => {
    socket.on('error', () => socket.destroy());
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  };
  if (request.url?.split('?')[0] !== GRAPHQL_PATH) return refuse('404 Not Found');
  if (sockets.clients.size >= CONNECTIONS_MAX) return refuse('503 Service Unavailable');
  sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
}

const adapted = (socket: WebSocket) => ({
  protocol: socket.protocol,
  // Resolves when it is on its way, so that a slow peer slows its own subscriptions.
  send: (data: string): Promise<void> =>
    new Promise((resolve, reject) => {
      if (socket.bufferedAmount > UNSENT_BYTES_MAX) socket.terminate();
      if (socket.readyState !== socket.OPEN) return resolve();
      socket.send(data, (error) => (error ? reject(error) : resolve()));
    }),
  close: (code?: number, reason?: string): void => socket.close(code, reason),
  onMessage: (take: (data: string) => Promise<void>): void => {
    socket.on('message', (data) => {
      take(String(data as Buffer)).catch(() => socket.close(4400, 'Bad message'));
    });
  },
});

function keepAlive(socket: WebSocket): () => void {
  let isAlive = true;
  socket.on('pong', () => (isAlive = true));
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}

/** False closes with 4403. */
async function connect(ctx: Ctx, options: SubscriptionsOptions): Promise<boolean> {
  const { extra } = ctx;
  const credentials = credentialsOf({ headers: headersOf(ctx) });
  const ip = options.addressOf(extra.request);
  const judge = (): Promise<Caller> => options.admit(credentials, ip);
  try {
    extra.caller = await judge();
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return false;
  }
  const recheck = setInterval(() => {
    void isStill(extra, credentials, options).then((still) => {
      if (!still) extra.socket.close(FORBIDDEN, 'Forbidden');
    });
  }, options.recheckMs ?? RECHECK_MS);
  extra.recheck = recheck;
  if (extra.socket.readyState !== extra.socket.OPEN) clearInterval(recheck);
  return true;
}

/** Whether the credential is as it was; while that cannot be told it is. */
async function isStill(
  extra: Connection,
  credentials: RequestCredentials,
  options: SubscriptionsOptions,
): Promise<boolean> {
  try {
    const now = await options.authenticate(credentials);
    return rightsOf(now) === rightsOf(extra.caller);
  } catch (error) {
    return !(error instanceof Problem) || error.status >= 500;
  }
}

const rightsOf = (caller: Caller | undefined): string =>
  caller
    ? [caller.teamId, caller.userId, caller.role, caller.operator, ...[...caller.scopes].sort()].join(' ')
    : '';

/** Those of the upgrade, and over them what `connection_init` says. */
function headersOf(ctx: Ctx): Record<string, string> {
  const given = Object.entries(ctx.connectionParams ?? {}).filter(([, value]) => typeof value === 'string');
  const said = Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value as string]));
  const { headers } = ctx.extra.request;
  const upgrade = Object.entries(headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { ...Object.fromEntries(upgrade), ...said };
}

/** Judges an operation as over HTTP. */
function prepare(
  ctx: Ctx,
  payload: SubscribePayload,
  options: SubscriptionsOptions,
): ExecutionArgs | readonly GraphQLError[] {
  const { caller } = ctx.extra;
  if (!caller) throw new Error('an operation before its connection');
  try {
    if (Object.keys(ctx.subscriptions).length > SUBSCRIPTIONS_PER_CONNECTION_MAX) {
      const detail = `A connection has at most ${SUBSCRIPTIONS_PER_CONNECTION_MAX} operations.`;
      throw new Problem('too-many-requests', detail);
    }
    const variables = parseJsonBody(Buffer.from(JSON.stringify(payload.variables ?? {})));
    const variableValues = variables as Record<string, unknown>;
    const { query, operationName } = payload;
    const { document, isIntrospection } = inspect(options.schema, {
      ...{ query, variables: variableValues },
      operationName: operationName ?? null,
    });
    if (isIntrospection) checkIntrospection(caller, options.isProduction);
    const faults = validate(options.schema, document, specifiedRules);
    if (faults.length > 0) return faults;
    const { hasTeam, answers, feeds } = options;
    const contextValue: GraphContext = {
      ...{ caller, hasTeam, answers, feeds, requestId: options.ids.uuid() },
      loaders: new Loaders({ remembers: false }),
    };
    return {
      schema: options.schema,
      document,
      operationName: operationName ?? null,
      variableValues,
      contextValue,
    };
  } catch (error) {
    return [new GraphQLError('', { originalError: error as Error })];
  }
}

function presented(
  errors: readonly GraphQLError[],
  { requestId }: { requestId: string },
  { isProduction, logger }: SubscriptionsOptions,
) {
  const scope = { requestId, hidesHints: isProduction, logger };
  return errors.map((error) => presentError(asRequestFault(error), error, scope));
}

/** Faults that validation found carry no code here; those of running operations have a cause or a path. */
function asRequestFault(error: GraphQLError) {
  const formatted = error.toJSON();
  if (error.originalError || error.path) return formatted;
  return { ...formatted, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } };
}
