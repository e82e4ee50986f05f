import type { AudioEncoding, EndReason, EventName, PlatformIds } from './event.type.ts';
import type { SampleRateHz, Strategy, WebhookTarget } from './event.type.ts';
import type { EventPayload } from './event.present.ts';
import type { PlayRecord } from './play/play.type.ts';

/** What the log keeps of a session; the data plane changes it, the journal writes it. */
export interface SessionRecord {
  readonly sessionId: string;
  readonly teamId: string;
  readonly keyId: string;
  readonly callId: string | null;
  readonly source: 'ws' | 'platform';
  readonly strategy: Strategy;
  readonly encoding: AudioEncoding;
  readonly sampleRateHz: SampleRateHz;
  readonly startedAtMs: number;
  readonly webhook: WebhookTarget | null;
  readonly platform: PlatformIds | null;
  /** The account keeps what was said (supplement 13). */
  readonly keepTranscripts: boolean;
  /** What a call that hears plays; null for a session of a Detection key. */
  readonly play: PlayRecord | null;
  /** Events said so far; each event carries its own number, from 1. */
  sequence: number;
  /** Events that were said but neither logged nor posted: beyond the bound of one session. */
  unloggedEvents: number;
  state: 'live' | 'ended';
  verdict: string | null;
  verdictFinal: boolean;
  confidence: number | null;
  reason: string | null;
  beepAtMs: number | null;
  beepFrequencyHz: number | null;
  lastEvent: EventName | null;
  lastEventAtMs: number | null;
  audioMs: number;
  endedAtMs: number | null;
  endReason: EndReason | 'refused' | null;
}

/** One event of one session on its way to the log and the webhook. */
export interface LoggedEvent {
  readonly record: SessionRecord;
  readonly sequence: number;
  readonly event: EventName;
  readonly payload: EventPayload;
  readonly atMs: number;
}

/** Where the data plane leaves what happened. Both calls return at once and never throw. */
export interface SessionLog {
  /** The session's row is new or changed. */
  touch(record: SessionRecord): void;
  /** An event was said; its record is touched with it. */
  add(event: LoggedEvent): void;
}

/** Events of one session that are logged and posted: 300 s of audio say far fewer, a client in a loop of faults more. */
export const LOGGED_EVENTS_MAX = 1_000;

export type NewRecord = Pick<
  SessionRecord,
  'sessionId' | 'teamId' | 'keyId' | 'callId' | 'source' | 'strategy' | 'encoding' | 'sampleRateHz'
> &
  Pick<SessionRecord, 'startedAtMs' | 'webhook' | 'platform' | 'keepTranscripts'> &
  Partial<Pick<SessionRecord, 'play'>>;

/** Spelled out: every record has the same shape, in the same order. */
export const newRecord = (from: NewRecord): SessionRecord => ({
  sessionId: from.sessionId,
  teamId: from.teamId,
  keyId: from.keyId,
  callId: from.callId,
  source: from.source,
  strategy: from.strategy,
  encoding: from.encoding,
  sampleRateHz: from.sampleRateHz,
  startedAtMs: from.startedAtMs,
  webhook: from.webhook,
  platform: from.platform,
  keepTranscripts: from.keepTranscripts,
  play: from.play ?? null,
  sequence: 0,
  unloggedEvents: 0,
  state: 'live',
  verdict: null,
  verdictFinal: false,
  confidence: null,
  reason: null,
  beepAtMs: null,
  beepFrequencyHz: null,
  lastEvent: null,
  lastEventAtMs: null,
  audioMs: 0,
  endedAtMs: null,
  endReason: null,
});
