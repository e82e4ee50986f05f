import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { Type } from '@sinclair/typebox';
import type { Caller, Scope } from '../../src/kernel/caller.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { systemIds } from '../../src/kernel/ids.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { Refusal } from '../../src/kernel/refusal.ts';
import {
  createHttp,
  GuessGuard,
  listenHttp,
  mountReference,
  mountRoutes,
  offsetPaging,
  route,
} from '../../src/platform/http/index.ts';
import type { RequestCredentials, RouteSpec, TlsFiles } from '../../src/platform/http/index.ts';
import { LocalLimiter } from '../../src/platform/limits/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { callerOf } from '../_util/index.ts';

export const RIGHT = { 'x-key': 'tg_right', 'x-secret': 'right' };
const PAGE = { preset: 2, max: 50 };

const base = { tag: 'Things', summary: 'A thing', scopes: ['contacts:read', 'lists:read'] as Scope[] };
const thing = Type.Object({ name: Type.String({ minLength: 1, maxLength: 20 }) });

/** Routes that show each thing the floor does, with nothing behind them. */
const routes: RouteSpec[] = [
  route({
    ...{ method: 'GET', path: '/thing/public/things', operationId: 'listThings', ...base },
    query: Type.Object({
      ...offsetPaging(PAGE),
      kind: Type.Optional(Type.Union([Type.Literal('old'), Type.Literal('new')])),
      since: Type.Optional(Type.Number()),
      is_good: Type.Optional(Type.Boolean()),
    }),
    data: Type.Object({ limit: Type.Integer(), offset: Type.Integer(), since: Type.Optional(Type.Number()) }),
    // `secret` is not declared.
    handler: async ({ query: { limit, offset, since } }) =>
      ({ limit, offset, since, secret: 'never' }) as never,
  }),
  route({
    ...{ method: 'POST', path: '/thing/public/things', operationId: 'createThing', ...base },
    scopes: ['contacts:write'],
    body: Type.Object({ name: Type.String({ minLength: 1 }), nested: Type.Optional(Type.Any()) }),
    data: Type.Any(),
    status: 201,
    handler: async ({ body }) => ({ echo: body, polluted: ({} as { polluted?: unknown }).polluted ?? null }),
  }),
  route({
    ...{ method: 'GET', path: '/thing/public/things/{thing_id}', operationId: 'getThing', ...base },
    params: Type.Object({ thing_id: Type.String() }),
    data: Type.Object({ thing_id: Type.String() }),
    handler: async ({ params }) => params,
  }),
  route({
    ...{ method: 'POST', path: '/thing/public/paid', operationId: 'payThing', ...base },
    paid: true,
    body: thing,
    data: thing,
    handler: async ({ body }) => body,
  }),
  route({
    ...{ method: 'POST', path: '/thing/public/refused', operationId: 'refuseThing', ...base },
    data: thing,
    handler: async () => {
      throw new Refusal('plan_gate', 'The plan has no email.', 'email');
    },
  }),
  route({
    ...{ method: 'POST', path: '/thing/public/broken', operationId: 'breakThing', ...base },
    data: thing,
    handler: async () => {
      throw new Error('select secret from passwords');
    },
  }),
  route({
    ...{ method: 'PUT', path: '/thing/public/raw', operationId: 'putThing', ...base },
    auth: 'none',
    bodyKind: 'raw',
    bodyTypes: ['audio/wav'],
    bodyLimit: 300_000,
    body: Type.String(),
    data: Type.Object({ bytes: Type.Integer() }),
    handler: async ({ request }) => {
      let bytes = 0;
      for await (const chunk of request.raw) bytes += (chunk as Buffer).length;
      return { bytes };
    },
  }),
  route({
    ...{ method: 'POST', path: '/thing/public/forms', operationId: 'formThing', ...base },
    bodyKind: 'json-or-multipart',
    body: thing,
    data: Type.Object({ by: Type.String() }),
    handler: async ({ request }) => {
      if (!request.isMultipart()) return { by: 'json' };
      const names: string[] = [];
      for await (const part of request.parts()) names.push(part.fieldname);
      return { by: names.join() };
    },
  }),
];

export interface Floor {
  readonly clock: ManualClock;
  readonly port: number;
  close(): Promise<void>;
}

export interface FloorOptions {
  readonly trustProxy?: readonly string[];
  readonly tls?: TlsFiles;
  readonly perRoute?: { perSecond: number; burst: number };
  readonly scopes?: readonly Scope[];
}

/** The floor over those routes on a real port; time moves when told to. */
export async function startFloor(options: FloorOptions = {}): Promise<Floor> {
  const clock = new ManualClock(0);
  const limiter = new LocalLimiter({ clock });
  const { trustProxy = [], tls = null, scopes } = options;
  const publicUrl = (): string => 'https://calls.example.com';
  const app = createHttp({ logger: silentLogger, ids: systemIds, tls, trustProxy, publicUrl });
  await mountRoutes(app, {
    routes,
    authenticate: async (credentials) => admit(credentials, scopes),
    gates: {
      requirePaid: async () => {
        throw new Problem('payment-required', 'Unpaid.', { dunning_tier: 'restricted' });
      },
    },
    limits: {
      limiter,
      perRoute: options.perRoute ?? { perSecond: 1_500, burst: 2_000 },
    },
    guard: new GuessGuard({ limiter }),
    browserScopes: new Set<Scope>(['contacts:read']),
  });
  await mountReference(app, { routes, version: '1.2.3', publicUrl });
  const port = await listenHttp(app, { host: '127.0.0.1', port: 0 });
  return {
    clock,
    port,
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

async function admit(
  { key, secret, bearer }: RequestCredentials,
  scopes?: readonly Scope[],
): Promise<Caller> {
  if ((key === undefined && bearer === 'right') || secret === 'right')
    return callerOf({ teamId: 'team', ownerId: 'owner' }, scopes);
  throw new Problem('unauthorized', 'The credentials are wrong.');
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

/** A request as it is written, which `fetch` would mend: paths are not normalised, bodies go with any method. */
export async function ask(
  floor: Pick<Floor, 'port'>,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { headers = {}, body } = options;
    const sent = httpRequest({ host: '127.0.0.1', port: floor.port, method, path, headers, agent: false });
    sent.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = /json/.test(response.headers['content-type'] ?? '') && text !== '';
        const parsed: unknown = isJson ? JSON.parse(text) : undefined;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed });
      });
    });
    sent.end(body);
  });
}

/** What is answered to bytes that are no HTTP. */
export async function askRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', reject).on('close', () => resolve(text));
  });
}
