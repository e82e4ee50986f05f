import { Type } from '@sinclair/typebox';

const any = (description: string) => Type.Optional(Type.Unknown({ description }));

const CREDENTIAL = {
  team_id: any('The same as x-team-id.'),
  secret: any('The same as x-secret.'),
};

export const RvmBody = Type.Object({
  ...CREDENTIAL,
  phone_number: any('E.164.'),
  brand_id: any('A brand with api_allowed.'),
  recording_id: any('Audio; or `tts_body` with `voice_id`.'),
  tts_body: any('Text to speak.'),
  voice_id: any('The voice of `tts_body`.'),
  forwarding_number: any('Takes return calls.'),
  postal_code: any('Wins over the number’s area code for calling hours.'),
  foreign_id: any('The caller’s own reference.'),
  callback_url: any('Receives `foreign_id`, `status`, `phone_number`, `reason`.'),
});

export const SmsBody = Type.Object({
  ...CREDENTIAL,
  phone_number: any('E.164.'),
  caller_id: any('E.164.'),
  pool_id: any('A phone line.'),
  sms_body: any('160 characters a message.'),
  opt_in: any('true: the contact agreed.'),
  foreign_id: any('The caller’s own reference.'),
  callback_url: any('Receives `foreign_id`, `status`, `phone_number`, `reason`.'),
});

export const QueuedData = Type.Object({ status: Type.Literal('queued') });

export const BrandsData = Type.Array(
  Type.Object({
    brand_id: Type.String(),
    company_name: Type.String(),
    registered: Type.Boolean(),
    api_allowed: Type.Boolean({ description: 'Only such brands can be used.' }),
  }),
);

/** Names as long as those of version 2. */
const LIST_NAME_LENGTH_MAX = 200;

export const ListBody = Type.Object({
  ...CREDENTIAL,
  list_name: Type.String({ minLength: 1, maxLength: LIST_NAME_LENGTH_MAX }),
});

export const ListData = Type.Object({ list_id: Type.String(), list_name: Type.String() });

/** Contract, Versioning 2. */
const CONTACTS_MAX = 10_000;
const COLUMNS_MAX = 250;
const COLUMN_LENGTH_MAX = 100;

export const ContactsBody = Type.Object({
  ...CREDENTIAL,
  fields: Type.Array(Type.String({ maxLength: COLUMN_LENGTH_MAX }), { minItems: 1, maxItems: COLUMNS_MAX }),
  values: Type.Array(
    Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
      maxItems: COLUMNS_MAX,
    }),
    { maxItems: CONTACTS_MAX, description: 'Rows. A row may be shorter than `fields`.' },
  ),
  region: Type.Optional(
    Type.Union([Type.String({ maxLength: COLUMN_LENGTH_MAX }), Type.Null()], {
      description: 'Two-letter country of numbers without one; omitted: the account’s.',
    }),
  ),
});

const Contacts = Type.Array(Type.Object({ contact_id: Type.String() }));

export const ContactsData = Type.Object({
  list_id: Type.String(),
  inserted: Contacts,
  updated: Contacts,
  rejected: Type.Array(Type.Object({ index: Type.Integer(), reasons: Type.Array(Type.String()) }), {
    description: 'By the position of the row, from 0.',
  }),
});
