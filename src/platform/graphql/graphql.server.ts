import { AsyncLocalStorage } from 'node:async_hooks';
import { ApolloServer } from '@apollo/server';
import type { ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OperationTypeNode } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import type { Caller } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import { credentialsOf, toProblem } from '../http/index.ts';
import type { Authenticate, RequestCredentials } from '../http/index.ts';
import type { Logger } from '../logger/index.ts';
import type { MutationAnswers } from './answers.ts';
import { Loaders } from './context.ts';
import type { GraphContext } from './context.ts';
import { presentError, presentProblemError } from './errors.ts';
import type { ErrorScope } from './errors.ts';
import { COST_MAX, CostExceeded, DOCUMENT_BYTES_MAX, inspect } from './limits.ts';
import type { Inspected, Request } from './limits.ts';
import type { Feeds } from './stream.ts';

export const GRAPHQL_PATH = '/graphql';

export interface GraphqlOptions {
  readonly schema: GraphQLSchema;
  /** Judges a request's credential, with all that bounds requests; `ip` is the peer's address. */
  readonly admit: (credentials: RequestCredentials, ip: string) => Promise<Caller>;
  /** Judges a credential that was admitted before. */
  readonly authenticate: Authenticate;
  readonly hasTeam: GraphContext['hasTeam'];
  readonly answers: MutationAnswers;
  readonly feeds: Feeds;
  /** No introspection but for operators, no suggestions (supplement 12, GraphQL). */
  readonly isProduction: boolean;
  readonly logger: Logger;
}

/** The handler asks for nothing that the kind of server or of request decides. */
type Handle = (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

interface RequestState extends ErrorScope {
  cost: number | null;
}

/**
 * Serves GraphQL at `/graphql`: POST, and GET for queries. A request is judged in this order: size, form and limits of
 * its document, credential, introspection, and then by the GraphQL server.
 */
export async function mountGraphql(app: FastifyInstance, options: GraphqlOptions): Promise<void> {
  const states = new AsyncLocalStorage<RequestState>();
  const apollo = new ApolloServer<GraphContext>({
    schema: options.schema,
    introspection: true,
    hideSchemaDetailsFromClientErrors: options.isProduction,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    logger: apolloLogger(options.logger),
    plugins: [
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      tellCost(states),
    ],
    formatError: (formatted, error) => presentError(formatted, error, stateOf(states)),
  });
  await apollo.start();
  app.addHook('onClose', async () => apollo.stop());
  await app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => answerError(error, { request, reply, options }));
    scope.route({
      method: ['GET', 'POST'],
      url: GRAPHQL_PATH,
      bodyLimit: DOCUMENT_BYTES_MAX,
      handler: async (request, reply) => {
        const { caller, inspected } = await judged(request, options);
        const state = { ...scopeOf(request, options), cost: inspected?.cost ?? null };
        const { hasTeam, answers, feeds } = options;
        const loaders = new Loaders();
        const context = { caller, requestId: request.id, loaders, hasTeam, answers, feeds };
        const handle = fastifyApolloHandler(apollo, { context: async () => context }) as Handle;
        return states.run(state, () => handle.call(scope, request, reply));
      },
    });
  });
}

/** Refuses what must not run; a request without a document is left to the GraphQL server's own refusal. */
async function judged(
  request: FastifyRequest,
  options: GraphqlOptions,
): Promise<{ caller: Caller; inspected: Inspected | null }> {
  const asked = requestOf(request);
  const inspected = asked ? inspect(options.schema, asked) : null;
  if (inspected?.operation.operation === OperationTypeNode.SUBSCRIPTION) {
    throw new Problem('validation-error', 'Subscriptions go over the WebSocket of this path.');
  }
  const caller = await options.admit(credentialsOf(request), request.ip);
  if (inspected?.isIntrospection) checkIntrospection(caller, options.isProduction);
  return { caller, inspected };
}

/** @throws Problem forbidden */
export function checkIntrospection(caller: Caller, isProduction: boolean): void {
  if (isProduction && !caller.operator) throw new Problem('forbidden', 'Introspection is off.');
}

function requestOf({ method, body, query }: FastifyRequest): Request | null {
  const given = (method === 'GET' ? query : body) as Partial<Record<keyof Request, unknown>> | undefined;
  if (typeof given?.query !== 'string') return null;
  const { operationName } = given;
  return {
    query: given.query,
    operationName: typeof operationName === 'string' ? operationName : null,
    variables: variablesOf(given.variables),
  };
}

/** In an address they are JSON text. */
function variablesOf(given: unknown): Record<string, unknown> {
  if (typeof given === 'object' && given !== null) return given as Record<string, unknown>;
  if (typeof given !== 'string') return {};
  try {
    const value: unknown = JSON.parse(given);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    throw new Problem('validation-error', 'variables is not valid JSON.');
  }
}

const scopeOf = (request: FastifyRequest, options: GraphqlOptions): ErrorScope => ({
  requestId: request.id,
  hidesHints: options.isProduction,
  logger: options.logger,
});

/** Errors of the HTTP server carry a status; what carries none is a bug, and told to the log. */
function answerError(
  error: unknown,
  at: { request: FastifyRequest; reply: FastifyReply; options: GraphqlOptions },
): FastifyReply {
  const isOfServer = ((error as { statusCode?: number }).statusCode ?? 500) < 500;
  const shown = presentProblemError(isOfServer ? toProblem(error) : error, scopeOf(at.request, at.options));
  const cost = error instanceof CostExceeded ? { extensions: { cost: costOf(error.requested) } } : {};
  return at.reply
    .status(Number(shown.extensions?.['status']))
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ errors: [shown], ...cost }));
}

const costOf = (requested: number) => ({ requested, available: COST_MAX });

const apolloLogger = (logger: Logger) => {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: unknown): void =>
      logger[level]({}, String(message));
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
};

/** Every answer tells what it cost. */
const tellCost = (states: AsyncLocalStorage<RequestState>): ApolloServerPlugin<GraphContext> => ({
  requestDidStart: async () => ({
    willSendResponse: async ({ response }) => {
      const { cost } = stateOf(states);
      if (response.body.kind !== 'single' || cost === null) return;
      const { singleResult } = response.body;
      singleResult.extensions = { ...singleResult.extensions, cost: costOf(cost) };
    },
  }),
});

function stateOf(states: AsyncLocalStorage<RequestState>): RequestState {
  const state = states.getStore();
  if (!state) throw new Error('outside of a GraphQL request');
  return state;
}
