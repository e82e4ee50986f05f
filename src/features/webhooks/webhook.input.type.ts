import {
  DateTime,
  Field,
  ID,
  InputType,
  payloadOf,
  RemovedType,
  TeamMutationInput,
} from '../../platform/graphql/index.ts';
import {
  ReplayedDeliveryType,
  WebhookReplayType,
  WebhookSecretType,
  WebhookTestType,
  WebhookType,
} from './webhook.graph.type.ts';

@InputType('CreateWebhookInput')
export class CreateWebhookInput extends TeamMutationInput {
  @Field(() => String)
  hookUrl!: string;

  @Field(() => [String], { description: 'Exact names, or `prefix.*`.' })
  eventTypes!: string[];

  @Field(() => String, { nullable: true })
  name?: string | null;
}

@InputType('UpdateWebhookInput')
export class UpdateWebhookInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  hookUrl?: string | null;

  @Field(() => [String], { nullable: true, description: 'Replaces the former ones.' })
  eventTypes?: string[] | null;

  @Field(() => String, { nullable: true })
  name?: string | null;
}

@InputType('WebhookIdInput')
export class WebhookIdInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;
}

@InputType('ReplayWebhookDeliveryInput')
export class ReplayDeliveryInput extends TeamMutationInput {
  @Field(() => ID)
  webhookId!: string;

  @Field(() => ID, { description: 'The delivery.' })
  id!: string;
}

@InputType('ReplayWebhookRangeInput')
export class ReplayRangeInput extends TeamMutationInput {
  @Field(() => ID)
  webhookId!: string;

  @Field(() => DateTime)
  from!: number;

  @Field(() => DateTime, { description: 'Included.' })
  to!: number;
}

export const CreateWebhookPayload = payloadOf('CreateWebhookPayload', 'webhook', () => WebhookType);
export const UpdateWebhookPayload = payloadOf('UpdateWebhookPayload', 'webhook', () => WebhookType);
export const DeleteWebhookPayload = payloadOf('DeleteWebhookPayload', 'webhook', () => RemovedType);
export const RotateWebhookSecretPayload = payloadOf(
  'RotateWebhookSecretPayload',
  'webhook',
  () => WebhookSecretType,
);
export const TestWebhookPayload = payloadOf('TestWebhookPayload', 'test', () => WebhookTestType);
export const ReplayDeliveryPayload = payloadOf(
  'ReplayWebhookDeliveryPayload',
  'delivery',
  () => ReplayedDeliveryType,
);
export const ReplayRangePayload = payloadOf('ReplayWebhookRangePayload', 'replay', () => WebhookReplayType);
