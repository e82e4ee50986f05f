import type { DialingRulesView } from './dialing-rules.service.ts';

/** All rules of an account (supplement 13, Sends). */
export const presentDialingRules = (rules: DialingRulesView) => ({
  hours_enabled: rules.hoursEnabled,
  hours_start_minute: rules.hoursStartMinute,
  hours_end_minute: rules.hoursEndMinute,
  phone_attempts_max: rules.phoneAttemptsMax,
  phone_window_hours: rules.phoneWindowHours,
  bulk_emails_max: rules.bulkEmailsMax,
  bulk_window_hours: rules.bulkWindowHours,
  transactional_emails_max: rules.transactionalEmailsMax,
  transactional_window_hours: rules.transactionalWindowHours,
  test_numbers: [...rules.testNumbers],
  test_emails: [...rules.testEmails],
  texts_need_consent: rules.textsNeedConsent,
  calls_need_consent: rules.callsNeedConsent,
  no_verdict_action: rules.noVerdictAction,
  opt_out_digit: rules.optOutDigit,
  updated_at: rules.updatedAtMs,
});
