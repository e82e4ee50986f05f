import type { TObject } from '@sinclair/typebox';
import { DATA } from './event-data.schema.ts';
import { EXAMPLES } from './event-types.examples.ts';

/** One name of the catalogue. */
export interface EventType {
  readonly eventType: string;
  readonly description: string;
  /** Schema of its `data`. */
  readonly schema: TObject;
  /** An example of its `data`. */
  readonly example: Readonly<Record<string, unknown>>;
}

const type = (
  eventType: string,
  description: string,
  kind: keyof typeof DATA,
  differs: Readonly<Record<string, unknown>> = {},
): EventType => ({ eventType, description, schema: DATA[kind], example: { ...EXAMPLES[kind], ...differs } });

const AGENT_OUTCOMES = {
  confirm: 'The contact confirmed.',
  opt_out: 'The contact asked not to be called again.',
  transfer: 'The call was transferred.',
  voicemail: 'A voicemail was reached.',
  incomplete: 'The call ended before its purpose was reached.',
  timeout: 'The contact stopped answering.',
  identity_failed: 'The caller could not be identified.',
} as const;

/** Every event that is or will be sent (contract, Status webhooks; supplement 4), in the order of the contract. */
export const EVENT_TYPES: readonly EventType[] = [
  type(
    'contact.rvm.status',
    'Result of a ringless voicemail, voice broadcast or AI call for one contact.',
    'rvmStatus',
  ),
  type(
    'contact.rvm.receipt',
    'Proof of delivery of a voicemail (codes 0, 4001 and 4002) is ready.',
    'rvmReceipt',
  ),
  type('contact.sms.status', 'Result of a text for one contact.', 'smsStatus'),
  type('contact.email.status', 'Result of an email; may come several times for one email.', 'email'),
  type('contact.email.bounce_hard', 'An email bounced for good.', 'email', {
    ...{ status: 'bounced', reason: 'hard_bounce', reason_code: 5030 },
  }),
  type('contact.email.complaint', 'The recipient of an email complained.', 'email', {
    ...{ status: 'complained', reason: 'complaint' },
  }),
  type('campaign.started', 'A campaign started.', 'campaignStarted'),
  type('campaign.completed', 'A campaign completed.', 'campaignCompleted'),
  type('ai_agent.call.started', 'A call connected to the agent.', 'agentCall', { outcome: null }),
  type('ai_agent.call.failed', 'The call failed, for example nobody answered.', 'agentCall', {
    ...{ outcome: 'no_answer', answered: false, duration: 0 },
  }),
  ...Object.entries(AGENT_OUTCOMES).map(([outcome, description]) =>
    type(`ai_agent.outcome.${outcome}`, `The agent recorded an outcome: ${description}`, 'agentCall', {
      outcome,
    }),
  ),
  type('ai_agent.call.completed', 'Any other answered call ended.', 'agentCall'),
  type('contact.created', 'A contact was created.', 'contact'),
  type('contact.updated', 'A contact was changed.', 'contact'),
  type('contact.deleted', 'A contact was deleted.', 'contact'),
  type('contact.msg.received', 'A contact sent a text.', 'message'),
  type('contact.msg.sent', 'A text was sent to a contact.', 'message'),
  type('contact.msg.opt', 'A contact opted out of texts, or in again.', 'optOut'),
  type('contact.call.answered', 'A call with a contact was answered.', 'call'),
  type('contact.call.missed', 'A call of a contact was missed.', 'call', { direction: 'inbound' }),
  type('contact.call.hangup', 'A call with a contact ended.', 'call'),
  type('contact.voicemail.received', 'A contact left a voicemail.', 'voicemail', { direction: 'inbound' }),
  type('contact.consent.granted', 'Consent of a contact was recorded.', 'consentGranted'),
  type('contact.consent.revoked', 'Consent of a contact was revoked.', 'consentRevoked'),
];

const NAMES = new Set(EVENT_TYPES.map(({ eventType }) => eventType));
const WILDCARD = '.*';

/** Whether a subscription may ask for it: an exact name, or `prefix.*` of at least one name. */
export function isEventPattern(pattern: string): boolean {
  if (NAMES.has(pattern)) return true;
  return pattern.endsWith(WILDCARD) && EVENT_TYPES.some(({ eventType }) => matches(pattern, eventType));
}

function matches(pattern: string, event: string): boolean {
  return pattern === event || (pattern.endsWith(WILDCARD) && event.startsWith(pattern.slice(0, -1)));
}

export const matchesAny = (patterns: readonly string[], event: string): boolean =>
  patterns.some((pattern) => matches(pattern, event));

/** Every pattern that an event falls under: `contact.sms.status`, `contact.sms.*`, `contact.*`. */
export function patternsOf(event: string): string[] {
  const words = event.split('.');
  const prefixes = words.slice(0, -1).map((_, index) => `${words.slice(0, index + 1).join('.')}${WILDCARD}`);
  return [event, ...prefixes];
}

/** The catalogue's first type that a subscription to `patterns` gets. */
export function sampleOf(patterns: readonly string[]): EventType {
  const found = EVENT_TYPES.find(({ eventType }) => matchesAny(patterns, eventType)) ?? EVENT_TYPES[0];
  if (!found) throw new Error('the catalogue of events is empty');
  return found;
}
