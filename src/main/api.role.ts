import { accountsRoutes } from '../features/accounts/index.ts';
import {
  aroundContactsRoutes,
  contactsRoutes,
  fieldsRoutes,
  importRoutes,
  listsRoutes,
} from '../features/contacts/index.ts';
import {
  apiKeysRoutes,
  detectionKeysRoutes,
  SITE_TOKEN_OPENS,
  siteTokensRoutes,
} from '../features/credentials/index.ts';
import { carrierWebhooksRoutes } from '../features/carriers/index.ts';
import { dialingRulesRoutes } from '../features/delivery-rules/index.ts';
import { dncRoutes } from '../features/dnc/index.ts';
import { emailRoutes } from '../features/email/index.ts';
import { legacyRoutes } from '../features/legacy/index.ts';
import { lookupsRoutes } from '../features/lookups/index.ts';
import { proofRoutes, sendRoutes, sendsRoutes } from '../features/sends/index.ts';
import { tagsRoutes } from '../features/tags/index.ts';
import { textsRoutes } from '../features/texts/index.ts';
import { webhooksRoutes } from '../features/webhooks/index.ts';
import { GuessGuard, mountReference, mountRoutes } from '../platform/http/index.ts';
import type { HttpApp, RouteSpec } from '../platform/http/index.ts';
import type { Services } from './compose.ts';
import { mountAdmin } from './graphql/admin.ts';
import type { Readiness } from './readiness.ts';
import { VERSION } from './version.ts';

/** The routes of all slices: what is served, described in the OpenAPI document and walked by the contract tests. */
export function apiRoutes(services: Services): RouteSpec[] {
  return [
    ...apiKeysRoutes(services),
    ...siteTokensRoutes(services),
    ...detectionKeysRoutes(services),
    ...accountsRoutes(services),
    ...contactsRoutes(services),
    ...importRoutes(services),
    ...listsRoutes(services),
    ...fieldsRoutes(services),
    ...aroundContactsRoutes(services),
    ...tagsRoutes(services),
    ...dncRoutes(services),
    ...lookupsRoutes(services),
    ...webhooksRoutes(services),
    ...sendRoutes(services),
    ...sendsRoutes(services),
    ...proofRoutes(services),
    ...dialingRulesRoutes(services),
    ...textsRoutes(services),
    ...emailRoutes(services.emails),
    ...carrierWebhooksRoutes(services),
    ...legacyRoutes(services),
  ];
}

/** What the process that serves tells of itself. */
export interface ApiParts {
  readonly readiness?: () => Promise<Readiness>;
}

/** The api role: REST and GraphQL over the services of this process. */
export async function mountApi(app: HttpApp, services: Services, parts: ApiParts = {}): Promise<void> {
  const { authenticator, teamSecrets, limiter, settings } = services;
  const routes = apiRoutes(services);
  const guard = new GuessGuard({ limiter });
  const perRoute = { perSecond: settings.rateLimitPerRoute, burst: settings.rateLimitBurst };
  await mountRoutes(app, {
    routes,
    authenticate: (credentials) => authenticator.authenticate(credentials),
    authenticateTeam: (credentials) => teamSecrets.authenticate(credentials),
    gates: services.gates,
    limits: { limiter, perRoute },
    guard,
    browserScopes: SITE_TOKEN_OPENS,
  });
  await mountReference(app, { routes, version: VERSION, publicUrl: services.addresses.publicUrl });
  await mountAdmin(app, services, { guard, perRoute, ...parts });
}
