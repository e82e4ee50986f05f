import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify';
import multipart from '@fastify/multipart';
import type { TSchema } from '@sinclair/typebox';
import { requireScope } from '../../kernel/caller.ts';
import type { Caller, Scope } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Limit, Limiter } from '../limits/index.ts';
import { answerSchema } from './answer.schema.ts';
import { credentialsOf, hasCredential, teamCredentialsOf } from './credentials.ts';
import { corsConfig } from './cors.ts';
import type { GuessGuard } from './guess.guard.ts';
import type {
  Authenticate,
  AuthenticateTeam,
  RequestCredentials,
  RouteContext,
  RouteSpec,
} from './route.type.ts';
import { bodyChecker, checkTexts } from './validation.ts';

/** What the plan and the funds of an account are asked for by routes with `paid`. */
export interface RouteGates {
  /** @throws Problem payment-required */
  requirePaid(caller: Caller): Promise<void>;
}

export interface MountOptions {
  readonly routes: readonly RouteSpec[];
  readonly authenticate: Authenticate;
  /** Needed by routes with `auth: 'team-secret'`. */
  readonly authenticateTeam?: AuthenticateTeam;
  readonly gates: RouteGates;
  readonly limits: RouteLimits;
  readonly guard: GuessGuard;
  /** Scopes that a page of another origin may use (those of site tokens): their routes answer to browsers. */
  readonly browserScopes: ReadonlySet<Scope>;
}

/** How many requests a route takes (interface.md, Limits, Rate). */
export interface RouteLimits {
  readonly limiter: Limiter;
  /** Of all traffic to one route. */
  readonly perRoute: Limit;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of the plugin for CORS, laid over its settings. */
    cors?: object;
  }
  interface FastifyRequest {
    /** Who asks, once the credential was judged. */
    caller: Caller | null;
  }
}

type Context = RouteContext<TSchema, TSchema, TSchema>;

/**
 * Serves the routes. A request is judged in this order: path (404), method (405), rate (429), credential (401), scope
 * (403), body (413, 415, 400), the account's gates (402), and last the handler.
 */
export async function mountRoutes(app: FastifyInstance, options: MountOptions): Promise<void> {
  app.decorateRequest('caller', null);
  const { routes } = options;
  const mounting = { ...options, admit: admission(options) };
  const kinds = [...new Set(routes.map((spec) => spec.bodyKind ?? 'json'))];
  for (const kind of kinds) {
    const own = routes.filter((spec) => (spec.bodyKind ?? 'json') === kind);
    // A scope of their own each: what one kind of route reads as a body, the others refuse.
    await app.register(async (scope) => {
      if (kind === 'multipart' || kind === 'json-or-multipart') await scope.register(multipart);
      if (kind === 'multipart' || kind === 'raw') scope.removeContentTypeParser('application/json');
      if (kind === 'raw') scope.addContentTypeParser('*', async (_request: unknown, body: unknown) => body);
      for (const spec of own) scope.route(fastifyRoute(spec, mounting));
    });
  }
  const open = routes.filter((spec) => isForBrowsers(spec, options));
  refuseOtherMethods(app, routes, open);
}

/** Whether a page of another origin may use the route. */
const isForBrowsers = (spec: RouteSpec, { browserScopes }: MountOptions): boolean =>
  spec.scopes.some((scope) => browserScopes.has(scope));

const fastifyPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

function fastifyRoute(spec: RouteSpec, options: MountOptions & { admit: Admit }): RouteOptions {
  const { params, query, body, bodyKind = 'json', bodyLimit } = spec;
  const readsJson = bodyKind === 'json';
  const checkJson = bodyKind === 'json-or-multipart' && body ? bodyChecker(body) : null;
  return {
    method: spec.method,
    url: fastifyPath(spec.path),
    config: corsConfig(isForBrowsers(spec, options) ? [spec.method] : []),
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    schema: {
      ...(params ? { params } : {}),
      ...(query ? { querystring: query } : {}),
      ...(body && readsJson ? { body } : {}),
      ...(spec.dataType === undefined ? { response: { [spec.status ?? 200]: answerSchema(spec) } } : {}),
    },
    onRequest: async (request) => {
      checkIsWhole(request);
      await throttle(spec, options.limits);
      request.caller = await admitted(spec, request, options.admit);
    },
    preParsing: async (request) => {
      // Whatever the request says of its type, or with a coding of it, which is no JSON then.
      if (bodyKind === 'any-json') request.headers['content-type'] = 'application/json';
      else checkBodyKind(spec, request);
    },
    preValidation: async (request) => checkTexts(request),
    preHandler: async (request) => {
      if (checkJson && !request.isMultipart()) checkJson(request.body);
      if (bodyKind === 'any-json' && request.body === undefined)
        throw new Problem('validation-error', 'The body is empty.');
      if (spec.paid && request.caller) await options.gates.requirePaid(request.caller);
    },
    handler: (request, reply) => answer(spec, request, reply),
  };
}

/** A path that ends where an id should be is another path, which nobody knows. @throws Problem not-found */
function checkIsWhole({ params }: FastifyRequest): void {
  if (Object.values(params as Record<string, string>).includes(''))
    throw new Problem('not-found', 'There is nothing at this path.');
}

const nameOf = (spec: RouteSpec): string => `${spec.method} ${spec.path}`;

/** @throws Problem too-many-requests */
async function throttle(spec: RouteSpec, { limiter, perRoute }: RouteLimits): Promise<void> {
  if (!(await limiter.take(`route:${nameOf(spec)}`, perRoute)))
    throw new Problem('too-many-requests', 'Too many requests.');
}

type Admit = (spec: RouteSpec, request: FastifyRequest) => Promise<Caller>;

/** Null where the floor judges no credential. @throws Problem unauthorized, forbidden, too-many-requests */
async function admitted(spec: RouteSpec, request: FastifyRequest, admit: Admit): Promise<Caller | null> {
  if (spec.auth === 'none') return null;
  if (spec.auth !== 'self') return admit(spec, request);
  if (!hasCredential(request))
    throw new Problem('unauthorized', 'This needs a credential: x-key and x-secret, or a bearer token.');
  return null;
}

/** Who asks, judged: wrong credentials by the guard of guesses, then the scope. */
function admission(options: MountOptions): Admit {
  const { guard } = options;
  return async (spec, request) => {
    const { credentials, judge } = judgementOf(spec, request, options);
    const caller = await guard.watch({ credentials, ip: request.ip, route: nameOf(spec) }, judge);
    if (spec.scopes.length > 0) requireScope(caller, ...spec.scopes);
    return caller;
  };
}

/** The credentials as the guard of guesses tells them apart, and what judges them. */
function judgementOf(
  spec: RouteSpec,
  request: FastifyRequest,
  { authenticate, authenticateTeam }: MountOptions,
): { credentials: RequestCredentials; judge: () => Promise<Caller> } {
  if (spec.auth !== 'team-secret') {
    const credentials = credentialsOf(request);
    return { credentials, judge: () => authenticate(credentials) };
  }
  if (!authenticateTeam) throw new Error(`nothing judges the credentials of ${nameOf(spec)}`);
  const { teamId, secret } = teamCredentialsOf(request);
  return {
    credentials: { key: `team ${teamId}`, secret },
    judge: () => authenticateTeam({ teamId, secret }),
  };
}

async function answer(spec: RouteSpec, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const data: unknown = await handle(spec, contextOf(request, reply));
  reply.status(spec.status ?? 200);
  if (spec.dataType !== undefined) return reply.type(spec.dataType).send(data);
  return spec.envelope === false ? data : { data, meta: { request_id: request.id } };
}

/** What the parser of forms says of one that is cut off or malformed, without a status. */
const FORM_FAULT = /^(Unexpected end of|Malformed|Multipart:|Part terminated)/;

async function handle(spec: RouteSpec, context: Context): Promise<unknown> {
  try {
    return await spec.handler(context);
  } catch (error) {
    const isForm = context.request.headers['content-type']?.startsWith('multipart/') ?? false;
    if (isForm && error instanceof Error && FORM_FAULT.test(error.message))
      throw new Problem('validation-error', 'The form is malformed or cut off.');
    throw error;
  }
}

const contextOf = (request: FastifyRequest, reply: FastifyReply): Context => ({
  get caller(): Caller {
    if (!request.caller) throw new Error('this route asks for no credential');
    return request.caller;
  },
  get credentials(): RequestCredentials {
    return credentialsOf(request);
  },
  params: request.params,
  query: request.query,
  body: request.body,
  requestId: request.id,
  ip: request.ip,
  request,
  reply,
});

/**
 * Encodings of bodies are refused, and of streams what is told to be too long and types that the route does not read.
 * @throws Problem unsupported-media-type, payload-too-large
 */
function checkBodyKind(spec: RouteSpec, request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new Problem('unsupported-media-type', 'Encoded bodies are not taken.');
  const type = request.headers['content-type'];
  const isTooLong = Number(request.headers['content-length']) > (spec.bodyLimit ?? Infinity);
  if (spec.bodyKind === 'raw' && isTooLong) throw new Problem('payload-too-large', 'The body is too large.');
  if (spec.bodyKind !== 'raw' || spec.bodyTypes === undefined || type === undefined) return;
  if (!spec.bodyTypes.includes(type.split(';')[0]?.trim().toLowerCase() ?? ''))
    throw new Problem(
      'unsupported-media-type',
      'The content type is not one of those that this route takes.',
    );
}

/** Known paths with a method they do not have: 405 with Allow (supplement 12, OpenAPI). */
export function refuseOtherMethods(
  app: FastifyInstance,
  routes: readonly Pick<RouteSpec, 'method' | 'path'>[],
  open: readonly Pick<RouteSpec, 'method' | 'path'>[],
): void {
  const known = new Map<string, Set<string>>();
  for (const { path, method } of routes) {
    const methods = known.get(path) ?? new Set(['OPTIONS']);
    methods.add(method);
    if (method === 'GET') methods.add('HEAD');
    known.set(path, methods);
  }
  for (const [path, methods] of known) {
    const allow = [...methods].sort().join(', ');
    const others = app.supportedMethods.filter((method) => !methods.has(method)) as HTTPMethods[];
    app.route({
      method: others,
      url: fastifyPath(path),
      onRequest: async (_request, reply) => {
        reply.header('Allow', allow);
        throw new Problem('method-not-allowed', 'The path does not have this method; see Allow.');
      },
      handler: async () => undefined,
    });
    app.route({
      method: 'OPTIONS',
      url: fastifyPath(path),
      config: corsConfig(open.filter((one) => one.path === path).map(({ method }) => method)),
      handler: async (_request, reply) => reply.status(204).header('Allow', allow).send(),
    });
  }
}
