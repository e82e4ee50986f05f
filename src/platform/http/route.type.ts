import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Scope } from '../../kernel/caller.ts';
import type { ProblemCode } from '../../kernel/problem.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * How a body arrives: JSON (validated by `body`), or read by the handler itself from `ctx.request`: multipart through
 * `request.parts()`, raw as the stream `request.body`, which it bounds (a told length beyond `bodyLimit` is refused before). With `json-or-multipart` a JSON
 * body is validated by `body`, and a multipart one (`request.isMultipart()`) is the handler's. `any-json` is any JSON value under
 * any content type: `body` describes it and validates nothing; an empty one is refused.
 */
export type BodyKind = 'json' | 'multipart' | 'raw' | 'json-or-multipart' | 'any-json';

/**
 * Who judges the credential. `credential`: the floor does, before anything else. `team-secret`: so too, by the headers of version 1
 * (x-team-id, x-secret). `self`: the handler does, by `ctx.credentials`; the floor only refuses a request without any. `none`:
 * nobody asks (public pages, signed addresses).
 */
export type RouteAuth = 'credential' | 'team-secret' | 'self' | 'none';

/** What a handler is given. Params, query and body are validated and typed by the route's schemas. */
export interface RouteContext<P extends TSchema, Q extends TSchema, B extends TSchema> {
  /** Who asks; where the floor judges no credential there is none and reading it throws. */
  readonly caller: Caller;
  /** Unjudged. */
  readonly credentials: RequestCredentials;
  readonly params: Static<P>;
  readonly query: Static<Q>;
  readonly body: Static<B>;
  readonly requestId: string;
  /** The peer's address, behind TRUST_PROXY the one it forwards. */
  readonly ip: string;
  /** For bodies that are streams, and answers that are not JSON. */
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** One valid request and its answer, shown in the OpenAPI document and sent by tests: it must work. */
export interface RouteExample {
  readonly params?: Record<string, string>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
  readonly data?: unknown;
}

/**
 * One REST route: all that validates its requests, serialises its answers (nothing undeclared leaves) and describes it in
 * the OpenAPI document. Slices export lists of them from `x.routes.ts`; `mountRoutes` serves them.
 */
export interface RouteSpec<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  D extends TSchema = TSchema,
> {
  readonly method: Method;
  /** OpenAPI form: `/tag/public/tags/{tag_id}`. */
  readonly path: string;
  /** camelCase, unique: names the operation in generated clients. */
  readonly operationId: string;
  /** The resource, as its heading in the reference. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Any one suffices; empty: any credential. */
  readonly scopes: readonly Scope[];
  /** Default `credential`. */
  readonly auth?: RouteAuth;
  /** Answers 402 when funds and plan are used up or the subscription is unpaid (supplement 13). */
  readonly paid?: boolean;
  readonly params?: P;
  readonly query?: Q;
  /** Describes headers that the handler reads itself. */
  readonly headers?: TObject;
  /** Schema of a JSON body, or for any-json, multipart and raw its description. */
  readonly body?: B;
  readonly bodyKind?: BodyKind;
  /** Describes the multipart form where it differs from `body`. */
  readonly multipartBody?: TSchema;
  /** Content types of a raw body. */
  readonly bodyTypes?: readonly string[];
  /** Bytes; the default is the floor's. */
  readonly bodyLimit?: number;
  /** Schema of `data`, or of the whole answer with `envelope: false`. */
  readonly data: D;
  /** `false`: the answer is `data` alone. */
  readonly envelope?: boolean;
  /** Content type of an answer that is not JSON; the handler then answers a Buffer, a stream or a text. */
  readonly dataType?: string;
  /** Default 200. */
  readonly status?: 200 | 201 | 202;
  /** What it can refuse beyond what the floor itself answers (400, 401, 403, 413, 415, 429, 500, 503; 404 with params, 402 with `paid`). */
  readonly errors?: readonly ProblemCode[];
  /** Whether it throws a Refusal: 403 with `{error, message}`. */
  readonly refusals?: boolean;
  readonly example?: RouteExample;
  readonly handler: (ctx: RouteContext<P, Q, B>) => Promise<Static<D> | Buffer | NodeJS.ReadableStream>;
}

/** Gives a route its types from its schemas; lists of routes are `RouteSpec[]`. */
export function route<
  P extends TSchema = TObject,
  Q extends TSchema = TObject,
  B extends TSchema = TSchema,
  D extends TSchema = TSchema,
>(spec: RouteSpec<P, Q, B, D>): RouteSpec {
  return spec as unknown as RouteSpec;
}

/** Credentials of a request as they came, unjudged; an API key pair wins over a bearer token. */
export interface RequestCredentials {
  readonly key?: string;
  readonly secret?: string;
  readonly bearer?: string;
}

/** @throws Problem unauthorized */
export type Authenticate = (credentials: RequestCredentials) => Promise<Caller>;

/** The credential of version 1 (interface.md, Versioning 2): an account and the secret of one of its API keys. */
export interface TeamCredentials {
  readonly teamId: string;
  readonly secret: string;
}

/** @throws Problem unauthorized */
export type AuthenticateTeam = (credentials: TeamCredentials) => Promise<Caller>;
