import type { EventName, PlatformIds, SessionEvent } from './event.type.ts';
import type { NativeEvent } from './native.ts';

/** The payload of an event frame as it goes over the wire. */
export type EventPayload = {
  readonly session_id: string;
  readonly timestamp_ms: number;
  readonly call_id?: string;
} & Readonly<Record<string, unknown>>;

/** What every payload of one session begins with. */
export interface PayloadIds {
  readonly sessionId: string;
  readonly callId: string | null;
}

/** The event's payload (interface.md, Detection events; supplement 10, ready and detection). */
export function presentEvent(ids: PayloadIds, timestampMs: number, event: SessionEvent): EventPayload {
  const payload: Record<string, unknown> & { session_id: string; timestamp_ms: number } = {
    session_id: ids.sessionId,
    timestamp_ms: Math.round(timestampMs),
  };
  if (ids.callId !== null) payload['call_id'] = ids.callId;
  return Object.assign(payload, fieldsOf(event));
}

function fieldsOf(event: SessionEvent): Record<string, unknown> {
  switch (event.event) {
    case 'ready':
      return {
        strategy: event.params.strategy,
        audio_encoding: event.params.encoding,
        sample_rate_hz: event.params.sampleRateHz,
        detection_timeout_sec: event.params.detectionTimeoutSec,
      };
    case 'error':
      return {
        error: event.message,
        code: event.code,
        recoverable: event.recoverable,
        ...(event.field === undefined ? {} : { field: event.field }),
      };
    case 'close':
      return { reason: event.reason, duration_ms: Math.round(event.durationMs) };
    case 'detection':
      return verdictFields(event);
    case 'beep':
      return {
        frequency_hz: event.frequencyHz,
        duration_ms: event.durationMs,
        confidence: event.confidence,
        is_final: true,
      };
    default:
      return {};
  }
}

function verdictFields(event: NativeEvent): Record<string, unknown> {
  return {
    type: event.type,
    confidence: event.confidence,
    beep_detected: event.beepDetected ?? false,
    is_final: event.isFinal ?? false,
    is_refinement: event.isRefinement ?? false,
    reason: event.reason,
    speech_ms: event.speechMs,
    silence_ms: event.silenceMs,
    evidence: presentEvidence(event.evidence ?? {}),
  };
}

const presentEvidence = (evidence: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(evidence).map(([name, value]) => [snakeCase(name), value]));

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The text frame that carries an event (supplement 10, Frames). */
export const presentFrame = (event: EventName, payload: EventPayload): string =>
  `{"type":"event","event":"${event}","payload":${JSON.stringify(payload)}}`;

export const PONG_FRAME = '{"type":"pong"}';

export interface EnvelopeInput {
  readonly deliveryId: string;
  readonly event: EventName;
  readonly emittedAtMs: number;
  readonly source: 'ws' | 'platform';
  readonly sequence: number;
  readonly payload: EventPayload;
  readonly platform: PlatformIds | null;
  readonly platformName: string;
}

/** The exact text of a delivery (interface.md, Detection webhooks; supplement 4, Order, and its first paragraph). */
export function presentEnvelope(input: EnvelopeInput): string {
  const { session_id, call_id, ...data } = input.payload;
  const { platform } = input;
  return JSON.stringify({
    delivery_id: input.deliveryId,
    event: input.event,
    emitted_at: new Date(input.emittedAtMs).toISOString(),
    session_id,
    call_id,
    source: input.source,
    sequence: input.sequence,
    data,
    ...(platform && { ...sids('platform', platform), ...sids(input.platformName, platform) }),
  });
}

const sids = (prefix: string, ids: PlatformIds): Record<string, string> => ({
  [`${prefix}_call_sid`]: ids.callSid,
  [`${prefix}_account_sid`]: ids.accountSid,
  [`${prefix}_stream_sid`]: ids.streamSid,
});
