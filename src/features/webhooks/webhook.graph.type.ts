import {
  connectionOf,
  DateTime,
  enumOf,
  Field,
  ID,
  InputType,
  Int,
  Json,
  ObjectType,
} from '../../platform/graphql/index.ts';
import type { DeliveryListed } from './deliveries.query.store.ts';
import type { LoggedAttempt } from './deliveries-log.store.ts';
import type { EventType } from './event-types.rules.ts';
import type { Subscription, TestAnswer } from './subscriptions.service.ts';
import type { DeliveryKind, DeliveryState } from './webhooks.store.ts';

const WebhookStatusEnum = enumOf('WebhookStatus', ['active', 'paused', 'disabled']);
const DeliveryKindEnum = enumOf('WebhookDeliveryKind', ['detection', 'subscription']);
const DeliveryStateEnum = enumOf('WebhookDeliveryState', ['pending', 'delivered', 'failed', 'dropped']);

/** A subscription with the account it belongs to; the secret only from the mutations that show it once. */
export type WebhookView = Subscription & { teamId: string; signingSecret?: string };

@ObjectType('Webhook', { description: 'A webhook subscription.' })
export class WebhookType implements Omit<WebhookView, 'teamId'> {
  @Field(() => ID, { name: 'id' })
  subscriptionId!: string;

  @Field(() => ID, { description: "REST's name of `id`." })
  webhookId(): string {
    return this.subscriptionId;
  }

  @Field(() => String)
  name!: string;

  @Field(() => String)
  hookUrl!: string;

  @Field(() => [String])
  eventTypes!: string[];

  @Field(() => WebhookStatusEnum)
  status!: 'active' | 'paused' | 'disabled';

  @Field(() => DateTime, { name: 'pausedUntil', nullable: true })
  pausedUntilMs!: number | null;

  @Field(() => String, { nullable: true, description: 'Only in the answers that make or rotate it.' })
  signingSecret?: string;

  @Field(() => DateTime, { name: 'signingSecretCreatedAt' })
  secretCreatedAtMs!: number;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'updatedAt' })
  updatedAtMs!: number;
}

@ObjectType('WebhookAttempt')
export class WebhookAttemptType implements LoggedAttempt {
  @Field(() => Int)
  attempt!: number;

  @Field(() => DateTime, { name: 'startedAt' })
  startedAtMs!: number;

  @Field(() => Int)
  durationMs!: number;

  @Field(() => Int, { nullable: true })
  statusCode!: number | null;

  @Field(() => String, { nullable: true, description: 'What went wrong, in a word.' })
  error!: string | null;

  @Field(() => String, { nullable: true, description: 'The beginning of the answer.' })
  responseExcerpt!: string | null;
}

@ObjectType('WebhookDelivery')
export class WebhookDeliveryType implements Omit<DeliveryListed, 'atUs' | 'teamId'> {
  @Field(() => ID, { name: 'id' })
  deliveryId!: string;

  @Field(() => DeliveryKindEnum)
  kind!: DeliveryKind;

  @Field(() => ID, { description: 'The subscription, or the detection session.' })
  sourceId!: string;

  @Field(() => Int)
  sequence!: number;

  @Field(() => String)
  event!: string;

  @Field(() => ID, { nullable: true })
  eventId!: string | null;

  @Field(() => String)
  url!: string;

  @Field(() => String, { description: 'The exact text that is signed and sent.' })
  body!: string;

  @Field(() => DeliveryStateEnum)
  state!: DeliveryState;

  @Field(() => Int)
  attemptCount!: number;

  @Field(() => Int, { nullable: true, description: 'Of the last attempt.' })
  statusCode!: number | null;

  @Field(() => ID, { nullable: true })
  replayOf!: string | null;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'finishedAt', nullable: true })
  finishedAtMs!: number | null;
}

@ObjectType('WebhookTest', { description: 'What the endpoint answered to a sample.' })
export class WebhookTestType implements Omit<TestAnswer, 'error'> {
  @Field(() => Int, { nullable: true, description: 'Null: it did not answer.' })
  statusCode!: number | null;

  @Field(() => Int)
  durationMs!: number;

  @Field(() => String, { nullable: true })
  error?: string | null;
}

@ObjectType('WebhookSecret')
export class WebhookSecretType {
  @Field(() => ID, { name: 'id' })
  subscriptionId!: string;

  @Field(() => String)
  signingSecret!: string;

  @Field(() => DateTime, { name: 'signingSecretCreatedAt' })
  secretCreatedAtMs!: number;
}

@ObjectType('ReplayedWebhookDelivery', { description: 'The new delivery, and the event that it repeats.' })
export class ReplayedDeliveryType {
  @Field(() => ID, { name: 'id' })
  deliveryId!: string;

  @Field(() => ID)
  eventId!: string;
}

@ObjectType('WebhookReplay')
export class WebhookReplayType {
  @Field(() => Int, { description: 'Deliveries made again.' })
  replayed!: number;
}

@ObjectType('WebhookEventType')
export class WebhookEventTypeType implements Pick<EventType, 'eventType' | 'description'> {
  @Field(() => String)
  eventType!: string;

  @Field(() => String)
  description!: string;

  @Field(() => Json, { description: '`data` of an example.' })
  example!: EventType['example'];
}

@InputType('WebhookDeliveryFilter')
export class DeliveryFilterInput {
  @Field(() => DeliveryKindEnum, { nullable: true })
  kind?: DeliveryKind | null;

  @Field(() => ID, { nullable: true, description: 'Deliveries of this subscription.' })
  webhookId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Deliveries of this detection session.' })
  sessionId?: string | null;

  @Field(() => DeliveryStateEnum, { nullable: true })
  state?: DeliveryState | null;

  @Field(() => String, { nullable: true })
  event?: string | null;

  @Field(() => DateTime, { nullable: true })
  from?: number | null;

  @Field(() => DateTime, { nullable: true })
  to?: number | null;
}

export const WebhookConnection = connectionOf<WebhookView>('Webhook', () => WebhookType);
export const WebhookDeliveryConnection = connectionOf<DeliveryListed>(
  'WebhookDelivery',
  () => WebhookDeliveryType,
);
