export { decide, EXPIRED_REASON } from './decision.rules.ts';
export { presentDialingRules } from './dialing-rules.present.ts';
export { dialingRulesRoutes } from './dialing-rules.routes.ts';
export { DEFAULT_RULES } from './dialing-rules.rules.ts';
export { DialingRulesService } from './dialing-rules.service.ts';
export type { DialingRulesView } from './dialing-rules.service.ts';
export type { Decision, DialingRules, Facts, NoVerdictAction, OptIn, SendChannel } from './facts.type.ts';
export {
  attemptsCountFromMs,
  emailFrequencyRefusal,
  emailsCountFromMs,
  isTooFrequent,
} from './frequency.rules.ts';
export type { EmailSendType } from './frequency.rules.ts';
export { isOpen, nextOpeningMs } from './hours.rules.ts';
export type { DayWindow } from './hours.rules.ts';
export { lockNumbers } from './number-lock.store.ts';
export { isSimulated, simulatedOutcome } from './simulated.rules.ts';
export { zonesOf } from './zones.rules.ts';
export type { Whereabouts } from './zones.rules.ts';
