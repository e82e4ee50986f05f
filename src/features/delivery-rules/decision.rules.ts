import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { Decision, Facts } from './facts.type.ts';
import { isTooFrequent } from './frequency.rules.ts';
import { isOpen, nextOpeningMs } from './hours.rules.ts';
import { isSimulated } from './simulated.rules.ts';
import { zonesOf } from './zones.rules.ts';

/** `reason` of a voicemail or call that was held for three days (contract, Outcome codes). */
export const EXPIRED_REASON = 'tcpa_expired';

const DELIVER: Decision = { kind: 'deliver' };
const refuse = (code: OutcomeCode): Decision => ({ kind: 'refuse', code });

/**
 * Whether a send goes out now, waits, or does not: the first rule that speaks decides (supplement 12, Sends). Simulated
 * numbers pass all of them. Looked at again after each wait, with facts read anew.
 */
export function decide(facts: Facts): Decision {
  if (isSimulated(facts.channel, facts.phoneNumber)) return DELIVER;
  if (facts.isTestMode) return refuse(3040);
  if (facts.availableMicros < facts.priceMicros) return refuse(3000);
  if (facts.isListed) return refuse(4016);
  return optInRefusal(facts) ?? brandRefusal(facts) ?? frequencyRefusal(facts) ?? decideByHours(facts);
}

function optInRefusal({ channel, rules, optIn }: Facts): Decision | null {
  const isNeeded = channel === 'sms' ? rules.textsNeedConsent : rules.callsNeedConsent;
  if (!isNeeded || optIn === 'granted') return null;
  return refuse(optIn === 'revoked' ? 6005 : 6011);
}

const brandRefusal = ({ channel, hasTextingCampaign }: Facts): Decision | null =>
  channel === 'sms' && !hasTextingCampaign ? refuse(6009) : null;

const frequencyRefusal = ({ rules, phoneNumber, attempts }: Facts): Decision | null =>
  isTooFrequent(rules, phoneNumber, attempts) ? refuse(4013) : null;

/** Texts outside the hours fail at once, voicemails and calls wait for them until they expire (contract, Send request). */
function decideByHours(facts: Facts): Decision {
  const { nowMs, expiresAtMs, rules } = facts;
  if (!rules.hoursEnabled) return DELIVER;
  const zones = zonesOf(facts);
  const window = { startMinute: rules.hoursStartMinute, endMinute: rules.hoursEndMinute };
  if (isOpen(zones, window, nowMs)) return DELIVER;
  if (facts.channel === 'sms') return refuse(4011);
  if (nowMs >= expiresAtMs) return { kind: 'refuse', code: 4011, reason: EXPIRED_REASON };
  const openingMs = nextOpeningMs(zones, window, { fromMs: nowMs, untilMs: expiresAtMs });
  // Without an opening before it expires: looked at once more then, when the rules may be others.
  return { kind: 'hold', untilMs: openingMs ?? expiresAtMs, why: 'calling_hours' };
}
