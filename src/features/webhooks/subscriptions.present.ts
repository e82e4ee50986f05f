import type { LoggedDelivery } from './deliveries-log.store.ts';
import type { EventType } from './event-types.rules.ts';
import type { Subscription, TestAnswer } from './subscriptions.service.ts';

/** A subscription on the wire, without its secret. */
export const presentSubscription = (subscription: Subscription) => ({
  webhook_id: subscription.subscriptionId,
  name: subscription.name,
  hook_url: subscription.hookUrl,
  event_types: subscription.eventTypes,
  status: subscription.status,
  paused_until: subscription.pausedUntilMs,
  signing_secret_created_at: subscription.secretCreatedAtMs,
  created_at: subscription.createdAtMs,
  updated_at: subscription.updatedAtMs,
});

export const presentNewSubscription = (subscription: Subscription & { signingSecret: string }) => ({
  ...presentSubscription(subscription),
  signing_secret: subscription.signingSecret,
});

export const presentTestAnswer = ({ statusCode, durationMs, error }: TestAnswer) => ({
  status_code: statusCode,
  duration_ms: durationMs,
  ...(error === undefined ? {} : { error }),
});

export const presentDelivery = (delivery: LoggedDelivery) => ({
  delivery_id: delivery.deliveryId,
  event_id: delivery.eventId,
  event: delivery.event,
  sequence: delivery.sequence,
  status: delivery.state,
  replay_of: delivery.replayOf,
  body: delivery.body,
  created_at: delivery.createdAtMs,
  finished_at: delivery.finishedAtMs,
  attempts: delivery.attempts.map((attempt) => ({
    attempt: attempt.attempt,
    started_at: attempt.startedAtMs,
    duration_ms: attempt.durationMs,
    status_code: attempt.statusCode,
    error: attempt.error,
    response_excerpt: attempt.responseExcerpt,
  })),
});

/** An example's envelope is as it is sent. */
const EXAMPLE_EVENT = { event_id: '7b1e6c9a-5a0d-4e55-8a55-1c2f4c1d9e01', event_at: 1_767_225_600_000 };

export const presentEventType = ({ eventType, description, example, schema }: EventType) => ({
  event_type: eventType,
  description,
  example: { ...EXAMPLE_EVENT, event: eventType, data: example, sequence: 1 },
  data_schema: schema as unknown as Record<string, unknown>,
});
