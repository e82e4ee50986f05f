import { invalidField, requireText } from '../../kernel/text.ts';
import { isEventPattern } from './event-types.rules.ts';

/** Subscriptions of one account (supplement 4). */
export const SUBSCRIPTIONS_MAX = 50;
/** Supplement 4. */
export const NAME_LENGTH_MAX = 100;
/** As the addresses of all outbound calls (platform/net). */
export const HOOK_URL_LENGTH_MAX = 2_048;
/** Far more than the catalogue holds. */
export const EVENT_TYPES_MAX = 100;
export const EVENT_TYPE_LENGTH_MAX = 100;
/** Random bytes of a signing secret (supplement 12). */
export const SECRET_BYTES = 32;

/** What a caller gives, not yet judged. */
export interface SubscriptionInput {
  readonly name?: unknown;
  readonly hookUrl?: unknown;
  readonly eventTypes?: unknown;
}

/** @throws Problem validation-error */
export const checkName = (name: unknown): string => requireText('name', name, NAME_LENGTH_MAX);

/** Only its form as a text; where it leads is for `Net` to judge. @throws Problem validation-error */
export const checkHookUrl = (url: unknown): string => requireText('hook_url', url, HOOK_URL_LENGTH_MAX);

/** Exact names of the catalogue or `prefix.*`, each once. @throws Problem validation-error */
export function checkEventTypes(eventTypes: unknown): string[] {
  const field = 'event_types';
  if (!Array.isArray(eventTypes) || eventTypes.length === 0)
    throw invalidField(field, 'event_types must be a list with at least one name.');
  if (eventTypes.length > EVENT_TYPES_MAX)
    throw invalidField(field, `event_types has more than ${EVENT_TYPES_MAX} names.`);
  const patterns = eventTypes.map((name: unknown) => requireText(field, name, EVENT_TYPE_LENGTH_MAX));
  const unknown = patterns.find((pattern) => !isEventPattern(pattern));
  if (unknown !== undefined)
    throw invalidField(field, `${unknown} is no event; see GET /register/public/webhook-event-types.`);
  return [...new Set(patterns)];
}
