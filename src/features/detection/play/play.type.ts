import type { MessageCache } from './message.cache.ts';

/** The two messages of a plan: for a person, and for a machine. */
export type MessageKind = 'speech' | 'beep';

/**
 * What a call plays, as its signed token says: the keys of two stored files (null: nothing is played there, the call
 * ends), what to do when nobody could be told, the digit that opts out, and the epoch millisecond of its end.
 */
export interface PlayPlan {
  readonly sendId: string;
  readonly teamId: string;
  readonly attempt: number;
  readonly onSpeech: string | null;
  readonly onBeep: string | null;
  readonly noVerdict: 'play_speech' | 'play_beep' | 'hang_up';
  readonly optOutDigit: string | null;
  readonly expiresAtMs: number;
}

/** The plan in a token of this service; null when it is not ours, was changed or has expired. */
export type VerifyPlan = (token: string) => PlayPlan | null;

/** What calls that hear need beside the detection plane. */
export interface PlayFloor {
  readonly verifyPlan: VerifyPlan;
  readonly messages: MessageCache;
}

/** What the log keeps of a call that plays; the data plane changes it, the journal writes it at the end. */
export interface PlayRecord {
  readonly sendId: string;
  readonly attempt: number;
  /** Media time reached: audio received and the gaps that its time stamps show. It goes on where a session ends. */
  mediaMs: number;
  /** The last message that was begun. */
  played: MessageKind | null;
  /** Media time of its first sample. */
  playedAtMs: number | null;
  /** The carrier's mark behind it came back. */
  isHeardWhole: boolean;
  optOut: boolean;
}

export const newPlayRecord = (plan: PlayPlan): PlayRecord => ({
  sendId: plan.sendId,
  attempt: plan.attempt,
  mediaMs: 0,
  played: null,
  playedAtMs: null,
  isHeardWhole: false,
  optOut: false,
});
