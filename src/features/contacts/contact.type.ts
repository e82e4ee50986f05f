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
import type { ContactTagView, Keyed, NoteView } from './around.query.service.ts';
import { CONSENT_METHODS, CONSENT_TYPES } from './consent.rules.ts';
import type { Consent } from './consent.service.ts';
import type { Placed } from './contacts.query.service.ts';
import type { Contact, PinnedNote } from './contacts.row.ts';
import { ASSIGNED_TYPES, FOLLOW_UP_STATUSES } from './follow-ups.rules.ts';
import type { FollowUp } from './follow-ups.service.ts';
import type { TimelineEntry } from './timeline.service.ts';

export const FollowUpStatusEnum = enumOf('FollowUpStatus', FOLLOW_UP_STATUSES);
export const AssignedTypeEnum = enumOf('AssignedType', ASSIGNED_TYPES);
export const ConsentTypeEnum = enumOf('ConsentType', CONSENT_TYPES);
export const ConsentMethodEnum = enumOf('ConsentMethod', CONSENT_METHODS);

@ObjectType('Note')
export class NoteType implements Omit<NoteView, 'contactId'> {
  @Field(() => ID, { name: 'id' })
  noteId!: string;

  @Field(() => ID)
  userId!: string;

  @Field(() => String, { description: 'Basic HTML, sanitised.' })
  note!: string;

  @Field(() => String)
  noteText!: string;

  @Field(() => Boolean, { defaultValue: false })
  pinned!: boolean;

  @Field(() => ID)
  createdBy!: string;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('PinnedNote')
export class PinnedNoteType implements PinnedNote {
  @Field(() => ID, { name: 'id' })
  noteId!: string;

  @Field(() => String)
  note!: string;

  @Field(() => String)
  noteText!: string;

  @Field(() => ID)
  createdBy!: string;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('TimelineEntry')
export class TimelineEntryType implements Omit<TimelineEntry, 'contactId'> {
  @Field(() => ID, { name: 'id' })
  entryId!: string;

  @Field(() => String)
  type!: string;

  @Field(() => Json, { description: 'Fields of the type.' })
  data!: Record<string, unknown>;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('FollowUp')
export class FollowUpType implements FollowUp {
  @Field(() => ID, { name: 'id' })
  followupId!: string;

  @Field(() => ID)
  contactId!: string;

  @Field(() => DateTime, { name: 'scheduledAt' })
  scheduledAtMs!: number;

  @Field(() => FollowUpStatusEnum)
  status!: FollowUp['status'];

  @Field(() => String)
  description!: string;

  @Field(() => String)
  descriptionText!: string;

  @Field(() => ID)
  assignedTo!: string;

  @Field(() => AssignedTypeEnum)
  assignedType!: FollowUp['assignedType'];

  @Field(() => ID, { nullable: true })
  taskId!: string | null;

  @Field(() => ID)
  createdBy!: string;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('Consent')
export class ConsentRecordType implements Omit<Consent, 'contactId'> {
  @Field(() => ID, { name: 'id' })
  consentId!: string;

  @Field(() => ConsentTypeEnum)
  consentType!: Consent['consentType'];

  @Field(() => String)
  phoneNumber!: string;

  @Field(() => String)
  consentText!: string;

  @Field(() => String, { description: 'SHA-256 of the wording, hex.' })
  consentTextHash!: string;

  @Field(() => ConsentMethodEnum)
  consentMethod!: Consent['consentMethod'];

  @Field(() => ID)
  grantedBy!: string;

  @Field(() => DateTime, { name: 'grantedAt' })
  grantedAtMs!: number;

  @Field(() => ID, { nullable: true })
  revokedBy!: string | null;

  @Field(() => DateTime, { name: 'revokedAt', nullable: true })
  revokedAtMs!: number | null;
}

@ObjectType('RevokedConsent')
export class RevokedConsentType {
  @Field(() => ConsentTypeEnum)
  consentType!: Consent['consentType'];

  @Field(() => String)
  phoneNumber!: string;

  @Field(() => Int)
  revokedCount!: number;
}

@ObjectType('ContactTag', { description: 'A tag on a contact.' })
export class ContactTagType implements ContactTagView {
  @Field(() => ID)
  tagId!: string;

  @Field(() => String)
  label!: string;

  @Field(() => String, { nullable: true })
  color!: string | null;

  @Field(() => String, { nullable: true })
  textColor!: string | null;

  @Field(() => DateTime, { name: 'taggedAt' })
  taggedAtMs!: number;

  @Field(() => ID)
  taggedBy!: string;
}

@ObjectType('FieldValue', { description: 'The value of a custom field.' })
export class FieldValueType {
  @Field(() => String, { description: 'The slug of the field.' })
  type!: string;

  @Field(() => String)
  value!: string;
}

@InputType('FieldValueInput')
export class FieldValueInput {
  @Field(() => String, { description: 'A field type, or the slug of a custom field.' })
  type!: string;

  @Field(() => String, { nullable: true, description: 'Null takes the value away.' })
  value?: string | null;
}

export const NoteConnection = connectionOf<Keyed<NoteView>>('Note', () => NoteType);
export const TimelineConnection = connectionOf<Keyed<TimelineEntry>>(
  'TimelineEntry',
  () => TimelineEntryType,
);
export const FollowUpConnection = connectionOf<Keyed<FollowUp>>('FollowUp', () => FollowUpType);
export const ConsentConnection = connectionOf<Keyed<Consent>>('Consent', () => ConsentRecordType);

/** The full record, as REST shows it. */
@ObjectType('Contact')
export class ContactType implements Partial<Contact> {
  @Field(() => ID, { name: 'id' })
  contactId!: string;

  @Field(() => ID, { name: 'contactId', description: "REST's name of `id`." })
  restId(): string {
    return this.contactId;
  }

  @Field(() => String, { nullable: true })
  uid!: string | null;

  @Field(() => String, { nullable: true })
  firstName!: string | null;

  @Field(() => String, { nullable: true })
  lastName!: string | null;

  @Field(() => String, { nullable: true })
  email!: string | null;

  @Field(() => String, { nullable: true })
  phoneNumber!: string | null;

  @Field(() => String, { nullable: true })
  mainPhone!: string | null;

  @Field(() => String, { nullable: true })
  mobilePhone!: string | null;

  @Field(() => [String])
  phoneNumbers!: readonly string[];

  @Field(() => String, { nullable: true })
  company!: string | null;

  @Field(() => String, { nullable: true })
  address1!: string | null;

  @Field(() => String, { nullable: true })
  address2!: string | null;

  @Field(() => String, { nullable: true })
  city!: string | null;

  @Field(() => String, { nullable: true })
  state!: string | null;

  @Field(() => String, { nullable: true })
  postal!: string | null;

  @Field(() => String, { nullable: true })
  country!: string | null;

  @Field(() => String, { nullable: true })
  region!: string | null;

  @Field(() => String, { nullable: true })
  timeZone!: string | null;

  @Field(() => Boolean)
  dnc!: boolean;

  @Field(() => ID, { nullable: true })
  ownerId!: string | null;

  @Field(() => String, { nullable: true })
  dispositionId!: string | null;

  @Field(() => [FieldValueType])
  fieldData(): FieldValueType[] {
    return Object.entries(this.custom).map(([type, value]) => ({ type, value }));
  }

  custom!: Readonly<Record<string, string>>;

  @Field(() => [ID])
  listIds!: readonly string[];

  @Field(() => [PinnedNoteType])
  pinnedNotes!: readonly PinnedNote[];

  @Field(() => Boolean)
  hasSmsConsent!: boolean;

  @Field(() => Boolean)
  hasTcpaConsent!: boolean;

  @Field(() => ID)
  createdBy!: string;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'updatedAt' })
  updatedAtMs!: number;
}

export const ContactConnection = connectionOf<Placed<Contact>>('Contact', () => ContactType);
