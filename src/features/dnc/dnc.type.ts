import {
  connectionOf,
  DateTime,
  Field,
  ID,
  InputType,
  Int,
  ObjectType,
  payloadOf,
  TeamMutationInput,
} from '../../platform/graphql/index.ts';
import type { DncEntry, RemovedDncEntries } from './dnc.service.ts';

@ObjectType('DncEntry', { description: 'A do-not-contact entry.' })
export class DncEntryType implements DncEntry {
  @Field(() => ID, { name: 'id' })
  entryId!: string;

  @Field(() => ID, { nullable: true, description: 'Null blocks every brand.' })
  brandId!: string | null;

  @Field(() => String, { nullable: true })
  phoneNumber!: string | null;

  @Field(() => String, { nullable: true })
  email!: string | null;

  @Field(() => String)
  method!: string;

  @Field(() => String)
  reason!: string;

  @Field(() => Boolean, { description: 'The contact opted out: it stays.' })
  selfAdded!: boolean;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'updatedAt' })
  updatedAtMs!: number;
}

@InputType()
class IdentifiersInput extends TeamMutationInput {
  @Field(() => [String], { nullable: true, description: 'E.164.' })
  phoneNumbers?: string[] | null;

  @Field(() => [String], { nullable: true })
  emails?: string[] | null;

  @Field(() => ID, { nullable: true, description: 'Omitted: every brand.' })
  brandId?: string | null;
}

@InputType('AddDncInput')
export class AddDncInput extends IdentifiersInput {
  @Field(() => String, { nullable: true })
  reason?: string | null;

  @Field(() => String, { nullable: true })
  method?: string | null;
}

@InputType('RemoveDncInput')
export class RemoveDncInput extends IdentifiersInput {}

@ObjectType('DncAddition')
export class DncAdditionType {
  @Field(() => Int, { description: 'Identifiers that were taken.' })
  entries!: number;

  @Field(() => Int, { description: 'Of them listed before.' })
  alreadyListed!: number;

  @Field(() => Int, { description: 'Contacts whose dnc changed.' })
  contacts!: number;
}

@ObjectType('SkippedDncEntry')
class SkippedType {
  @Field(() => String, { nullable: true })
  phoneNumber!: string | null;

  @Field(() => String, { nullable: true })
  email!: string | null;

  @Field(() => String)
  reason!: string;
}

@ObjectType('DncRemoval')
export class DncRemovalType implements RemovedDncEntries {
  @Field(() => [String])
  deleted!: string[];

  @Field(() => [SkippedType])
  skipped!: RemovedDncEntries['skipped'];
}

export const DncConnection = connectionOf<DncEntry>('DncEntry', () => DncEntryType);
export const AddDncPayload = payloadOf('AddDncPayload', 'addition', () => DncAdditionType);
export const RemoveDncPayload = payloadOf('RemoveDncPayload', 'removal', () => DncRemovalType);
