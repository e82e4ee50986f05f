import type { News } from '../../platform/outbox/index.ts';
import type { Contact } from './contacts.row.ts';
import { FIELD_TYPES } from './contacts.rules.ts';
import type { StoredName } from './contacts.rules.ts';
import type { Rejection } from './import.rules.ts';

/** Shown at the top of the record; the other field types are shown in `field_data`. */
const IN_RECORD: ReadonlySet<string> = new Set([
  ...[
    'record_id',
    'uid',
    'first_name',
    'last_name',
    'company',
    'email',
    'phone',
    'phone_number',
    'main_phone',
  ],
  ...['mobile_phone', 'postal'],
]);

/**
 * The full record (supplement 5). `field_data` holds the address and the custom fields that have a value, under their
 * import types. `has_email_consent` is false: consents are of texts and calls only, and an email needs none on record.
 */
export const presentContact = (contact: Contact) => ({
  _id: contact.contactId,
  contact_id: contact.contactId,
  uid: contact.uid,
  first_name: contact.firstName,
  last_name: contact.lastName,
  email: contact.email,
  phone_number: contact.phoneNumber,
  main_phone: contact.mainPhone,
  mobile_phone: contact.mobilePhone,
  company: contact.company,
  postal: contact.postal,
  region: contact.region,
  time_zone: contact.timeZone,
  dnc: contact.dnc,
  created_at: contact.createdAtMs,
  updated_at: contact.updatedAtMs,
  phone_numbers: [...contact.phoneNumbers],
  field_data: fieldData(contact),
  tags: [...contact.tagIds],
  list_ids: [...contact.listIds],
  owner_id: contact.ownerId,
  disposition_id: contact.dispositionId,
  pinned_notes: contact.pinnedNotes.map((note) => ({
    note_id: note.noteId,
    note: note.note,
    note_text: note.noteText,
    created_at: note.createdAtMs,
    created_by: note.createdBy,
  })),
  has_sms_consent: contact.hasSmsConsent,
  has_tcpa_consent: contact.hasTcpaConsent,
  has_email_consent: false,
});

function fieldData(contact: Contact): { type: string; value: string }[] {
  const data: { type: string; value: string }[] = [];
  for (const [type, name] of FIELD_TYPES) {
    const value = contact[name];
    if (!IN_RECORD.has(type) && value !== null) data.push({ type, value });
  }
  for (const [type, value] of Object.entries(contact.custom)) data.push({ type, value });
  return data;
}

export const presentImport = (result: {
  inserted: readonly string[];
  updated: readonly string[];
  rejected: readonly Rejection[];
}) => ({
  inserted: result.inserted.map((contactId) => ({ contact_id: contactId })),
  updated: result.updated.map((contactId) => ({ contact_id: contactId })),
  rejected: result.rejected.map(({ index, reasons }) => ({ index, reasons: [...reasons] })),
});

/** What the events about a contact tell of it (supplement 12, Webhooks). */
interface Told {
  readonly contactId: string;
  readonly values: Partial<Record<StoredName, string | null>>;
}

const told = (event: string, teamId: string, { contactId, values }: Told, atMs: number): News => ({
  teamId,
  event,
  data: {
    team_id: teamId,
    contact_id: contactId,
    uid: values.uid ?? null,
    first_name: values.firstName ?? null,
    last_name: values.lastName ?? null,
    email: values.email ?? null,
    phone_number: values.phoneNumber ?? null,
    company: values.company ?? null,
  },
  atMs,
});

export const createdNews = (teamId: string, contact: Told, atMs: number): News =>
  told('contact.created', teamId, contact, atMs);

export const changedNews = (teamId: string, contact: Told, atMs: number): News =>
  told('contact.updated', teamId, contact, atMs);

export const deletedNews = (teamId: string, contact: Told, atMs: number): News =>
  told('contact.deleted', teamId, contact, atMs);
