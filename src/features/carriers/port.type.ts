import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { NoVerdictAction } from '../delivery-rules/index.ts';

export type CarrierWork = 'text' | 'call' | 'drop' | 'mail';

/** How an attempt ended, in the words of the outcome table. */
export interface CarrierResult {
  readonly outcomeCode: OutcomeCode;
  /** Overrides the outcome's name as `reason`. */
  readonly reason?: string;
  readonly detail?: string;
  readonly segments?: number;
  readonly read?: boolean;
}

/**
 * What a carrier said to a request. `retry` only when it certainly took nothing: the connection was refused, or it said 429;
 * whatever else went wrong after the request may have left is `unknown` and never asked again (house.md, promise 3).
 */
export type CarrierAnswer =
  | { readonly kind: 'accepted'; readonly carrierMessageId: string | null; readonly result?: CarrierResult }
  | { readonly kind: 'refused'; readonly result: CarrierResult }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly detail: string }
  | { readonly kind: 'unknown'; readonly detail: string };

interface Attempt {
  readonly teamId: string;
  readonly sendId: string;
  readonly attempt: number;
  /** E.164. */
  readonly to: string;
  readonly from: string | null;
  /** Receives status callbacks; carries a token of the attempt. Null: the carrier calls nothing back. */
  readonly statusUrl: string | null;
}

export interface TextRequest extends Attempt {
  readonly body: string;
  readonly mediaUrls: readonly string[];
  /** RCS content; a carrier that cannot carry it sends `body`. */
  readonly rcsContent: unknown;
}

/** What is played where: a stored file's key (8 kHz mono WAV). Null: nothing, the call ends. */
export interface PlayPlan {
  readonly sendId: string;
  readonly teamId: string;
  readonly attempt: number;
  readonly onSpeech: string | null;
  readonly onBeep: string | null;
  readonly noVerdict: NoVerdictAction;
  readonly optOutDigit: string | null;
  /** Epoch milliseconds after which the plan is refused. */
  readonly expiresAtMs: number;
}

export interface CallRequest extends Attempt {
  /** Ends in a play plan on the platform route, already signed, with the stream's address. */
  readonly stream: { readonly url: string; readonly parameters: Readonly<Record<string, string>> };
  /** For carriers that only simulate. */
  readonly channel: 'rvm' | 'voice_broadcast' | 'ai_broadcast';
}

export interface DropRequest extends Attempt {
  /** A public, signed address of the audio. */
  readonly audioUrl: string;
}

export interface MailRequest {
  readonly teamId: string;
  readonly emailId: string;
  readonly from: { readonly address: string; readonly name?: string };
  readonly to: readonly { readonly address: string; readonly name?: string }[];
  readonly cc: readonly { readonly address: string; readonly name?: string }[];
  readonly bcc: readonly { readonly address: string; readonly name?: string }[];
  readonly subject: string;
  readonly html: string;
  readonly text: string | null;
  readonly messageId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dkim: { readonly domain: string; readonly selector: string; readonly privateKey: string } | null;
}

/** The end of a call that listened (outbox topic `send.heard`). Times are media milliseconds of the stream. */
export interface CallHeard {
  readonly teamId: string;
  readonly attempt: number;
  readonly sessionId: string;
  readonly callSid: string | null;
  readonly verdict: 'live_person' | 'voicemail' | 'silence' | 'unknown' | null;
  readonly beepAtMs: number | null;
  readonly played: 'speech' | 'beep' | null;
  readonly playedAtMs: number | null;
  /** The carrier's mark after the message came back: it was heard whole. */
  readonly isHeardWhole: boolean;
  readonly optOut: boolean;
  readonly durationMs: number;
}

/** What a carrier says later about a message it took; may come twice, out of order, or before the answer. */
export interface CarrierReceipt {
  readonly carrierId: string;
  readonly teamId: string;
  readonly carrierMessageId: string;
  /** From the token in the status address, when there was one. */
  readonly sendId: string | null;
  readonly attempt: number | null;
  /** Null: progress that ends nothing (queued, sending, ringing). */
  readonly result: CarrierResult | null;
  /** The carrier's own word. */
  readonly status: string;
  readonly atMs: number;
}

/** A text somebody sent to a number of the account. */
export interface InboundText {
  readonly carrierId: string;
  readonly teamId: string;
  readonly carrierMessageId: string;
  readonly from: string;
  readonly to: string;
  readonly body: string;
  readonly mediaUrls: readonly string[];
  readonly atMs: number;
}

export interface TextCarrier {
  sendText(request: TextRequest, signal: AbortSignal): Promise<CarrierAnswer>;
}
export interface CallCarrier {
  placeCall(request: CallRequest, signal: AbortSignal): Promise<CarrierAnswer>;
}
export interface DropCarrier {
  dropVoicemail(request: DropRequest, signal: AbortSignal): Promise<CarrierAnswer>;
}
export interface MailCarrier {
  sendMail(request: MailRequest, signal: AbortSignal): Promise<CarrierAnswer>;
}

/** How long a connection has work wait before it may be asked, and why. */
export interface CarrierWait {
  readonly afterMs: number;
  readonly detail: string;
}

/** An account's connection that is fit for a kind of work, with its limits around it. */
export interface OpenCarrier<W extends CarrierWork = CarrierWork> {
  /** Null: the built-in simulator. */
  readonly carrierId: string | null;
  readonly kind: 'smtp' | 'twilio' | 'smpp' | 'simulator';
  readonly port: {
    readonly text: TextCarrier;
    readonly call: CallCarrier;
    readonly drop: DropCarrier;
    readonly mail: MailCarrier;
  }[W];
  /**
   * Takes a turn within the connection's rate for the next request; omitted: it is always its turn. Not null: the connection
   * rests or its rate is used up. A request without a turn is answered `retry` then.
   */
  readonly turn?: () => Promise<CarrierWait | null>;
}
