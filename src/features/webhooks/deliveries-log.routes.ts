import { Type } from '@sinclair/typebox';
import { route, skipPaging } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { PAGE_DEFAULT, PAGE_MAX, REPLAY_MAX } from './deliveries-log.service.ts';
import type { DeliveriesLogService } from './deliveries-log.service.ts';
import { presentDelivery } from './subscriptions.present.ts';

const TAG = 'Webhooks';
const PATH = '/register/public/webhooks/{webhook_id}/deliveries';
const ID_LENGTH_MAX = 64;
/** Deeper pages are read by time, not by skipping. */
const SKIP_MAX = 100_000;

const Id = Type.String({ maxLength: ID_LENGTH_MAX });
const EpochMs = Type.Integer({ description: 'Epoch ms.' });
const nullable = <T extends ReturnType<typeof Type.Integer> | ReturnType<typeof Type.String>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const Delivery = Type.Object({
  delivery_id: Type.String(),
  event_id: Type.String({ description: 'The same over retries and replays.' }),
  event: Type.String(),
  sequence: Type.Integer(),
  status: Type.Union(
    [
      ...[Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('failed')],
      Type.Literal('dropped', { description: 'Not sent, or not tried again, because of a pause.' }),
    ],
    { description: '`dropped`: not sent, or not tried again, because the endpoint was paused or disabled.' },
  ),
  replay_of: nullable(Type.String()),
  body: Type.String({ description: 'The exact text that is signed and sent.' }),
  created_at: EpochMs,
  finished_at: nullable(EpochMs),
  attempts: Type.Array(
    Type.Object({
      attempt: Type.Integer(),
      started_at: EpochMs,
      duration_ms: Type.Integer(),
      status_code: nullable(Type.Integer()),
      error: nullable(Type.String({ description: 'Why there was no answer, in a word.' })),
      response_excerpt: nullable(Type.String({ description: 'At most 1,024 bytes.' })),
    }),
  ),
});

/** The log of a subscription, and replays (beyond the contract; supplement 4). */
export function deliveriesRoutes(log: DeliveriesLogService): RouteSpec[] {
  return [
    route({
      ...{ method: 'GET', path: PATH, operationId: 'listWebhookDeliveries', tag: TAG },
      summary: 'List what was delivered, newest first, with every attempt and its answer',
      scopes: ['webhooks:read'],
      params: Type.Object({ webhook_id: Id }),
      query: Type.Object({
        ...skipPaging({ preset: PAGE_DEFAULT, max: PAGE_MAX, positionMax: SKIP_MAX }),
      }),
      data: Type.Array(Delivery),
      errors: ['not-found'],
      handler: async ({ caller, params, query }) =>
        (await log.list(caller, params.webhook_id, query)).map(presentDelivery),
    }),
    route({
      ...{
        method: 'POST',
        path: `${PATH}/{delivery_id}/replay`,
        operationId: 'replayWebhookDelivery',
        tag: TAG,
      },
      summary: 'Deliver an event again',
      description:
        'The same event_id and body, as a delivery of its own, to the address and with the secret of now. It is sent once even in a pause.',
      status: 201,
      scopes: ['webhooks:write'],
      params: Type.Object({ webhook_id: Id, delivery_id: Id }),
      data: Type.Object({ delivery_id: Type.String(), event_id: Type.String() }),
      errors: ['not-found', 'conflict'],
      handler: async ({ caller, params }) => {
        const { deliveryId, eventId } = await log.replay(caller, params.webhook_id, params.delivery_id);
        return { delivery_id: deliveryId, event_id: eventId };
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/replay`, operationId: 'replayWebhookDeliveries', tag: TAG },
      summary: 'Deliver the events of a time range again, in their order',
      description: `All that were recorded from \`from\` to \`to\` (both included) and are not under way; replays are not repeated. At most ${REPLAY_MAX} a call.`,
      status: 201,
      scopes: ['webhooks:write'],
      params: Type.Object({ webhook_id: Id }),
      body: Type.Object({ from: EpochMs, to: EpochMs }),
      data: Type.Object({ replayed: Type.Integer() }),
      errors: ['not-found', 'conflict'],
      example: { body: { from: 1_767_225_600_000, to: 1_767_229_200_000 } },
      handler: async ({ caller, params, body }) =>
        log.replayRange(caller, params.webhook_id, { fromMs: body.from, toMs: body.to }),
    }),
  ];
}
