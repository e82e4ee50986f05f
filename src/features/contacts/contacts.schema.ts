import { Type } from '@sinclair/typebox';

const NullableText = Type.Union([Type.String(), Type.Null()]);
const EpochMs = Type.Integer({ description: 'Epoch ms.' });

/** The full contact record (supplement 5). */
export const ContactSchema = Type.Object({
  _id: Type.String(),
  contact_id: Type.String({ description: 'The same as `_id`.' }),
  uid: Type.Union([Type.String(), Type.Null()], { description: 'Your own id of the record (`record_id`).' }),
  first_name: NullableText,
  last_name: NullableText,
  email: NullableText,
  phone_number: Type.Union([Type.String(), Type.Null()], {
    description: 'E.164; messages and calls go here.',
  }),
  main_phone: NullableText,
  mobile_phone: NullableText,
  company: NullableText,
  postal: NullableText,
  region: Type.Union([Type.String(), Type.Null()], { description: 'Country of the phone number.' }),
  time_zone: NullableText,
  dnc: Type.Boolean({ description: 'Shown only: sends are judged by the do-not-contact list itself.' }),
  created_at: EpochMs,
  updated_at: EpochMs,
  phone_numbers: Type.Array(Type.String(), { description: 'Every number once.' }),
  field_data: Type.Array(Type.Object({ type: Type.String(), value: Type.String() }), {
    description: 'Address and custom fields that have a value, under their import types.',
  }),
  tags: Type.Array(Type.String(), { description: 'Tag ids; those of deleted tags may remain.' }),
  list_ids: Type.Array(Type.String()),
  owner_id: NullableText,
  disposition_id: NullableText,
  pinned_notes: Type.Array(
    Type.Object({
      note_id: Type.String(),
      note: Type.String(),
      note_text: Type.String(),
      created_at: EpochMs,
      created_by: Type.String(),
    }),
  ),
  has_sms_consent: Type.Boolean(),
  has_tcpa_consent: Type.Boolean(),
  has_email_consent: Type.Boolean({ description: 'No consent to emails is kept: false.' }),
});

export const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'The last id of the page while there are more, else null. No page token: use `offset`.',
});

export const ContactParams = Type.Object({ contact_id: Type.String({ maxLength: 64 }) });
