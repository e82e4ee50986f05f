import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { optionalBody } from './body.schema.ts';
import { presentDetectionKey, presentMadeDetectionKey } from './credentials.present.ts';
import { EXPIRES_IN_MAX_SEC, EXPIRES_IN_MIN_SEC, NAME_LENGTH_MAX } from './credentials.rules.ts';
import type { DetectionKeysService } from './detection-keys.service.ts';

/** The fields of the contract, Detection key. */
const FIELDS = {
  key_id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  key_hint: Type.String({ description: 'Last four characters of the key.' }),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
  expires_at: Type.Union([Type.Integer(), Type.Null()], { description: 'Epoch ms; null: never.' }),
};
const ListedKey = Type.Object({
  ...FIELDS,
  status: Type.Union([Type.Literal('active'), Type.Literal('suspended'), Type.Literal('expired')]),
});
const MadeKey = Type.Object({
  ...FIELDS,
  api_key: Type.String({ description: 'The key; shown only here.' }),
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
    expires_in_seconds: Type.Optional(
      Type.Integer({
        minimum: EXPIRES_IN_MIN_SEC,
        maximum: EXPIRES_IN_MAX_SEC,
        description: 'Omitted: the key does not expire.',
      }),
    ),
  }),
);

const ALL = '/register/public/detection-keys';
const tag = 'Detection keys';

/** Detection keys (contract, Endpoints, Credentials). */
export const detectionKeysRoutes = (of: { detectionKeys: DetectionKeysService }): RouteSpec[] => [
  list(of.detectionKeys),
  create(of.detectionKeys),
  remove(of.detectionKeys),
];

const list = (keys: DetectionKeysService): RouteSpec =>
  route({
    ...{ method: 'GET', path: ALL, operationId: 'listDetectionKeys', tag },
    summary: 'All Detection keys, newest first, without the keys themselves',
    scopes: ['balance:read'],
    data: Type.Array(ListedKey),
    handler: async ({ caller }) => (await keys.list(caller)).map(presentDetectionKey),
  });

const create = (keys: DetectionKeysService): RouteSpec =>
  route({
    ...{ method: 'POST', path: ALL, operationId: 'createDetectionKey', tag },
    summary: 'Make a Detection key',
    description: 'The key is shown only in this answer. An account has at most 25.',
    scopes: ['account:write'],
    body: NewKey,
    status: 201,
    data: MadeKey,
    errors: [
      'trial_feature_blocked',
      'team-not-verified',
      'byoc-required',
      'conflict',
      'service-unavailable',
    ],
    example: { body: { name: 'dialer', expires_in_seconds: 86_400 } },
    handler: async ({ caller, body }) =>
      presentMadeDetectionKey(
        await keys.create(caller, { name: body?.name, expiresInSeconds: body?.expires_in_seconds }),
      ),
  });

const remove = (keys: DetectionKeysService): RouteSpec =>
  route({
    ...{ method: 'DELETE', path: `${ALL}/{key_id}`, operationId: 'revokeDetectionKey', tag },
    summary: 'Revoke a Detection key',
    description: 'New sessions are refused within 60 seconds; open ones run to completion.',
    scopes: ['account:write'],
    params: Type.Object({ key_id: Type.String({ description: 'A UUID, else 400.' }) }),
    data: Type.Object({ key_id: Type.String(), revoked: Type.Literal(true) }),
    errors: ['not-found', 'service-unavailable'],
    handler: async ({ caller, params }) => {
      const { keyId, revoked } = await keys.revoke(caller, params.key_id);
      return { key_id: keyId, revoked };
    },
  });
