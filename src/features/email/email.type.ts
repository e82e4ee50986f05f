import type { OutcomeCode } from '../../kernel/outcome.ts';
import {
  connectionOf,
  DateTime,
  enumOf,
  Field,
  ID,
  InputType,
  Int,
  ObjectType,
  payloadOf,
  TeamMutationInput,
} from '../../platform/graphql/index.ts';
import type { Address } from './addresses.rules.ts';
import { DIRECTIONS, EMAIL_STATES, SEND_TYPES } from './email.rules.ts';
import type { Direction, EmailState, SendType } from './email.rules.ts';
import type { EmailRow } from './emails.store.ts';
import type { PlacedEmail } from './history.service.ts';
import type { HookAddresses } from './hooks.service.ts';

const SendTypeEnum = enumOf('EmailSendType', SEND_TYPES);
const DirectionEnum = enumOf('EmailDirection', DIRECTIONS);
const StateEnum = enumOf(
  'EmailState',
  EMAIL_STATES,
  'UNKNOWN: a mail server may have it, which never answered; it is not sent again.',
);

@ObjectType('EmailAddress')
class AddressType implements Address {
  @Field(() => String)
  address!: string;

  @Field(() => String, { nullable: true })
  name?: string;
}

@ObjectType('Email')
export class EmailType implements Partial<EmailRow> {
  @Field(() => ID, { name: 'id' })
  emailId!: string;

  @Field(() => ID, { name: 'emailId', description: "REST's name of `id`." })
  restId(): string {
    return this.emailId;
  }

  @Field(() => ID, { nullable: true })
  contactId!: string | null;

  @Field(() => ID, { nullable: true })
  mailboxId!: string | null;

  @Field(() => ID, { nullable: true })
  templateId!: string | null;

  @Field(() => DirectionEnum)
  direction!: Direction;

  @Field(() => SendTypeEnum)
  sendType!: SendType;

  @Field(() => [AddressType], { name: 'to' })
  recipients!: Address[];

  @Field(() => AddressType, { name: 'from' })
  sender!: Address;

  @Field(() => String)
  subject!: string;

  @Field(() => StateEnum)
  state!: EmailState;

  @Field(() => String, { nullable: true })
  blockedReason!: string | null;

  @Field(() => Int, { nullable: true })
  outcomeCode!: OutcomeCode | null;

  @Field(() => String, { nullable: true, description: 'Why it was not sent, or bounced.' })
  error!: string | null;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'sentAt', nullable: true })
  sentAtMs!: number | null;
}

@InputType('EmailFilter', { description: 'All that is given must hold.' })
export class EmailFilterInput {
  @Field(() => ID, { nullable: true })
  contactId?: string | null;

  @Field(() => DirectionEnum, { nullable: true })
  direction?: Direction | null;

  @Field(() => StateEnum, { nullable: true })
  state?: EmailState | null;

  @Field(() => SendTypeEnum, { nullable: true })
  sendType?: SendType | null;
}

@InputType('RotateMailWebhookSecretInput')
export class RotateMailWebhookSecretInput extends TeamMutationInput {
  @Field(() => ID)
  carrierId!: string;
}

@ObjectType('MailWebhook', { description: 'Where a mail system tells of bounces, and hands over mail.' })
export class MailWebhookType implements HookAddresses {
  @Field(() => ID)
  carrierId!: string;

  @Field(() => String, { description: 'Signs what is sent there; shown only now.' })
  secret!: string;

  @Field(() => String)
  eventsUrl!: string;

  @Field(() => String)
  inboundUrl!: string;
}

export const EmailConnection = connectionOf<PlacedEmail>('Email', () => EmailType);
export const RotateMailWebhookSecretPayload = payloadOf(
  'RotateMailWebhookSecretPayload',
  'mailWebhook',
  () => MailWebhookType,
);
