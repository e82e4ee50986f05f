/** How an attempt ended, as callbacks and status webhooks tell it in `reason_code`. */
export interface Outcome {
  readonly code: number;
  /** What `reason` says. */
  readonly name: string;
  readonly meaning: string;
  /** Whether the same send may succeed later without being changed. */
  readonly retryable: boolean;
}

const of = (code: number, name: string, meaning: string): Outcome => ({
  ...{ code, name, meaning, retryable: false },
});
const later = (code: number, name: string, meaning: string): Outcome => ({
  ...{ code, name, meaning, retryable: true },
});

/**
 * The catalogue of outcome codes (contract, Outcome codes; supplement 2): the one table, served and emitted to
 * schema/events. Codes 5xxx are of email.
 */
export const OUTCOMES = [
  of(0, 'success', 'Delivered.'),
  later(3000, 'no_funds', 'No funds.'),
  of(3001, 'audio_unusable', 'The audio cannot be used, or was never uploaded.'),
  of(3002, 'tts_without_voice', 'tts_body without voice_id.'),
  of(3007, 'invalid_credential', 'Wrong or invalid credential on a send route.'),
  of(3014, 'audio_url_not_allowed', 'audio_url needs a carrier of your own.'),
  of(3015, 'voice_without_tts', 'voice_id without tts_body.'),
  of(3021, 'tts_too_long', 'The text to speak has more than 1,200 characters after merge fields.'),
  of(3027, 'idempotency_conflict', 'The Idempotency-Key was used with another body or route.'),
  of(3028, 'idempotency_key_malformed', 'The Idempotency-Key is not 1 to 255 printable ASCII characters.'),
  of(3029, 'field_invalid', 'A field of the body is not valid; the detail names it.'),
  of(3030, 'field_missing', 'A required field is missing; the detail names it.'),
  of(3031, 'object_unknown', 'An object that the request names does not exist.'),
  of(3040, 'test_numbers_only', 'An account in testing mode sends to simulated numbers only.'),
  later(4000, 'voicemail_not_detected', 'No voicemail was heard.'),
  of(4001, 'voicemail_not_set_up', "The contact's voicemail is not set up."),
  later(4002, 'voicemail_full', "The contact's voicemail is full."),
  of(4004, 'not_reachable', 'The number cannot be reached.'),
  later(4005, 'no_answer', 'Nobody answered.'),
  later(4006, 'busy', 'The line was busy.'),
  of(4008, 'spam_detected', 'The carrier took the message for spam.'),
  of(4010, 'no_phone_line', 'The account has no phone line for this send.'),
  later(4011, 'tcpa_hours', "A text outside the contact's allowed hours."),
  later(4013, 'too_many_attempts', 'The contact frequency limit is reached.'),
  of(4016, 'do_not_contact', 'The number is on the do-not-contact list.'),
  of(4017, 'known_litigator', 'The number belongs to a known litigator.'),
  of(4019, 'number_reassigned', 'The number was given to somebody else.'),
  later(4021, 'reassignment_check_failed', 'Whether the number was reassigned could not be found out.'),
  of(4090, 'result_unknown', 'Handed to the carrier, which never answered; it is not sent again by itself.'),
  of(5014, 'do_not_contact_email', 'The email address is on the do-not-contact list.'),
  later(5019, 'too_many_bulk_emails', 'The limit of bulk emails for the contact is reached.'),
  later(
    5020,
    'too_many_transactional_emails',
    'The limit of transactional emails for the contact is reached.',
  ),
  of(5030, 'hard_bounce', 'The mailbox does not exist or refuses mail for good.'),
  of(6000, 'use_case_denied', 'The carrier denied the use case.'),
  later(6001, 'carrier_suspension', 'The carrier suspended the sender.'),
  later(6002, 'pool_suspended', 'The pool of sending numbers is suspended.'),
  later(6003, 'pool_not_ready', 'The pool of sending numbers is not ready.'),
  of(6004, 'opt_in_flagged', "The contact's opt-in is flagged."),
  of(6005, 'opt_in_revoked', "The contact's opt-in was revoked."),
  later(6006, 'opt_in_pending', "The contact's opt-in is pending."),
  later(6009, 'unregistered_brand', 'The phone line has no approved texting campaign.'),
  of(6011, 'opt_in_missing', "The contact's opt-in is missing."),
] as const satisfies readonly Outcome[];

export type OutcomeCode = (typeof OUTCOMES)[number]['code'];
