import type { DialingRules } from './facts.type.ts';

const HOUR_MS = 3_600_000;

/** From when on attempts on a number count (contract, Limits, Contact frequency). */
export const attemptsCountFromMs = (rules: DialingRules, nowMs: number): number =>
  nowMs - rules.phoneWindowHours * HOUR_MS;

/** Whether one attempt more on a number is too many, after `attempts` within the window; test numbers skip the limit. */
export const isTooFrequent = (rules: DialingRules, phoneNumber: string, attempts: number): boolean =>
  attempts >= rules.phoneAttemptsMax && !rules.testNumbers.includes(phoneNumber);

export type EmailSendType = 'bulk' | 'transactional';

/** From when on emails of a kind to an address count (contract, Limits, Email frequency). */
export const emailsCountFromMs = (rules: DialingRules, sendType: EmailSendType, nowMs: number): number =>
  nowMs - (sendType === 'bulk' ? rules.bulkWindowHours : rules.transactionalWindowHours) * HOUR_MS;

/**
 * Why one email more is too many, after `sent` of its kind within the window; null: it is not. Test addresses skip the
 * limit; either case.
 */
export function emailFrequencyRefusal(
  rules: DialingRules,
  email: { readonly address: string; readonly sendType: EmailSendType; readonly sent: number },
): 5019 | 5020 | null {
  if (rules.testEmails.includes(email.address.toLowerCase())) return null;
  if (email.sendType === 'bulk') return email.sent >= rules.bulkEmailsMax ? 5019 : null;
  return email.sent >= rules.transactionalEmailsMax ? 5020 : null;
}
