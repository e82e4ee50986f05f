import { Type } from '@sinclair/typebox';
import { skipPaging } from '../../platform/http/index.ts';
import { ADDRESS_LENGTH_MAX, ADDRESSES_MAX, NAME_LENGTH_MAX } from './addresses.rules.ts';
import { HTML_LENGTH_MAX, ID_LENGTH_MAX, PREVIEW_LENGTH_MAX, SUBJECT_LENGTH_MAX } from './email.rules.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './history.service.ts';

/* What is required is not said by the schemas: the gates of the account are answered before a missing field is. */

const SendTypeSchema = Type.Union([Type.Literal('transactional'), Type.Literal('bulk')]);
const AddressBody = Type.Object({
  address: Type.String({ maxLength: ADDRESS_LENGTH_MAX }),
  name: Type.Optional(Type.String({ maxLength: NAME_LENGTH_MAX })),
});
const addresses = (description: string) =>
  Type.Optional(
    Type.Union([Type.Array(AddressBody, { maxItems: ADDRESSES_MAX }), AddressBody], { description }),
  );
const id = (description: string) => Type.Optional(Type.String({ maxLength: ID_LENGTH_MAX, description }));

const PARTS = {
  to: addresses('Or `contact_id`. An address that no contact has gets one.'),
  contact_id: id('Whose address is written to, unless `to` is given.'),
  mailbox_id: id('Or `from`.'),
  from: Type.Optional(
    Type.Object(AddressBody.properties, { description: 'Of a verified sending domain; or `mailbox_id`.' }),
  ),
  preview: Type.Optional(
    Type.String({ maxLength: PREVIEW_LENGTH_MAX, description: 'What inboxes show beside the subject.' }),
  ),
  cc: addresses('Copies.'),
  bcc: addresses('Copies that the others do not see.'),
  send_type: Type.Optional(
    Type.Union(SendTypeSchema.anyOf, {
      description: 'Default transactional; the purpose of the sending domain wins.',
    }),
  ),
  brand_id: id('Beyond the contract: do-not-contact entries of this brand count too.'),
};

export const EmailBody = Type.Object({
  ...PARTS,
  subject: Type.Optional(Type.String({ maxLength: SUBJECT_LENGTH_MAX, description: 'Required; one line.' })),
  html: Type.Optional(Type.String({ maxLength: HTML_LENGTH_MAX, description: 'Required; sent as it is.' })),
  text: Type.Optional(
    Type.String({ maxLength: HTML_LENGTH_MAX, description: 'Omitted: made from the HTML.' }),
  ),
  template_id: id('Recorded only, nothing is merged.'),
});

export const TemplateEmailBody = Type.Object({
  template_id: id('Required: a saved email, whose merge fields are filled in.'),
  ...PARTS,
  subject_override: Type.Optional(Type.String({ maxLength: SUBJECT_LENGTH_MAX })),
  merged_user_id: id('Whose details fill `{{user.…}}`; omitted: the user of the credential.'),
});

export const SentData = Type.Object({
  success: Type.Boolean(),
  error: Type.Optional(Type.String({ description: 'Why nothing was sent, or that nobody knows.' })),
});

export const EmailQuery = Type.Object({
  contact_id: Type.Optional(Type.String({ maxLength: ID_LENGTH_MAX })),
  direction: Type.Optional(Type.Union([Type.Literal('inbound'), Type.Literal('outbound')])),
  ...skipPaging({ preset: PAGE_DEFAULT, max: PAGE_MAX }),
  include_total: Type.Optional(Type.Boolean()),
});

const OrNull = Type.Union([Type.String(), Type.Null()]);
const AddressData = Type.Object({ address: Type.String(), name: Type.Optional(Type.String()) });

export const EmailData = Type.Object({
  email_id: Type.String(),
  contact_id: OrNull,
  mailbox_id: OrNull,
  template_id: OrNull,
  direction: Type.Union([Type.Literal('inbound'), Type.Literal('outbound')]),
  send_type: SendTypeSchema,
  to: Type.Array(AddressData),
  from: Type.Array(AddressData),
  subject: Type.String(),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
  sent_at: Type.Union([Type.Integer(), Type.Null()]),
  state: Type.String({ description: 'sending, sent, failed, blocked, received or unknown.' }),
  blocked_reason: Type.Optional(Type.String({ description: 'For example too_many_bulk_emails.' })),
});
