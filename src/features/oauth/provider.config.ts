import { createHmac } from 'node:crypto';
import type { errors, interactionPolicy, OidcAdapter, OidcClient, OidcContext } from 'oidc-provider';
import { SCOPES } from '../../kernel/caller.ts';
import { SIGNING_ALGORITHM } from '../credentials/index.ts';

/** Access tokens live an hour (contract, Authentication 6: lifetime not shown); a revoked client ends them at once. */
export const ACCESS_TOKEN_TTL_SEC = 3_600;
const DAY_SEC = 86_400;

export const ROUTES = { authorization: '/oauth/authorize', token: '/oauth/token', jwks: '/oauth/jwks' };

export interface ConfigOptions {
  readonly library: { errors: typeof errors; interactionPolicy: typeof interactionPolicy };
  readonly adapter: (model: string) => OidcAdapter;
  /** The newest first: it signs. */
  readonly privateJwks: readonly PrivateJwk[];
  /** The one audience tokens are given for: PUBLIC_URL. */
  readonly audience: () => string;
}

/** A private EC key as a JSON Web Key. */
export interface PrivateJwk {
  readonly kid?: string;
  readonly d?: string;
}

/** Configuration of the OAuth server: what is issued, to whom, for how long (supplement 12, OAuth). */
export function providerConfig(options: ConfigOptions): object {
  const { adapter, privateJwks } = options;
  return {
    adapter,
    jwks: { keys: privateJwks },
    // Cookies of sign-ins: every process of the service signs and knows them.
    cookies: { keys: privateJwks.map(cookieKey) },
    scopes: ['openid', 'offline_access', ...SCOPES],
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientDefaults: { id_token_signed_response_alg: SIGNING_ALGORITHM },
    enabledJWA: { idTokenSigningAlgValues: [SIGNING_ALGORITHM] },
    allowOmittingSingleRegisteredRedirectUri: false,
    pkce: { required: () => true },
    extraClientMetadata: { properties: ['team_id'] },
    extraTokenClaims: (_ctx: OidcContext, token: { client: OidcClient }) => ({
      team_id: token.client.team_id,
    }),
    clientBasedCORS: (_ctx: OidcContext, origin: string, client: OidcClient) =>
      client.redirectUris.some((uri) => new URL(uri).origin === origin),
    routes: ROUTES,
    ttl: TTL_SEC,
    features: features(options),
    interactions: { policy: [noSignIn(options)] },
    findAccount: async () => undefined,
    renderError: async (ctx: OidcContext, out: { error: string; error_description?: string }) => {
      ctx.type = 'text/plain';
      ctx.body = `${out.error}: ${out.error_description ?? 'the request cannot be served'}\n`;
    },
  };
}

const TTL_SEC = {
  AccessToken: ACCESS_TOKEN_TTL_SEC,
  ClientCredentials: ACCESS_TOKEN_TTL_SEC,
  IdToken: ACCESS_TOKEN_TTL_SEC,
  AuthorizationCode: 60,
  Interaction: 600,
  Session: DAY_SEC,
  RefreshToken: 14 * DAY_SEC,
  Grant: 14 * DAY_SEC,
};

function features({ library, audience, privateJwks }: ConfigOptions): object {
  const off = { enabled: false };
  return {
    clientCredentials: { enabled: true },
    devInteractions: off,
    dPoP: off,
    pushedAuthorizationRequests: off,
    rpInitiatedLogout: off,
    userinfo: off,
    resourceIndicators: {
      enabled: true,
      defaultResource: (ctx: OidcContext) => namedAudience(ctx) ?? audience(),
      useGrantedResource: () => true,
      getResourceServerInfo: (ctx: OidcContext, resource: string, client: OidcClient) => {
        for (const named of [resource, namedAudience(ctx) ?? resource]) {
          if (!isAudience(named, audience())) throw new library.errors.InvalidTarget('unknown audience');
        }
        grantAllByDefault(ctx, client);
        return {
          ...{ audience: audience(), scope: client.scope ?? '', accessTokenFormat: 'jwt' },
          jwt: { sign: { alg: SIGNING_ALGORITHM, kid: privateJwks[0]?.kid } },
        };
      },
    },
  };
}

/** The contract's `audience`, which the library does not know, says the same as RFC 8707's `resource`. */
const namedAudience = (ctx: OidcContext): unknown => ctx.oidc?.body?.['audience'];

/** With or without the slash that stands for an empty path. */
const isAudience = (given: unknown, audience: string): boolean =>
  given === audience || given === `${audience}/`;

/** A machine client that names no scopes gets all it was granted (contract, Authentication 6). */
function grantAllByDefault(ctx: OidcContext, client: OidcClient): void {
  const params = ctx.oidc?.params;
  if (params?.['grant_type'] === 'client_credentials') params['scope'] ??= client.scope;
}

/** Users cannot sign in yet: a client that asks for it is told so at its own redirect address. */
function noSignIn({ library }: ConfigOptions): unknown {
  const { Check, Prompt } = library.interactionPolicy;
  const words = 'this server offers no sign-in of users';
  return new Prompt(
    { name: 'sign_in', requestable: false },
    new Check('sign_in_unavailable', words, 'temporarily_unavailable', () => {
      throw new library.errors.TemporarilyUnavailable(words);
    }),
  );
}

/** A key for cookies out of a signing key; it tells nothing about it. */
const cookieKey = (jwk: PrivateJwk): string =>
  createHmac('sha256', jwk.d ?? '')
    .update('tonegate oauth cookies')
    .digest('base64url');
