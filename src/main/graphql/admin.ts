import type { GraphQLSchema } from 'graphql';
import { DetectionFeed } from '../../features/detection/detection.feed.service.ts';
import { DETECTION_FEED } from '../../features/detection/detection.feed.resolver.ts';
import { SYSTEM_FEED } from '../../features/system/system.resolver.ts';
import { clientAddress, trustedProxies } from '../../features/oauth/client-address.ts';
import { Problem } from '../../kernel/problem.ts';
import {
  Feeds,
  GRAPHQL_PATH,
  mountGraphql,
  MutationAnswers,
  mountSubscriptions,
  schemaOver,
} from '../../platform/graphql/index.ts';
import type { GraphqlOptions } from '../../platform/graphql/index.ts';
import type { GuessGuard, HttpApp } from '../../platform/http/index.ts';
import type { Limit } from '../../platform/limits/index.ts';
import type { Services } from '../compose.ts';
import type { Readiness } from '../readiness.ts';
import { resolversOf } from './resolvers.ts';

const ROUTE = `POST ${GRAPHQL_PATH}`;

export interface AdminParts {
  readonly guard: GuessGuard;
  /** Of all traffic to the route. */
  readonly perRoute: Limit;
  readonly readiness?: () => Promise<Readiness>;
  /** How often the credentials of open connections are judged again; shorter in tests. */
  readonly recheckMs?: number;
}

/** The schema of the admin, for its emission. */
export const adminSchema = (services: Services): GraphQLSchema =>
  schemaOver(resolversOf(services, readinessOf(services)).resolvers);

/** The GraphQL admin at `/graphql`, over the same services as REST. */
export async function mountAdmin(app: HttpApp, services: Services, parts: AdminParts): Promise<void> {
  const { authenticator, settings, logger, db, clock, limiter } = services;
  const { resolvers, teams, system } = resolversOf(services, parts.readiness ?? readinessOf(services));
  const detection = new DetectionFeed({
    ...{ db, clock, logger },
    hasKey: async (caller, keyId) => {
      const keys = await services.detectionKeys.list(caller);
      return keys.some((key) => key.keyId === keyId.toLowerCase());
    },
  });
  const options: GraphqlOptions = {
    schema: schemaOver(resolvers),
    admit: async (credentials, ip) => {
      if (!(await limiter.take(`route:${ROUTE}`, parts.perRoute)))
        throw new Problem('too-many-requests', 'Too many requests.');
      const attempt = { credentials, ip, route: ROUTE };
      return parts.guard.watch(attempt, () => authenticator.authenticate(credentials));
    },
    authenticate: (credentials) => authenticator.authenticate(credentials),
    hasTeam: (teamId) => teams.exists(teamId),
    answers: new MutationAnswers(services),
    feeds: new Feeds().add(DETECTION_FEED, detection).add(SYSTEM_FEED, system),
    isProduction: settings.nodeEnv === 'production',
    logger,
  };
  await mountGraphql(app, options);
  const trusted = trustedProxies(settings.trustProxy);
  mountSubscriptions(app, {
    ...options,
    ids: services.ids,
    addressOf: (request) => clientAddress(request, trusted),
    ...(parts.recheckMs === undefined ? {} : { recheckMs: parts.recheckMs }),
  });
}

/** Of a process that has no other parts. */
const readinessOf = (services: Services) => async (): Promise<Readiness> => {
  await services.db.query('select 1');
  return { ready: true, parts: { database: { ok: true } } };
};
