import type { Services } from '../../src/main/compose.ts';
import { Feeds, mountGraphql, MutationAnswers, schemaOver } from '../../src/platform/graphql/index.ts';
import type { Resolvers } from '../../src/platform/graphql/index.ts';
import { createHttp, GuessGuard, listenHttp, mountRoutes } from '../../src/platform/http/index.ts';
import type { RouteSpec } from '../../src/platform/http/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import type { As } from '../_util/index.ts';

const PLENTY = { perSecond: 100_000, burst: 100_000 };

export interface Answer {
  readonly status: number;
  readonly body: any; // eslint-disable-line @typescript-eslint/no-explicit-any
  readonly data: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

/** Routes and resolvers of one slice on a real port. */
export interface Mounted {
  request(method: string, path: string, of: { as?: As; body?: unknown }): Promise<Answer>;
  ask(as: As, query: string): Promise<{ data: any; errors: any[] | undefined }>; // eslint-disable-line @typescript-eslint/no-explicit-any
  close(): Promise<void>;
}

export async function mountSlice(
  services: Services,
  of: { routes: readonly RouteSpec[]; resolvers?: Resolvers },
): Promise<Mounted> {
  const { ids, limiter, authenticator, gates, accounts } = services;
  const app = createHttp({
    ...{ logger: silentLogger, ids, tls: null, trustProxy: [] },
    publicUrl: () => 'http://127.0.0.1',
  });
  const authenticate: Parameters<typeof mountRoutes>[1]['authenticate'] = (credentials) =>
    authenticator.authenticate(credentials);
  await mountRoutes(app, {
    ...{ routes: of.routes, authenticate, gates, guard: new GuessGuard({ limiter }) },
    limits: { limiter, perRoute: PLENTY },
    browserScopes: new Set(),
  });
  if (of.resolvers) {
    await mountGraphql(app, {
      schema: schemaOver(of.resolvers),
      ...{ admit: authenticate, authenticate, answers: new MutationAnswers(services) },
      hasTeam: (teamId) =>
        accounts.get(teamId).then(
          () => true,
          () => false,
        ),
      ...{ feeds: new Feeds(), isProduction: false, logger: silentLogger },
    });
  }
  const url = `http://127.0.0.1:${await listenHttp(app, { host: '127.0.0.1', port: 0 })}`;
  const request: Mounted['request'] = async (method, path, { as, body }) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...headersOf(as), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const parsed = (await response.json()) as { data?: unknown };
    return { status: response.status, body: parsed, data: parsed.data };
  };
  return {
    request,
    ask: async (as, query) => {
      const { body } = await request('POST', '/graphql', { as, body: { query } });
      return body as { data: unknown; errors: unknown[] | undefined };
    },
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

function headersOf(as: As | undefined): Record<string, string> {
  if (!as) return {};
  return 'bearer' in as
    ? { authorization: `Bearer ${as.bearer}` }
    : { 'x-key': as.key, 'x-secret': as.secret };
}
