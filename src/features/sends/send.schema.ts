import { Type } from '@sinclair/typebox';
import { CHANNELS, SEND_STATES, STEP_KINDS } from './channels.rules.ts';
import { presentKind } from './sends.present.ts';

const text = (description: string) => Type.Optional(Type.String({ description }));
const id = (description: string) => Type.Optional(Type.String({ description }));

const RECIPIENT = {
  to: text('E.164. One of `to` and `contact_id`.'),
  contact_id: id('A contact with a number.'),
};
const REFERENCE = {
  foreign_id: text('The caller’s own reference, given back in callbacks; at most 255 characters.'),
  callback_url: text('Receives the result in one POST; a public https address.'),
};
const LINE = { phone_line_id: id('Omitted: the account’s default line.') };
const SENDER = { caller_id: text('E.164; on a carrier of your own only, otherwise ignored.') };
const MESSAGE = { brand_id: id('A registered brand.') };

export const RvmBody = Type.Object(
  {
    ...RECIPIENT,
    ...LINE,
    media_id: id('Audio. Exactly one of `media_id`, `tts_body` with `voice_id`, and `audio_url`.'),
    tts_body: text('Text to speak, at most 1,200 characters after merge fields.'),
    voice_id: id('The voice of `tts_body`.'),
    audio_url: text('On a carrier of your own only.'),
    ...MESSAGE,
    postal_code: text('Wins over the number’s area code for calling hours.'),
    ...SENDER,
    ...REFERENCE,
  },
  { description: 'Checked after the answer: what is wrong with it is an outcome.' },
);

export const SmsBody = Type.Object({
  ...RECIPIENT,
  phone_line_id: id('A line of a brand with an approved texting campaign. Omitted: the default one.'),
  body: text('At most 1,600 characters.'),
  media_urls: Type.Optional(Type.Array(Type.String())),
  media_ids: Type.Optional(Type.Array(Type.String())),
  rcs_content: Type.Optional(Type.Object({}, { description: 'Makes it RCS where the carrier can.' })),
  ...MESSAGE,
  ...REFERENCE,
});

export const VoiceBroadcastBody = Type.Object(
  {
    ...RECIPIENT,
    ...LINE,
    ...SENDER,
    media_on_speech: id('Audio for a person.'),
    tts_on_speech: text('Text to speak to a person.'),
    media_on_beep: id('Audio for a machine.'),
    tts_on_beep: text('Text to speak to a machine.'),
    voice_id: id('The voice of any text to speak.'),
    ...MESSAGE,
    ...REFERENCE,
  },
  { description: 'At least one message, for a person or for a machine.' },
);

export const AiBroadcastBody = Type.Object({
  ...RECIPIENT,
  ...LINE,
  caller_id: text('E.164. One of `caller_id` and `phone_line_id`.'),
  agent_id: id('A published agent.'),
  variables: Type.Optional(Type.Object({}, { description: 'Merged over the contact’s fields.' })),
  ...REFERENCE,
});

export const SendHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      description:
        '1 to 255 printable ASCII characters, kept for 24 hours: the same key and body are one send. With another body the outcome is 3027, malformed 3028.',
    }),
  ),
});

export const QueuedData = Type.Object({
  status: Type.Literal('queued'),
  message_id: Type.String({ description: 'Finds the send at GET /sends/{message_id}.' }),
});

const NullableText = Type.Union([Type.String(), Type.Null()]);
const NullableCount = Type.Union([Type.Integer(), Type.Null()]);
const EpochMs = Type.Integer({ description: 'Epoch ms.' });
const NullableTime = Type.Union([EpochMs, Type.Null()]);
const words = (list: readonly string[]) => Type.Union(list.map((word) => Type.Literal(word)));

export const SendData = Type.Object({
  message_id: Type.String(),
  channel: words(CHANNELS),
  state: words(SEND_STATES),
  foreign_id: NullableText,
  contact_id: NullableText,
  phone_number: NullableText,
  caller_id: NullableText,
  phone_line_id: NullableText,
  brand_id: NullableText,
  campaign_id: NullableText,
  attempt: Type.Integer({ description: 'Times it was handed to a carrier.' }),
  held_until: NullableTime,
  reason_code: Type.Union([Type.Integer(), Type.Null()], { description: 'Null: it has no result yet.' }),
  reason: NullableText,
  detail: NullableText,
  segments: NullableCount,
  quantity: Type.Integer(),
  product_cost: Type.Number(),
  compliance_fee: Type.Number(),
  tts_fee: Type.Number(),
  created_at: EpochMs,
  attempted_at: NullableTime,
  finished_at: NullableTime,
  steps: Type.Array(
    Type.Object({
      kind: words(STEP_KINDS.map(presentKind)),
      at: EpochMs,
      detail: Type.Record(Type.String(), Type.Unknown()),
    }),
    { description: 'What happened to it, in order; exactly one RESULT when it is finished.' },
  ),
});
