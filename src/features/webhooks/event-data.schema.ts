import { Type } from '@sinclair/typebox';
import type { TObject, TProperties, TSchema } from '@sinclair/typebox';

/* Schemas of the `data` of events (contract, Status webhooks; supplement 4). Receivers must ignore what they do not know. */

/** Open: more fields may be added. */
const open = (fields: TProperties): TObject => Type.Object(fields, { additionalProperties: true });
const nullable = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()]);

const text = Type.String();
const uuid = Type.String({ format: 'uuid' });
const epochMs = Type.Integer({ description: 'Epoch ms.' });
const count = Type.Integer({ minimum: 0 });

const contact = { team_id: uuid, contact_id: uuid };

/** Of the contact as it is afterwards; changes around it (owner, do-not-contact, …) tell what changed instead. */
const person = Object.fromEntries(
  ['uid', 'first_name', 'last_name', 'email', 'phone_number', 'company'].map((name) => [
    name,
    Type.Optional(nullable(text)),
  ]),
);

const result = {
  ...contact,
  drop_id: uuid,
  campaign_id: nullable(uuid),
  campaign_type: Type.String({ description: 'rvm, sms, voice_broadcast or ai_broadcast.' }),
  status: Type.String({ description: 'success or failure.' }),
  reason: text,
  reason_code: Type.Integer({ description: 'See GET /register/public/outcome-codes.' }),
  to: text,
  from: nullable(text),
};

const email = {
  email_id: uuid,
  contact_id: nullable(uuid),
  to: text,
  from: text,
  status: Type.String({ description: 'delivered, opened, clicked, bounced, complained or failure.' }),
  reason: Type.Optional(text),
  reason_code: Type.Optional(Type.Integer()),
};

const campaign = {
  campaign_id: uuid,
  type: text,
  name: text,
  counts: Type.Record(Type.String(), count),
};

const call = {
  ...contact,
  call_id: uuid,
  phone_number: text,
  caller_id: nullable(text),
  direction: Type.String({ description: 'inbound or outbound.' }),
};

const message = {
  ...contact,
  message_id: uuid,
  to: text,
  from: nullable(text),
};

/** An inbound call and one that was sent differ in their fields (contract, AI agent event envelope). */
const agentCall = {
  team_id: uuid,
  contact_id: nullable(uuid),
  outcome: nullable(text),
  answered: Type.Optional(Type.Boolean()),
  duration: Type.Optional(Type.Number({ description: 'Seconds.' })),
  direction: Type.Optional(Type.String({ description: 'Only for calls to a line of yours.' })),
  agent_id: Type.Optional(uuid),
  call_id: Type.Optional(uuid),
  ivr_id: Type.Optional(text),
  campaign_id: Type.Optional(nullable(uuid)),
  session_id: Type.Optional(uuid),
  drop_id: Type.Optional(uuid),
  phone_number: Type.Optional(text),
};

/** By what an event is about. */
export const DATA = {
  rvmStatus: open(result),
  smsStatus: open({ ...result, segments: count }),
  rvmReceipt: open({
    ...result,
    proof_of_delivery_url: Type.String({ format: 'uri', description: 'A page that lives 7 days.' }),
    receipt_ready_at: epochMs,
  }),
  email: open(email),
  campaignStarted: open({ ...campaign, started_at: epochMs }),
  campaignCompleted: open({ ...campaign, completed_at: epochMs }),
  agentCall: open(agentCall),
  contact: open({ ...contact, ...person }),
  message: open(message),
  optOut: open({ ...contact, phone_number: text, opted_in: Type.Boolean() }),
  call: open(call),
  voicemail: open({ ...call, duration: Type.Number({ description: 'Seconds.' }) }),
  consentGranted: open({
    ...contact,
    consent_id: uuid,
    consent_type: Type.String({ description: 'sms_optin or tcpa_optin.' }),
    phone_number: text,
    consent_method: text,
    consent_text_hash: Type.String({ description: 'SHA-256 of the wording.' }),
  }),
  consentRevoked: open({
    ...contact,
    consent_ids: Type.Array(uuid),
    consent_type: Type.String({ description: 'sms_optin or tcpa_optin.' }),
    phone_number: text,
    revoked_by: uuid,
  }),
} as const;

/**
 * What every webhook's body holds (supplement 12, Webhooks). `data` narrows it to one event.
 */
export const envelopeOf = (event: TSchema, data: TSchema): TObject =>
  Type.Object({
    event_id: Type.String({
      format: 'uuid',
      description: 'The same over retries and replays: act on it once.',
    }),
    event,
    event_at: epochMs,
    data,
    sequence: Type.Integer({
      minimum: 0,
      description: 'Counts the events of one subscription, from 1; 0 on a sample sent by the test route.',
    }),
  });
