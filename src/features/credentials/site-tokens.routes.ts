import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { optionalBody } from './body.schema.ts';
import {
  REFERENCE_LENGTH_MAX,
  SCOPE_TEXT_LENGTH_MAX,
  SITE_SCOPES,
  TTL_SEC_MAX,
} from './site-tokens.rules.ts';
import type { SiteTokens } from './site-tokens.service.ts';

const reference = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: REFERENCE_LENGTH_MAX, description }));

const NewToken = optionalBody(
  Type.Object({
    site_id: reference('The site that the widget is on.'),
    sub: reference('Your own id of the visitor.'),
    scope: Type.Optional(
      Type.Union([
        Type.String({
          maxLength: SCOPE_TEXT_LENGTH_MAX,
          pattern: `^ *(${SITE_SCOPES.join('|')})( +(${SITE_SCOPES.join('|')}))* *$`,
          description: `Separated by spaces: ${SITE_SCOPES.join(', ')}. Default: dialer:webrtc.`,
        }),
        Type.Array(Type.Union(SITE_SCOPES.map((scope) => Type.Literal(scope))), {
          minItems: 1,
          maxItems: SITE_SCOPES.length,
        }),
      ]),
    ),
    ttl_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: TTL_SEC_MAX, description: `Default ${TTL_SEC_MAX}.` }),
    ),
  }),
);

/** Site tokens (contract, Endpoints, Credentials). */
export const siteTokensRoutes = ({ siteTokens }: { siteTokens: SiteTokens }): RouteSpec[] => [
  route({
    ...{
      method: 'POST',
      path: '/phone/public/embed/token',
      operationId: 'createSiteToken',
      tag: 'Site tokens',
    },
    summary: 'Mint a site token for a browser widget',
    description:
      'A token cannot hold more than the credential that mints it: campaigns needs campaigns:read and campaigns:send, ' +
      'contacts contacts:read, media and voice media:read. Tokens for dialer:webrtc and phone:hub need a connected ' +
      'carrier and funds. A token ends with the API key that minted it.',
    scopes: ['numbers:write'],
    body: NewToken,
    status: 201,
    data: Type.Object({
      token: Type.String({ description: 'A JWT.' }),
      expires_at: Type.Integer({ description: 'Epoch ms.' }),
      jti: Type.String(),
      pool_id: Type.Optional(
        Type.String({ description: "The account's carrier connection, when it has one." }),
      ),
    }),
    errors: ['byoc-required', 'payment-required'],
    example: { body: { scope: 'campaigns', ttl_seconds: 900, sub: 'visitor-17' } },
    handler: async ({ caller, body }) => {
      const { token, expiresAtMs, jti, poolId } = await siteTokens.mint(caller, {
        ...{ siteId: body?.site_id, sub: body?.sub, scope: body?.scope, ttlSeconds: body?.ttl_seconds },
      });
      return { token, expires_at: expiresAtMs, jti, ...(poolId === null ? {} : { pool_id: poolId }) };
    },
  }),
];
