import {
  connectionOf,
  DateTime,
  Decimal,
  enumOf,
  Field,
  ID,
  InputType,
  Int,
  Json,
  ObjectType,
} from '../../platform/graphql/index.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import { CHANNELS, SEND_STATES, STEP_KINDS } from './channels.rules.ts';
import type { SendState, StepKind } from './send.type.ts';
import type { SendListed, Step } from './sends.query.store.ts';

const SendChannelEnum = enumOf('SendChannel', CHANNELS);
const SendStateEnum = enumOf('SendState', SEND_STATES);
const SendStepKindEnum = enumOf('SendStepKind', STEP_KINDS);

@ObjectType('SendStep', { description: 'Something that happened to a send.' })
export class SendStepType implements Step {
  @Field(() => SendStepKindEnum)
  kind!: StepKind;

  @Field(() => DateTime, { name: 'at' })
  atMs!: number;

  @Field(() => Json, { description: 'Of DECIDED the facts that the rules saw, of a carrier what was said.' })
  detail!: Record<string, unknown>;
}

@ObjectType('Send', { description: 'One message or call to one contact.' })
export class SendType implements Omit<SendListed, 'teamId' | 'version'> {
  @Field(() => ID, { name: 'id' })
  sendId!: string;

  @Field(() => ID, { description: "REST's name of `id`." })
  messageId(): string {
    return this.sendId;
  }

  @Field(() => SendChannelEnum)
  channel!: SendChannel;

  @Field(() => SendStateEnum)
  state!: SendState;

  @Field(() => Int, { nullable: true, description: 'Null: it has no result yet.' })
  outcomeCode!: number | null;

  @Field(() => String, { nullable: true })
  reason!: string | null;

  @Field(() => String, { nullable: true })
  detail!: string | null;

  @Field(() => DateTime, { name: 'heldUntil', nullable: true })
  heldUntilMs!: number | null;

  @Field(() => DateTime, { name: 'expiresAt', nullable: true, description: 'Held no longer than this.' })
  expiresAtMs!: number | null;

  @Field(() => String, { nullable: true, description: "The caller's own reference." })
  foreignId!: string | null;

  @Field(() => String, { nullable: true })
  callbackUrl!: string | null;

  @Field(() => ID, { nullable: true })
  contactId!: string | null;

  @Field(() => String, { nullable: true })
  phoneNumber!: string | null;

  @Field(() => String, { nullable: true })
  callerId!: string | null;

  @Field(() => ID, { nullable: true })
  phoneLineId!: string | null;

  @Field(() => ID, { nullable: true })
  brandId!: string | null;

  @Field(() => ID, { nullable: true })
  campaignId!: string | null;

  @Field(() => Int, { description: 'Times it was handed to a carrier.' })
  attempt!: number;

  @Field(() => ID, { nullable: true, description: 'Null: the built-in simulator, or none yet.' })
  carrierId!: string | null;

  @Field(() => String, { nullable: true })
  carrierMessageId!: string | null;

  @Field(() => Int, { nullable: true, description: 'Of a text.' })
  segments!: number | null;

  @Field(() => Int)
  quantity!: number;

  @Field(() => Decimal, { name: 'productCost' })
  productCostMicros!: bigint;

  @Field(() => Decimal, { name: 'complianceFee' })
  complianceFeeMicros!: bigint;

  @Field(() => Decimal, { name: 'ttsFee' })
  ttsFeeMicros!: bigint;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'attemptedAt', nullable: true })
  attemptedAtMs!: number | null;

  @Field(() => DateTime, { name: 'finishedAt', nullable: true })
  finishedAtMs!: number | null;
}

@InputType('SendFilter', { description: 'All that is given must hold.' })
export class SendFilterInput {
  @Field(() => ID, { nullable: true })
  messageId?: string | null;

  @Field(() => String, { nullable: true })
  foreignId?: string | null;

  @Field(() => SendStateEnum, { nullable: true })
  state?: SendState | null;

  @Field(() => SendChannelEnum, { nullable: true })
  channel?: SendChannel | null;

  @Field(() => Int, { nullable: true })
  outcomeCode?: number | null;

  @Field(() => String, { nullable: true, description: 'E.164.' })
  phoneNumber?: string | null;

  @Field(() => ID, { nullable: true })
  contactId?: string | null;

  @Field(() => ID, { nullable: true })
  campaignId?: string | null;

  @Field(() => DateTime, { nullable: true })
  from?: number | null;

  @Field(() => DateTime, { nullable: true })
  to?: number | null;
}

export const SendConnection = connectionOf<SendListed>('Send', () => SendType);
