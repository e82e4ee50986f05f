import type { Decision, Facts } from '../delivery-rules/index.ts';

/** A decision with the facts it saw, as steps of kind `decided` keep and show it. */
export function presentDecision(decision: Decision, facts: Facts): Record<string, unknown> {
  const { rules } = facts;
  return {
    decision: decision.kind,
    ...(decision.kind === 'hold' ? { until: decision.untilMs, why: decision.why } : {}),
    ...(decision.kind === 'refuse'
      ? { reason_code: decision.code, reason: decision.reason, detail: decision.detail }
      : {}),
    facts: {
      now: facts.nowMs,
      phone_number: facts.phoneNumber,
      postal_code: facts.postalCode,
      region: facts.region,
      attempts: facts.attempts,
      attempts_max: rules.phoneAttemptsMax,
      window_hours: rules.phoneWindowHours,
      hours: rules.hoursEnabled ? [rules.hoursStartMinute, rules.hoursEndMinute] : null,
      do_not_contact: facts.isListed,
      opt_in: facts.optIn,
      has_texting_campaign: facts.hasTextingCampaign,
      test_mode: facts.isTestMode,
      available_micros: facts.availableMicros,
      price_micros: facts.priceMicros,
      expires_at: facts.expiresAtMs,
    },
  };
}
