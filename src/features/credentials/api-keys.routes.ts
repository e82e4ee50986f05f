import { Type } from '@sinclair/typebox';
import { SCOPES } from '../../kernel/caller.ts';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { presentApiKey, presentMadeApiKey } from './api-keys.present.ts';
import type { ApiKeysService } from './api-keys.service.ts';
import { optionalBody } from './body.schema.ts';
import { EXPIRES_IN_MAX_SEC, EXPIRES_IN_MIN_SEC, NAME_LENGTH_MAX } from './credentials.rules.ts';

const ScopeSchema = Type.Union(SCOPES.map((scope) => Type.Literal(scope)));
const orNull = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** The fields of the contract, API key. */
const FIELDS = {
  _id: Type.String({ description: 'Used to delete the key.' }),
  name: Type.String(),
  key: Type.String({ description: 'Sent as x-key.' }),
  type: Type.String({ description: '`standard` for keys made through this interface.' }),
  team_id: Type.String(),
  scopes: Type.Array(Type.String()),
  mcp_client: orNull(Type.String()),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
  expires_at: orNull(Type.Integer({ description: 'Epoch ms; null: never.' })),
};
const ListedKey = Type.Object({
  ...FIELDS,
  last_used_at: orNull(Type.Integer({ description: 'Epoch ms; null: never used.' })),
  request_count: Type.Integer({ description: 'Authenticated requests made with the key.' }),
});
const MadeKey = Type.Object({
  ...FIELDS,
  secret: Type.String({ description: 'Sent as x-secret; shown only here.' }),
});

const NewKey = optionalBody(
  Type.Object({
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: NAME_LENGTH_MAX,
        description: 'Default: a label and the date.',
      }),
    ),
    scopes: Type.Optional(
      Type.Array(ScopeSchema, {
        minItems: 1,
        maxItems: SCOPES.length,
        description: 'Default: the scopes of the credential that asks; none may be beyond them.',
      }),
    ),
    expires_in_seconds: Type.Optional(
      Type.Integer({
        minimum: EXPIRES_IN_MIN_SEC,
        maximum: EXPIRES_IN_MAX_SEC,
        description: 'Omitted: the key does not expire.',
      }),
    ),
  }),
);

const ALL = '/register/public/apikeys';
const tag = 'API keys';

/** API keys (contract, Endpoints, Credentials). */
export const apiKeysRoutes = ({ apiKeys }: { apiKeys: ApiKeysService }): RouteSpec[] => [
  list(apiKeys),
  create(apiKeys),
  remove(apiKeys),
];

const list = (apiKeys: ApiKeysService): RouteSpec =>
  route({
    ...{ method: 'GET', path: ALL, operationId: 'listApiKeys', tag },
    summary: 'All API keys, newest first, without secrets',
    scopes: ['balance:read'],
    data: Type.Array(ListedKey),
    handler: async ({ caller }) => (await apiKeys.list(caller)).map(presentApiKey),
  });

const create = (apiKeys: ApiKeysService): RouteSpec =>
  route({
    ...{ method: 'POST', path: ALL, operationId: 'createApiKey', tag },
    summary: 'Make an API key',
    description: 'The secret is shown only in this answer. The account must be verified.',
    scopes: ['account:write'],
    body: NewKey,
    status: 201,
    data: MadeKey,
    errors: ['team-not-verified', 'conflict'],
    example: { body: { name: 'Reports', scopes: ['account:write'], expires_in_seconds: 86_400 } },
    handler: async ({ caller, body }) =>
      presentMadeApiKey(
        await apiKeys.create(caller, {
          ...{ name: body?.name, scopes: body?.scopes, expiresInSeconds: body?.expires_in_seconds },
        }),
      ),
  });

const remove = (apiKeys: ApiKeysService): RouteSpec =>
  route({
    ...{ method: 'DELETE', path: `${ALL}/{key_id}`, operationId: 'deleteApiKey', tag },
    summary: 'Delete an API key',
    description: 'It stops working at once.',
    scopes: ['account:write'],
    params: Type.Object({ key_id: Type.String({ description: "The key's `_id`." }) }),
    data: Type.Object({ deleted: Type.Literal(true) }),
    errors: ['not-found'],
    handler: async ({ caller, params }) => {
      await apiKeys.delete(caller, params.key_id);
      return { deleted: true as const };
    },
  });
