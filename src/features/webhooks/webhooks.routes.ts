import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { deliveriesRoutes } from './deliveries-log.routes.ts';
import type { DeliveriesLogService } from './deliveries-log.service.ts';
import {
  presentEventType,
  presentNewSubscription,
  presentSubscription,
  presentTestAnswer,
} from './subscriptions.present.ts';
import {
  EVENT_TYPE_LENGTH_MAX,
  EVENT_TYPES_MAX,
  HOOK_URL_LENGTH_MAX,
  NAME_LENGTH_MAX,
  SUBSCRIPTIONS_MAX,
} from './subscriptions.rules.ts';
import type { SubscriptionsService } from './subscriptions.service.ts';

const TAG = 'Webhooks';
const PATH = '/register/public/webhooks';
const ID_LENGTH_MAX = 64;
const EpochMs = Type.Integer({ description: 'Epoch ms.' });

const WebhookParams = Type.Object({ webhook_id: Type.String({ maxLength: ID_LENGTH_MAX }) });

const SUBSCRIPTION = {
  webhook_id: Type.String(),
  name: Type.String(),
  hook_url: Type.String(),
  event_types: Type.Array(Type.String()),
  status: Type.Union([Type.Literal('active'), Type.Literal('paused'), Type.Literal('disabled')], {
    description: 'Ten failed attempts in a row pause the endpoint for 5 minutes; an answer 410 disables it.',
  }),
  paused_until: Type.Union([EpochMs, Type.Null()]),
  signing_secret_created_at: EpochMs,
  created_at: EpochMs,
  updated_at: EpochMs,
};
const Subscription = Type.Object(SUBSCRIPTION);
const signingSecret = Type.String({
  description: '`whsec_` and base64 of 32 bytes. Shown only here: keep it.',
});

const hookUrl = Type.String({
  minLength: 1,
  maxLength: HOOK_URL_LENGTH_MAX,
  description: 'https, on the public internet.',
});
const eventTypes = Type.Array(Type.String({ minLength: 1, maxLength: EVENT_TYPE_LENGTH_MAX }), {
  minItems: 1,
  maxItems: EVENT_TYPES_MAX,
  description: 'Exact names or `prefix.*`; see GET /register/public/webhook-event-types.',
});
const name = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX });

const EXAMPLE_BODY = {
  hook_url: 'https://hooks.example.com/outreach',
  event_types: ['contact.sms.status', 'campaign.*'],
  name: 'CRM',
};

const inputOf = (body: { hook_url?: string; event_types?: string[]; name?: string }) => ({
  hookUrl: body.hook_url,
  eventTypes: body.event_types,
  name: body.name,
});

interface WebhooksServices {
  readonly webhooks: SubscriptionsService;
  readonly webhookDeliveries: DeliveriesLogService;
}

/** Supplement 4, Webhooks of the main service. */
export function webhooksRoutes({ webhooks, webhookDeliveries }: WebhooksServices): RouteSpec[] {
  return [
    ...administration(webhooks),
    ...secretAndTest(webhooks),
    ...deliveriesRoutes(webhookDeliveries),
    route({
      ...{ method: 'GET', path: '/register/public/webhook-event-types', tag: TAG },
      operationId: 'listWebhookEventTypes',
      summary: 'List the events that can be subscribed to, each with an example and the schema of its data',
      scopes: ['webhooks:read'],
      data: Type.Array(
        Type.Object({
          event_type: Type.String(),
          description: Type.String(),
          example: Type.Object({}, { additionalProperties: true, description: 'A whole body.' }),
          data_schema: Type.Object({}, { additionalProperties: true, description: 'JSON Schema of `data`.' }),
        }),
      ),
      handler: async ({ caller }) => webhooks.eventTypes(caller).map(presentEventType),
    }),
  ];
}

function administration(webhooks: SubscriptionsService): RouteSpec[] {
  return [
    route({
      ...{ method: 'POST', path: PATH, operationId: 'createWebhook', tag: TAG, status: 201 },
      summary: 'Subscribe an address to events',
      description: `At most ${SUBSCRIPTIONS_MAX} subscriptions an account. Without a name it gets that of its host.`,
      scopes: ['webhooks:write'],
      body: Type.Object({ hook_url: hookUrl, event_types: eventTypes, name: Type.Optional(name) }),
      data: Type.Object({ ...SUBSCRIPTION, signing_secret: signingSecret }),
      errors: ['conflict'],
      example: { body: EXAMPLE_BODY },
      handler: async ({ caller, body }) =>
        presentNewSubscription(await webhooks.create(caller, inputOf(body))),
    }),
    route({
      ...{ method: 'GET', path: PATH, operationId: 'listWebhooks', tag: TAG },
      summary: 'List all subscriptions, newest first',
      scopes: ['webhooks:read'],
      data: Type.Array(Subscription),
      handler: async ({ caller }) => (await webhooks.list(caller)).map(presentSubscription),
    }),
    route({
      ...{ method: 'PUT', path: `${PATH}/{webhook_id}`, operationId: 'updateWebhook', tag: TAG },
      summary: 'Change a subscription',
      description:
        '`event_types` replaces the set. Giving `hook_url`, even the same one, makes a paused or disabled endpoint active again.',
      scopes: ['webhooks:write'],
      params: WebhookParams,
      body: Type.Object({
        event_types: Type.Optional(eventTypes),
        hook_url: Type.Optional(hookUrl),
        name: Type.Optional(name),
      }),
      data: Subscription,
      errors: ['not-found'],
      example: { body: { event_types: ['contact.*'] } },
      handler: async ({ caller, params, body }) =>
        presentSubscription(await webhooks.update(caller, params.webhook_id, inputOf(body))),
    }),
    route({
      ...{ method: 'DELETE', path: `${PATH}/{webhook_id}`, operationId: 'deleteWebhook', tag: TAG },
      summary: 'Delete a subscription; nothing is delivered to it any more',
      scopes: ['webhooks:write'],
      params: WebhookParams,
      data: Type.Object({ webhook_id: Type.String(), deleted: Type.Boolean() }),
      errors: ['not-found'],
      handler: async ({ caller, params }) => {
        await webhooks.remove(caller, params.webhook_id);
        return { webhook_id: params.webhook_id, deleted: true };
      },
    }),
  ];
}

function secretAndTest(webhooks: SubscriptionsService): RouteSpec[] {
  return [
    route({
      ...{ method: 'POST', path: `${PATH}/{webhook_id}/rotate-secret`, tag: TAG },
      operationId: 'rotateWebhookSecret',
      summary: 'Replace the signing secret',
      description: 'The former one stops at once: retries are signed with the new one too.',
      scopes: ['webhooks:write'],
      params: WebhookParams,
      data: Type.Object({
        webhook_id: Type.String(),
        signing_secret: signingSecret,
        signing_secret_created_at: EpochMs,
      }),
      errors: ['not-found'],
      handler: async ({ caller, params }) => {
        const rotated = await webhooks.rotateSecret(caller, params.webhook_id);
        return {
          webhook_id: rotated.subscriptionId,
          signing_secret: rotated.signingSecret,
          signing_secret_created_at: rotated.secretCreatedAtMs,
        };
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/{webhook_id}/test`, operationId: 'testWebhook', tag: TAG },
      summary: 'Send a sample event and answer what the endpoint answered',
      description:
        'The sample is of the first event type subscribed to, signed as any other, with sequence 0. It is not recorded.',
      scopes: ['webhooks:write'],
      params: WebhookParams,
      data: Type.Object({
        status_code: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Null: no answer within 5 s.',
        }),
        duration_ms: Type.Integer(),
        error: Type.Optional(
          Type.String({ description: 'Why there was no answer: timeout, connection_refused, dns, tls, …' }),
        ),
      }),
      errors: ['not-found'],
      handler: async ({ caller, params }) =>
        presentTestAnswer(await webhooks.test(caller, params.webhook_id)),
    }),
  ];
}
