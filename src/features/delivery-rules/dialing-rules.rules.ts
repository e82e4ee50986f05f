import { isE164 } from '../../kernel/e164.ts';
import { checkText, invalidField } from '../../kernel/text.ts';
import type { DialingRules, NoVerdictAction } from './facts.type.ts';

/** What holds until an account says otherwise (contract, Limits; supplement 13, Sends). */
export const DEFAULT_RULES: DialingRules = {
  hoursEnabled: true,
  hoursStartMinute: 480,
  hoursEndMinute: 1_260,
  phoneAttemptsMax: 3,
  phoneWindowHours: 72,
  bulkEmailsMax: 15,
  bulkWindowHours: 72,
  transactionalEmailsMax: 30,
  transactionalWindowHours: 24,
  testNumbers: [],
  testEmails: [],
  textsNeedConsent: false,
  callsNeedConsent: false,
  noVerdictAction: 'play_speech',
  optOutDigit: null,
};

export const NO_VERDICT_ACTIONS: readonly NoVerdictAction[] = ['play_speech', 'play_beep', 'hang_up'];

export const START_MINUTE_MAX = 1_439;
export const END_MINUTE_MAX = 1_440;
/** Of a frequency limit: more attempts than anybody makes in a month. */
export const ATTEMPTS_MAX = 100_000;
/** 30 days; the database holds it too. */
export const WINDOW_HOURS_MAX = 720;
export const TEST_ENTRIES_MAX = 1_000;
/** RFC 5321, 4.5.3.1.3: a path of 256 octets with its brackets. */
export const EMAIL_LENGTH_MAX = 254;
export const PHONE_LENGTH_MAX = 16;
const EMAIL = /^[^\s@,<>]{1,64}@[^\s@,<>]{1,253}$/;
const DIGIT = /^[0-9*#]$/;

/** What is omitted stays; a null or empty `optOutDigit` takes it away. */
export type DialingRulesChange = { readonly [K in keyof DialingRules]?: unknown };

/** The rules after a change. @throws Problem validation-error, which names the field as the wire does */
export function changedRules(current: DialingRules, change: DialingRulesChange): DialingRules {
  const rules = {
    ...hours(current, change),
    ...frequency(current, change),
    testNumbers: testNumbers(change.testNumbers) ?? current.testNumbers,
    testEmails: testEmails(change.testEmails) ?? current.testEmails,
    textsNeedConsent: flag('texts_need_consent', change.textsNeedConsent) ?? current.textsNeedConsent,
    callsNeedConsent: flag('calls_need_consent', change.callsNeedConsent) ?? current.callsNeedConsent,
    noVerdictAction: noVerdictAction(change.noVerdictAction) ?? current.noVerdictAction,
    optOutDigit: change.optOutDigit === undefined ? current.optOutDigit : optOutDigit(change.optOutDigit),
  };
  if (rules.hoursStartMinute >= rules.hoursEndMinute) {
    throw invalidField('hours_end_minute', 'hours_end_minute must come after hours_start_minute.');
  }
  return rules;
}

function hours(current: DialingRules, change: DialingRulesChange) {
  const start = { name: 'hours_start_minute', min: 0, max: START_MINUTE_MAX };
  const end = { name: 'hours_end_minute', min: 1, max: END_MINUTE_MAX };
  return {
    hoursEnabled: flag('hours_enabled', change.hoursEnabled) ?? current.hoursEnabled,
    hoursStartMinute: whole(start, change.hoursStartMinute) ?? current.hoursStartMinute,
    hoursEndMinute: whole(end, change.hoursEndMinute) ?? current.hoursEndMinute,
  };
}

function frequency(current: DialingRules, change: DialingRulesChange) {
  const most = (name: string) => ({ name, min: 0, max: ATTEMPTS_MAX });
  const window = (name: string) => ({ name, min: 1, max: WINDOW_HOURS_MAX });
  return {
    phoneAttemptsMax: whole(most('phone_attempts_max'), change.phoneAttemptsMax) ?? current.phoneAttemptsMax,
    phoneWindowHours:
      whole(window('phone_window_hours'), change.phoneWindowHours) ?? current.phoneWindowHours,
    bulkEmailsMax: whole(most('bulk_emails_max'), change.bulkEmailsMax) ?? current.bulkEmailsMax,
    bulkWindowHours: whole(window('bulk_window_hours'), change.bulkWindowHours) ?? current.bulkWindowHours,
    transactionalEmailsMax:
      whole(most('transactional_emails_max'), change.transactionalEmailsMax) ??
      current.transactionalEmailsMax,
    transactionalWindowHours:
      whole(window('transactional_window_hours'), change.transactionalWindowHours) ??
      current.transactionalWindowHours,
  };
}

function flag(name: string, value: unknown): boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'boolean') throw invalidField(name, `${name} must be true or false.`);
  return value;
}

function whole(of: { name: string; min: number; max: number }, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < of.min || value > of.max) {
    throw invalidField(of.name, `${of.name} must be a whole number from ${of.min} to ${of.max}.`);
  }
  return value;
}

function noVerdictAction(value: unknown): NoVerdictAction | null {
  if (value === undefined || value === null) return null;
  const action = NO_VERDICT_ACTIONS.find((known) => known === value);
  if (!action) {
    throw invalidField(
      'no_verdict_action',
      `no_verdict_action must be one of ${NO_VERDICT_ACTIONS.join(', ')}.`,
    );
  }
  return action;
}

function optOutDigit(value: unknown): string | null {
  if (value === null || value === '') return null;
  if (typeof value !== 'string' || !DIGIT.test(value)) {
    throw invalidField('opt_out_digit', 'opt_out_digit must be one of 0 to 9, * and #.');
  }
  return value;
}

const testNumbers = (value: unknown): string[] | null =>
  entries('test_numbers', value, (entry) => {
    if (!isE164(entry)) {
      throw invalidField('test_numbers', 'test_numbers must hold E.164 numbers such as +12025550123.');
    }
    return entry;
  });

const testEmails = (value: unknown): string[] | null =>
  entries('test_emails', value, (entry) => {
    const email = entry.trim().toLowerCase();
    if (!EMAIL.test(email)) throw invalidField('test_emails', 'test_emails must hold email addresses.');
    return email;
  });

/** Each once, in the order given. */
function entries(name: string, value: unknown, read: (entry: string) => string): string[] | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw invalidField(name, `${name} must be a list.`);
  if (value.length > TEST_ENTRIES_MAX) {
    throw invalidField(name, `${name} must hold at most ${TEST_ENTRIES_MAX} entries.`);
  }
  return [...new Set(value.map((entry) => read(checkText(name, entry, EMAIL_LENGTH_MAX))))];
}
