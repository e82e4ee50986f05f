import { invalidField, requireText } from '../../../kernel/text.ts';
import { NAME_LENGTH_MAX } from '../input.rules.ts';

/** Templates of one account that are not deleted. */
export const TEMPLATES_MAX = 5_000;
/** RFC 5322, 2.1.1: what one line of a header can hold. */
export const SUBJECT_LENGTH_MAX = 998;
/** Within the body limit of every route (256 KiB), escapes included. */
export const HTML_LENGTH_MAX = 200_000;
const RCS_BYTES_MAX = 100_000;
const RCS_DEPTH_MAX = 32;
const RCS_KEYS_MAX = 1_000;

export const TEMPLATE_TYPES = ['email', 'rcs'] as const;
export type TemplateType = (typeof TEMPLATE_TYPES)[number];

/** A card, usually copied into campaigns; its shape is the carrier's. */
export type RcsContent = Record<string, unknown>;

export type NewTemplate =
  | { type: 'email'; name: string; subject: string; html: string }
  | { type: 'rcs'; name: string; rcsContent: RcsContent };

export interface TemplateContent {
  name: string;
  subject: string | null;
  html: string | null;
  rcsContent: RcsContent | null;
}

export interface TemplateChange {
  /** Must be the template's own. */
  type?: TemplateType;
  name?: string;
  subject?: string;
  html?: string;
  rcsContent?: RcsContent;
}

/** @throws Problem validation-error */
export function contentOf(input: NewTemplate): TemplateContent {
  const name = requireText('name', input.name, NAME_LENGTH_MAX);
  return input.type === 'email'
    ? { name, subject: subjectOf(input.subject), html: htmlOf(input.html), rcsContent: null }
    : { name, subject: null, html: null, rcsContent: rcsOf(input.rcsContent) };
}

/** What changes in a template of `type`; fields of the other type are ignored. @throws Problem validation-error */
export function changesOf(type: TemplateType, change: TemplateChange): Partial<TemplateContent> {
  if (change.type !== undefined && change.type !== type) {
    throw invalidField('type', `The type of a template cannot be changed: this is an ${type} template.`);
  }
  const changes: Partial<TemplateContent> = {};
  if (change.name !== undefined) changes.name = requireText('name', change.name, NAME_LENGTH_MAX);
  if (type === 'email' && change.subject !== undefined) changes.subject = subjectOf(change.subject);
  if (type === 'email' && change.html !== undefined) changes.html = htmlOf(change.html);
  if (type === 'rcs' && change.rcsContent !== undefined) changes.rcsContent = rcsOf(change.rcsContent);
  return changes;
}

/** One header line: a line break would begin another header. */
function subjectOf(subject: string): string {
  if (/[\r\n]/.test(subject)) throw invalidField('subject', 'subject must be one line.');
  return requireText('subject', subject, SUBJECT_LENGTH_MAX);
}

const htmlOf = (html: string): string => requireText('html', html, HTML_LENGTH_MAX);

function rcsOf(content: RcsContent): RcsContent {
  if (JSON.stringify(content).length > RCS_BYTES_MAX) {
    throw invalidField('rcs_content', `rcs_content must be at most ${RCS_BYTES_MAX} characters of JSON.`);
  }
  const left = { keys: RCS_KEYS_MAX };
  checkJson(content, RCS_DEPTH_MAX, left);
  return content;
}

/** What jsonb cannot or should not hold (NUL, great depth, very many keys). */
function checkJson(value: unknown, depthLeft: number, left: { keys: number }): void {
  if (typeof value === 'string' && value.includes('\0'))
    throw invalidField('rcs_content', 'NUL is not text.');
  if (typeof value !== 'object' || value === null) return;
  if (depthLeft === 0) throw invalidField('rcs_content', `rcs_content nests deeper than ${RCS_DEPTH_MAX}.`);
  for (const [key, item] of Object.entries(value)) {
    if ((left.keys -= 1) < 0)
      throw invalidField('rcs_content', `rcs_content has more than ${RCS_KEYS_MAX} entries.`);
    checkJson(key, depthLeft, left);
    checkJson(item, depthLeft - 1, left);
  }
}
