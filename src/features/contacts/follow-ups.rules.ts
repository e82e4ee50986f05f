import { checkText, invalidField } from '../../kernel/text.ts';
import { sanitizeBasicHtml, textOfBasicHtml } from './basic-html.rules.ts';

/**
 * States (contract, States, Follow-up):
 * pending → triggered (due: an inbox task) → completed (the task is completed) · pending → cancelled.
 */
export const FOLLOW_UP_STATUSES = ['pending', 'triggered', 'completed', 'cancelled'] as const;
export type FollowUpStatus = (typeof FOLLOW_UP_STATUSES)[number];
export const ASSIGNED_TYPES = ['user', 'team'] as const;
export type AssignedType = (typeof ASSIGNED_TYPES)[number];

/** Characters of a description's HTML. */
export const DESCRIPTION_LENGTH_MAX = 20_000;
export const TIME_LENGTH_MAX = 40;
/** Smaller numbers are seconds: in milliseconds they would lie before March 1973, in seconds this is the year 5138. */
const EPOCH_SECONDS_MAX = 100_000_000_000;
/** The last moment of the year 9999, the last that ISO 8601 writes in four digits. */
const TIME_MAX_MS = 253_402_300_799_999;
const ISO_8601 =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Epoch ms of a time in one of three forms: epoch ms, epoch seconds, ISO 8601 text (without an offset it is UTC).
 * @throws Problem validation-error (missing, unreadable, or not after `nowMs`)
 */
export function checkScheduledAt(value: unknown, nowMs: number): number {
  const atMs = typeof value === 'number' ? epochMs(value) : typeof value === 'string' ? isoMs(value) : null;
  if (atMs === null) {
    throw invalidField('scheduled_at', 'scheduled_at must be epoch ms, epoch seconds or an ISO 8601 text.');
  }
  if (atMs <= nowMs) throw invalidField('scheduled_at', 'scheduled_at must be in the future.');
  if (atMs > TIME_MAX_MS) throw invalidField('scheduled_at', 'scheduled_at must be before the year 10000.');
  return atMs;
}

function epochMs(value: number): number | null {
  if (!Number.isSafeInteger(value) || value < 0) return null;
  return value < EPOCH_SECONDS_MAX ? value * 1_000 : value;
}

function isoMs(text: string): number | null {
  const [, date, time = '00:00', seconds = '00', fraction = '0', offset = 'Z'] =
    ISO_8601.exec(text.trim()) ?? [];
  if (date === undefined) return null;
  // Of a day that its month has not, the parser makes one of the next.
  const dayMs = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(dayMs) || !new Date(dayMs).toISOString().startsWith(date)) return null;
  const ms = fraction.slice(0, 3).padEnd(3, '0');
  const atMs = Date.parse(`${date}T${time}:${seconds}.${ms}${offsetOf(offset)}`);
  return Number.isNaN(atMs) ? null : atMs;
}

/** `+0200` and `+02` as `+02:00`. */
function offsetOf(offset: string): string {
  if (/^z$/i.test(offset)) return 'Z';
  return `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`;
}

/** Safe HTML and what it says; an empty text clears. @throws Problem validation-error */
export function checkDescription(value: unknown): { description: string; descriptionText: string } {
  const description = sanitizeBasicHtml(checkText('description', value, DESCRIPTION_LENGTH_MAX));
  return { description, descriptionText: textOfBasicHtml(description) };
}

/** @throws Problem validation-error */
export function checkAssignedType(value: unknown): AssignedType {
  const type = ASSIGNED_TYPES.find((known) => known === value);
  if (!type) throw invalidField('assigned_type', 'assigned_type must be user or team.');
  return type;
}

/** Null: every state but cancelled. @throws Problem validation-error */
export function checkStatus(value: unknown): FollowUpStatus | null {
  if (value === undefined) return null;
  const status = FOLLOW_UP_STATUSES.find((known) => known === value);
  if (!status) throw invalidField('status', `status must be one of ${FOLLOW_UP_STATUSES.join(', ')}.`);
  return status;
}
