import {
  DateTime,
  Field,
  ID,
  InputType,
  Int,
  Json,
  ObjectType,
  payloadOf,
  RemovedType,
  TeamMutationInput,
} from '../../platform/graphql/index.ts';
import type { ConsentMethod, ConsentType } from './consent.rules.ts';
import {
  AssignedTypeEnum,
  ConsentMethodEnum,
  ConsentRecordType,
  ConsentTypeEnum,
  ContactType,
  FieldValueInput,
  FollowUpType,
  NoteType,
  RevokedConsentType,
} from './contact.type.ts';
import { ContactListType, CustomFieldType, FieldKindEnum, TaskType } from './list.type.ts';
import type { FieldKind } from './fields.rules.ts';
import type { AssignedType } from './follow-ups.rules.ts';

/** Values of a contact by the names of the record; null takes one away. */
@InputType()
export class ContactValuesInput extends TeamMutationInput {
  @Field(() => String, { nullable: true })
  uid?: string | null;

  @Field(() => String, { nullable: true })
  firstName?: string | null;

  @Field(() => String, { nullable: true })
  lastName?: string | null;

  @Field(() => String, { nullable: true })
  email?: string | null;

  @Field(() => String, { nullable: true })
  phoneNumber?: string | null;

  @Field(() => String, { nullable: true })
  mainPhone?: string | null;

  @Field(() => String, { nullable: true })
  mobilePhone?: string | null;

  @Field(() => String, { nullable: true })
  company?: string | null;

  @Field(() => String, { nullable: true })
  address1?: string | null;

  @Field(() => String, { nullable: true })
  address2?: string | null;

  @Field(() => String, { nullable: true })
  city?: string | null;

  @Field(() => String, { nullable: true })
  state?: string | null;

  @Field(() => String, { nullable: true })
  postal?: string | null;

  @Field(() => String, { nullable: true })
  country?: string | null;

  @Field(() => [FieldValueInput], { nullable: true, description: 'Custom fields by their slugs.' })
  fieldData?: FieldValueInput[] | null;

  @Field(() => String, { nullable: true, description: 'Two-letter country of numbers without one.' })
  region?: string | null;
}

@InputType('CreateContactInput')
export class CreateContactInput extends ContactValuesInput {
  @Field(() => [ID], { nullable: true })
  listIds?: string[] | null;

  @Field(() => String, { nullable: true, description: 'append (the default) or overwrite.' })
  conflictMode?: string | null;
}

@InputType('UpdateContactInput')
export class UpdateContactInput extends ContactValuesInput {
  @Field(() => ID)
  id!: string;
}

@InputType('ImportContactsInput')
export class ImportContactsInput extends TeamMutationInput {
  @Field(() => [String], { description: 'The type of each column.' })
  fields!: string[];

  @Field(() => [[Json]], { description: 'Rows of values, in the order of the columns.' })
  values!: unknown[][];

  @Field(() => [ID], { nullable: true })
  listIds?: string[] | null;

  @Field(() => String, { nullable: true })
  region?: string | null;

  @Field(() => String, { nullable: true, description: 'append (the default) or overwrite.' })
  conflictMode?: string | null;
}

@ObjectType('ImportRejection')
export class ImportRejectionType {
  @Field(() => Int, { description: 'Position of the row, from 0.' })
  index!: number;

  @Field(() => [String])
  reasons!: readonly string[];
}

@ObjectType('ContactImport')
export class ContactImportType {
  @Field(() => [ID])
  inserted!: readonly string[];

  @Field(() => [ID])
  updated!: readonly string[];

  @Field(() => [ImportRejectionType])
  rejected!: readonly ImportRejectionType[];
}

@InputType('ContactIdInput')
export class ContactIdInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;
}

@InputType('ContactTagInput')
export class ContactTagInput extends TeamMutationInput {
  @Field(() => ID)
  contactId!: string;

  @Field(() => ID)
  tagId!: string;
}

@InputType('CreateNoteInput')
export class CreateNoteInput extends TeamMutationInput {
  @Field(() => ID)
  contactId!: string;

  @Field(() => String, { description: 'Basic HTML.' })
  note!: string;

  @Field(() => String, { nullable: true, description: 'Plain text; made from the note when omitted.' })
  noteText?: string | null;
}

@InputType()
class FollowUpContentInput extends TeamMutationInput {
  @Field(() => String, { nullable: true, description: 'Basic HTML.' })
  description?: string | null;

  @Field(() => ID, { nullable: true })
  assignedTo?: string | null;

  @Field(() => AssignedTypeEnum, { nullable: true })
  assignedType?: AssignedType | null;
}

@InputType('CreateFollowUpInput')
export class CreateFollowUpInput extends FollowUpContentInput {
  @Field(() => ID)
  contactId!: string;

  @Field(() => DateTime)
  scheduledAt!: number;
}

@InputType('UpdateFollowUpInput')
export class UpdateFollowUpInput extends FollowUpContentInput {
  @Field(() => ID)
  id!: string;

  @Field(() => DateTime, { nullable: true })
  scheduledAt?: number | null;
}

@InputType('SetContactOwnerInput')
export class SetOwnerInput extends TeamMutationInput {
  @Field(() => ID)
  contactId!: string;

  @Field(() => ID)
  ownerId!: string;
}

@InputType('SetContactDispositionInput')
export class SetDispositionInput extends TeamMutationInput {
  @Field(() => ID)
  contactId!: string;

  @Field(() => String)
  dispositionId!: string;
}

@InputType('RevokeConsentInput')
export class RevokeConsentInput extends TeamMutationInput {
  @Field(() => ID)
  contactId!: string;

  @Field(() => ConsentTypeEnum)
  consentType!: ConsentType;

  @Field(() => String, { description: 'E.164.' })
  phoneNumber!: string;
}

@InputType('GrantConsentInput')
export class GrantConsentInput extends RevokeConsentInput {
  @Field(() => String)
  consentText!: string;

  @Field(() => ConsentMethodEnum)
  consentMethod!: ConsentMethod;
}

@InputType('CreateListInput')
export class CreateListInput extends TeamMutationInput {
  @Field(() => String)
  name!: string;
}

@InputType('UpdateListInput')
export class UpdateListInput extends CreateListInput {
  @Field(() => ID)
  id!: string;
}

@InputType('ListMembersInput')
export class ListMembersInput extends TeamMutationInput {
  @Field(() => ID)
  listId!: string;

  @Field(() => [ID])
  contactIds!: string[];
}

@InputType('MoveContactInput')
export class MoveContactInput extends TeamMutationInput {
  @Field(() => ID)
  contactId!: string;

  @Field(() => ID)
  fromListId!: string;

  @Field(() => ID)
  toListId!: string;
}

@InputType('ListItemInput')
class ListItemInput {
  @Field(() => String)
  displayName!: string;

  @Field(() => String, { nullable: true, description: 'Omitted: the display name.' })
  value?: string | null;
}

@InputType('CreateCustomFieldInput')
export class CreateFieldInput extends TeamMutationInput {
  @Field(() => FieldKindEnum)
  type!: FieldKind;

  @Field(() => String)
  displayName!: string;

  @Field(() => [ListItemInput], { nullable: true, description: 'Of a field of type LIST.' })
  listItems?: ListItemInput[] | null;
}

@ObjectType('ListMembersChange')
export class MembersChangeType {
  @Field(() => ID)
  listId!: string;

  @Field(() => Int, { description: 'Members that were added or removed.' })
  changed!: number;
}

@ObjectType('ContactMove')
export class ContactMoveType {
  @Field(() => ID)
  contactId!: string;

  @Field(() => ID)
  fromListId!: string;

  @Field(() => ID)
  toListId!: string;
}

const contactPayload = (name: string) => payloadOf(name, 'contact', () => ContactType);
export const CreateContactPayload = contactPayload('CreateContactPayload');
export const ImportContactsPayload = payloadOf('ImportContactsPayload', 'import', () => ContactImportType);
export const UpdateContactPayload = contactPayload('UpdateContactPayload');
export const DeleteContactPayload = payloadOf('DeleteContactPayload', 'contact', () => RemovedType);
export const AddContactTagPayload = contactPayload('AddContactTagPayload');
export const RemoveContactTagPayload = contactPayload('RemoveContactTagPayload');
export const SetOwnerPayload = contactPayload('SetContactOwnerPayload');
export const SetDispositionPayload = contactPayload('SetContactDispositionPayload');
export const CreateNotePayload = payloadOf('CreateNotePayload', 'note', () => NoteType);
export const CreateFollowUpPayload = payloadOf('CreateFollowUpPayload', 'followUp', () => FollowUpType);
export const UpdateFollowUpPayload = payloadOf('UpdateFollowUpPayload', 'followUp', () => FollowUpType);
export const CancelFollowUpPayload = payloadOf('CancelFollowUpPayload', 'followUp', () => FollowUpType);
export const CompleteTaskPayload = payloadOf('CompleteTaskPayload', 'task', () => TaskType);
export const GrantConsentPayload = payloadOf('GrantConsentPayload', 'consent', () => ConsentRecordType);
export const RevokeConsentPayload = payloadOf('RevokeConsentPayload', 'consent', () => RevokedConsentType);
export const CreateListPayload = payloadOf('CreateListPayload', 'list', () => ContactListType);
export const UpdateListPayload = payloadOf('UpdateListPayload', 'list', () => ContactListType);
export const DeleteListPayload = payloadOf('DeleteListPayload', 'list', () => RemovedType);
export const AddMembersPayload = payloadOf('AddListMembersPayload', 'change', () => MembersChangeType);
export const RemoveMembersPayload = payloadOf('RemoveListMembersPayload', 'change', () => MembersChangeType);
export const MoveContactPayload = payloadOf('MoveContactPayload', 'move', () => ContactMoveType);
export const CreateFieldPayload = payloadOf('CreateCustomFieldPayload', 'customField', () => CustomFieldType);
