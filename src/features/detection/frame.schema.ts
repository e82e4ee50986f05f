import { Type } from '@sinclair/typebox';
import type { TSchema } from '@sinclair/typebox';
import { ENCODINGS, EVENT_NAMES, SAMPLE_RATES_HZ, STRATEGIES } from './event.type.ts';
import type { EventName } from './event.type.ts';
import { DETECTION_TIMEOUT_DEFAULT_SEC, DETECTION_TIMEOUT_MAX_SEC } from './welcome.rules.ts';

/*
 * JSON Schema of every frame and of the deliveries, for integrators and for the tests. What the service sends is
 * closed (nothing undeclared leaves); what it reads is open, since unknown fields are ignored.
 */

const oneOf = (values: ReadonlyArray<string | number>, options: Record<string, unknown> = {}): TSchema =>
  Type.Unsafe({ enum: [...values], ...options });

const uuid = (description: string): TSchema => Type.String({ format: 'uuid', description });

const ids = {
  session_id: uuid('The session; a new one for each welcome.'),
  timestamp_ms: Type.Integer({
    minimum: 0,
    description: 'Milliseconds of audio since the first audio frame, at the moment the event is about.',
  }),
  call_id: Type.Optional(Type.String({ maxLength: 256, description: "The caller's id, if it sent one." })),
};

const confidence = Type.Number({ minimum: 0, maximum: 1 });

const VERDICT_REASONS = [
  'short_answer',
  'long_speech',
  'greeting_phrase',
  'live_phrase',
  'tone',
  'no_speech',
  'answer_after_silence',
  'carrier_announcement',
  'fax',
  'busy',
];

const ERROR_CODES = [
  'invalid_welcome',
  'already_started',
  'not_started',
  'audio_before_ready',
  'unknown_command',
  'session_cap',
  'unavailable',
  'unauthorized',
  'payment_required',
  'forbidden',
  'internal',
];

const END_REASONS = ['stop', 'max_audio', 'max_duration', 'disconnected', 'shutdown', 'error'];

const evidence = Type.Object(
  { words: Type.Optional(Type.String({ description: 'Whether a recogniser of words took part.' })) },
  {
    additionalProperties: Type.Union([Type.Number(), Type.String(), Type.Boolean(), Type.Null()]),
    description: 'Measured values behind the verdict; more may be added.',
  },
);

/** Fields of each payload beside the ids; screening and transcript come with the recogniser of words. */
const PAYLOADS: Readonly<Partial<Record<EventName, Record<string, TSchema>>>> = {
  ready: {
    strategy: oneOf(STRATEGIES),
    audio_encoding: oneOf(ENCODINGS),
    sample_rate_hz: oneOf(SAMPLE_RATES_HZ),
    detection_timeout_sec: Type.Integer({ minimum: 1, maximum: DETECTION_TIMEOUT_MAX_SEC }),
  },
  detection: {
    type: oneOf(['live_person', 'voicemail', 'silence', 'unknown'], {
      description: 'Any value but the first three means no result.',
    }),
    confidence,
    beep_detected: Type.Boolean(),
    is_final: Type.Boolean({ description: 'No further verdict follows.' }),
    is_refinement: Type.Boolean({ description: 'It replaces an earlier verdict.' }),
    reason: oneOf(VERDICT_REASONS),
    speech_ms: Type.Number({ minimum: 0 }),
    silence_ms: Type.Number({ minimum: 0 }),
    evidence,
  },
  beep: {
    frequency_hz: Type.Number({ exclusiveMinimum: 0 }),
    duration_ms: Type.Number({ exclusiveMinimum: 0 }),
    confidence,
    is_final: Type.Literal(true),
  },
  speech_start: {},
  speech_end: {},
  silence: {},
  timeout: {},
  error: {
    error: Type.String({ description: 'A sentence for a human reader.' }),
    code: oneOf(ERROR_CODES),
    recoverable: Type.Boolean({ description: 'False: the session, and with it the socket, ends.' }),
    field: Type.Optional(Type.String({ description: 'The field of the welcome at fault.' })),
  },
  close: {
    reason: oneOf(END_REASONS),
    duration_ms: Type.Integer({ minimum: 0, description: 'Milliseconds of audio received.' }),
  },
  stopped: {},
};

const closed = (properties: Record<string, TSchema>, options: Record<string, unknown> = {}): TSchema =>
  Type.Object(properties, { additionalProperties: false, ...options });

const eventFrame = (event: EventName, fields: Record<string, TSchema>): TSchema =>
  closed(
    { type: Type.Literal('event'), event: Type.Literal(event), payload: closed({ ...ids, ...fields }) },
    { title: `${event} (service to client)` },
  );

const welcome = Type.Object(
  {
    type: Type.Literal('welcome'),
    payload: Type.Optional(
      Type.Object({
        call_id: Type.Optional(Type.String({ maxLength: 256 })),
        audio_encoding: Type.Optional(oneOf(ENCODINGS, { default: 'pcm16' })),
        sample_rate_hz: Type.Optional(oneOf(SAMPLE_RATES_HZ, { default: 8000 })),
        strategy: Type.Optional(oneOf(STRATEGIES, { default: 'standard' })),
        detection_timeout_sec: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: DETECTION_TIMEOUT_MAX_SEC,
            default: DETECTION_TIMEOUT_DEFAULT_SEC,
          }),
        ),
        keep_alive: Type.Optional(Type.Boolean({ default: false })),
        webhook: Type.Optional(
          Type.Object({
            url: Type.Optional(Type.String({ format: 'uri', maxLength: 2048 })),
            events: Type.Optional(Type.Array(oneOf(EVENT_NAMES))),
            headers: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 2048 }))),
          }),
        ),
      }),
    ),
  },
  { title: 'welcome (client to service)' },
);

const simple = (field: string, value: string): TSchema =>
  Type.Object({ [field]: Type.Literal(value) }, { title: `${value} (client to service)` });

const media = Type.Object(
  {
    event: Type.Literal('media'),
    media: Type.Object({
      track: Type.Optional(Type.String({ description: 'Only inbound is heard.' })),
      timestamp: Type.Optional(
        Type.String({ pattern: '^\\d+$', description: 'Milliseconds from the start.' }),
      ),
      payload: Type.String({ description: 'Base64 of mu-law audio, 8 kHz.' }),
    }),
  },
  { title: 'media (platform to service)' },
);

const text = Type.Optional(Type.String());

const start = Type.Object(
  {
    event: Type.Literal('start'),
    streamSid: text,
    start: Type.Object({
      accountSid: text,
      callSid: text,
      streamSid: text,
      customParameters: Type.Object({
        api_key: Type.Optional(
          Type.String({ description: 'The Detection key; needed without a play_plan.' }),
        ),
        play_plan: Type.Optional(
          Type.String({ description: 'The signed plan of a call that hears; it stands for a key.' }),
        ),
        webhook_url: text,
        webhook_events: Type.Optional(Type.String({ description: 'Event names, comma-separated.' })),
        strategy: Type.Optional(oneOf(STRATEGIES)),
        call_id: text,
        detection_timeout_sec: Type.Optional(Type.String({ pattern: '^\\d+$' })),
      }),
    }),
  },
  { title: 'start (platform to service)' },
);

const mark = Type.Object({ name: Type.String({ description: 'As it was sent.' }) });

/** What a call that hears reads beside media, and what it sends. */
const hearing: Readonly<Record<string, TSchema>> = {
  'platform.dtmf': Type.Object(
    {
      event: Type.Literal('dtmf'),
      dtmf: Type.Object({ digit: Type.String({ description: 'The key that was pressed.' }) }),
    },
    { title: 'dtmf (platform to service)' },
  ),
  'platform.mark': Type.Object(
    { event: Type.Literal('mark'), mark },
    { title: 'mark (platform to service): what was sent before it was played' },
  ),
  'platform.send_media': closed(
    {
      event: Type.Literal('media'),
      streamSid: Type.String(),
      media: closed({
        payload: Type.String({ description: 'Base64 of mu-law audio, 8 kHz; at most 200 ms.' }),
      }),
    },
    { title: 'media (service to platform)' },
  ),
  'platform.send_mark': closed(
    { event: Type.Literal('mark'), streamSid: Type.String(), mark: closed(mark.properties) },
    { title: 'mark (service to platform): the end of a message' },
  ),
  'platform.send_clear': closed(
    { event: Type.Literal('clear'), streamSid: Type.String() },
    { title: 'clear (service to platform): what was not played yet is dropped' },
  ),
};

/** Schema of one delivery's body; `platformName` names the second set of the platform's ids. */
function delivery(platformName: string): TSchema {
  const sids = ['call_sid', 'account_sid', 'stream_sid'].flatMap((sid) => [
    `platform_${sid}`,
    `${platformName}_${sid}`,
  ]);
  const branches = Object.entries(PAYLOADS).map(([event, fields]) =>
    closed({
      delivery_id: uuid('Constant over the attempts.'),
      event: Type.Literal(event),
      emitted_at: Type.String({ format: 'date-time' }),
      session_id: ids.session_id,
      call_id: ids.call_id,
      source: oneOf(['ws', 'platform']),
      sequence: Type.Integer({ minimum: 1, description: 'Order of the events of the session.' }),
      data: closed({ timestamp_ms: ids.timestamp_ms, ...fields }),
      ...Object.fromEntries(sids.map((sid) => [sid, text])),
    }),
  );
  return Type.Unsafe({ title: 'body of a delivery', oneOf: branches });
}

/** Every schema under the name of its file, without the ending. */
export function socketSchemas(platformName = 'twilio'): Readonly<Record<string, TSchema>> {
  const events = Object.entries(PAYLOADS).map(
    ([event, fields]) => [`event.${event}`, eventFrame(event as EventName, fields)] as const,
  );
  return {
    'client.welcome': welcome,
    'client.stop': simple('command', 'stop'),
    'client.answered': simple('command', 'answered'),
    'client.ping': simple('type', 'ping'),
    'platform.start': start,
    'platform.media': media,
    ...hearing,
    ...Object.fromEntries(events),
    pong: closed({ type: Type.Literal('pong') }, { title: 'pong (service to client)' }),
    delivery: delivery(platformName),
  };
}
