import type { OutcomeCode } from '../../kernel/outcome.ts';

export type SendChannel = 'rvm' | 'sms' | 'voice_broadcast' | 'ai_broadcast';

/** What a call does when it hears nobody, or nothing that tells a person from a machine. */
export type NoVerdictAction = 'play_speech' | 'play_beep' | 'hang_up';

/** Rules of an account (contract, Limits; supplement 13, Sends). Minutes are of the contact's day. */
export interface DialingRules {
  readonly hoursEnabled: boolean;
  readonly hoursStartMinute: number;
  readonly hoursEndMinute: number;
  /** Attempts of all phone channels to one number within the window; 0: none is allowed. */
  readonly phoneAttemptsMax: number;
  readonly phoneWindowHours: number;
  readonly bulkEmailsMax: number;
  readonly bulkWindowHours: number;
  readonly transactionalEmailsMax: number;
  readonly transactionalWindowHours: number;
  /** E.164; these skip the frequency limit. */
  readonly testNumbers: readonly string[];
  /** Lower case; these skip the frequency limit. */
  readonly testEmails: readonly string[];
  readonly textsNeedConsent: boolean;
  readonly callsNeedConsent: boolean;
  readonly noVerdictAction: NoVerdictAction;
  /** A key that opts out while a message is played; null: none. */
  readonly optOutDigit: string | null;
}

/** The state of a number's opt-in of the kind a channel asks for. */
export type OptIn = 'granted' | 'revoked' | 'missing';

/** Everything a decision sees; kept with the send and shown (steps of kind `decided`). */
export interface Facts {
  readonly nowMs: number;
  readonly channel: SendChannel;
  /** E.164. */
  readonly phoneNumber: string;
  /** The postal code of the request, else the contact's. */
  readonly postalCode: string | null;
  /** ISO 3166-1 alpha-2 of the contact, else of the account. */
  readonly region: string | null;
  readonly rules: DialingRules;
  /** Attempts that count, within the window of the rules. */
  readonly attempts: number;
  /** An entry for every brand or for the send's. */
  readonly isListed: boolean;
  readonly optIn: OptIn;
  /** Texts only: whether the line's brand has an approved texting campaign. */
  readonly hasTextingCampaign: boolean;
  readonly isTestMode: boolean;
  readonly availableMicros: bigint;
  readonly priceMicros: bigint;
  /** Held no longer than this. */
  readonly expiresAtMs: number;
}

export type Decision =
  | { readonly kind: 'deliver' }
  | { readonly kind: 'hold'; readonly untilMs: number; readonly why: 'calling_hours' }
  | {
      readonly kind: 'refuse';
      readonly code: OutcomeCode;
      readonly reason?: string;
      readonly detail?: string;
    };
