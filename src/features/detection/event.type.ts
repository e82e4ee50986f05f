import type { NativeEvent } from './native.ts';

/** Events of the contract (interface.md, Detection events); also what `webhook.events` may select. */
export const EVENT_NAMES = [
  'ready',
  'detection',
  'beep',
  'screening',
  'transcript',
  'speech_start',
  'speech_end',
  'silence',
  'timeout',
  'error',
  'close',
  'stopped',
] as const;

export type EventName = (typeof EVENT_NAMES)[number];

/** `alaw` is beyond the contract (supplement 10, Encodings). */
export const ENCODINGS = ['pcm16', 'mulaw', 'alaw'] as const;
export type AudioEncoding = (typeof ENCODINGS)[number];

export const SAMPLE_RATES_HZ = [8000, 16000] as const;
export type SampleRateHz = (typeof SAMPLE_RATES_HZ)[number];

export const STRATEGIES = ['standard', 'beep_only', 'live_check'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** Codes of `error` events; all are recoverable but the last four. */
export type ErrorCode =
  | 'invalid_welcome'
  | 'already_started'
  | 'not_started'
  | 'audio_before_ready'
  | 'unknown_command'
  | 'session_cap'
  | 'unavailable'
  | 'unauthorized'
  | 'payment_required'
  | 'forbidden'
  | 'internal';

/** Why a session ended, in `close`. */
export type EndReason = 'stop' | 'max_audio' | 'max_duration' | 'disconnected' | 'shutdown' | 'error';

/** Where a session's events go besides the socket. */
export interface WebhookTarget {
  readonly url: string;
  /** Null: every event. */
  readonly events: ReadonlySet<EventName> | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a welcome, or a platform's start, asks for. */
export interface SessionParams {
  readonly callId: string | null;
  readonly encoding: AudioEncoding;
  readonly sampleRateHz: SampleRateHz;
  readonly strategy: Strategy;
  readonly detectionTimeoutSec: number;
  readonly keepAlive: boolean;
  readonly webhook: WebhookTarget | null;
}

export interface ErrorEvent {
  readonly event: 'error';
  readonly code: ErrorCode;
  readonly message: string;
  readonly recoverable: boolean;
  /** The welcome field at fault. */
  readonly field?: string;
}

/** Everything a session says. Times are media milliseconds (supplement 10, Time). */
export type SessionEvent =
  | { readonly event: 'ready'; readonly params: SessionParams }
  | ErrorEvent
  | { readonly event: 'close'; readonly reason: EndReason; readonly durationMs: number }
  | { readonly event: 'stopped' }
  | (NativeEvent & { readonly event: Exclude<NativeEvent['event'], 'ended'> });

/** The telephony platform's own ids of a call. */
export interface PlatformIds {
  readonly callSid: string;
  readonly accountSid: string;
  readonly streamSid: string;
}
