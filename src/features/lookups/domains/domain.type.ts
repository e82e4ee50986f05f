import {
  connectionOf,
  DateTime,
  enumOf,
  Field,
  ID,
  InputType,
  ObjectType,
  payloadOf,
  TeamMutationInput,
} from '../../../platform/graphql/index.ts';
import { PURPOSES } from './domains.rules.ts';
import type { DnsRecord, Purpose } from './domains.rules.ts';
import type { DomainWithRecords } from './domains.service.ts';
import type { Mailbox } from './mailboxes.store.ts';

const PurposeEnum = enumOf('SendingPurpose', PURPOSES);

@ObjectType('DnsRecord', { description: 'A record to publish.' })
export class DnsRecordType implements DnsRecord {
  @Field(() => String)
  type!: 'TXT';

  @Field(() => String)
  name!: string;

  @Field(() => String)
  value!: string;

  @Field(() => Boolean, { description: 'Whether verification asks for it.' })
  isRequired!: boolean;

  @Field(() => Boolean, { nullable: true, description: 'Only in the answer of a verification.' })
  isPublished?: boolean;
}

@ObjectType('SendingDomain')
export class SendingDomainType implements Partial<DomainWithRecords> {
  @Field(() => ID, { name: 'id' })
  domainId!: string;

  @Field(() => String)
  domain!: string;

  @Field(() => PurposeEnum, { nullable: true, description: 'Wins over the send type of emails; null: both.' })
  purpose!: Purpose | null;

  @Field(() => Boolean)
  verified!: boolean;

  @Field(() => DateTime, { name: 'verifiedAt', nullable: true })
  verifiedAtMs!: number | null;

  @Field(() => [DnsRecordType])
  records!: DnsRecord[];

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('Mailbox')
export class MailboxType implements Mailbox {
  @Field(() => ID, { name: 'id' })
  mailboxId!: string;

  @Field(() => ID, { name: 'mailboxId', description: "REST's name of `id`." })
  restId(): string {
    return this.mailboxId;
  }

  @Field(() => String)
  title!: string;

  @Field(() => String)
  address!: string;

  @Field(() => String)
  domain!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => Boolean)
  isPersonal!: boolean;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@InputType('CreateSendingDomainInput')
export class CreateDomainInput extends TeamMutationInput {
  @Field(() => String)
  domain!: string;

  @Field(() => PurposeEnum, { nullable: true })
  purpose?: Purpose | null;
}

@InputType('VerifySendingDomainInput')
export class VerifyDomainInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;
}

@InputType('CreateMailboxInput')
export class CreateMailboxInput extends TeamMutationInput {
  @Field(() => String)
  title!: string;

  @Field(() => String)
  address!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => Boolean, { nullable: true })
  isPersonal?: boolean | null;
}

export const SendingDomainConnection = connectionOf<DomainWithRecords>(
  'SendingDomain',
  () => SendingDomainType,
);
export const MailboxConnection = connectionOf<Mailbox>('Mailbox', () => MailboxType);
export const CreateDomainPayload = payloadOf(
  'CreateSendingDomainPayload',
  'sendingDomain',
  () => SendingDomainType,
);
export const VerifyDomainPayload = payloadOf(
  'VerifySendingDomainPayload',
  'sendingDomain',
  () => SendingDomainType,
);
export const CreateMailboxPayload = payloadOf('CreateMailboxPayload', 'mailbox', () => MailboxType);
