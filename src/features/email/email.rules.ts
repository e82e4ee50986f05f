import { createHash } from 'node:crypto';
import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkText, invalidField, requireText } from '../../kernel/text.ts';
import { checkAddress, checkAddresses, oneLine } from './addresses.rules.ts';
import type { Address } from './addresses.rules.ts';

export const SEND_TYPES = ['transactional', 'bulk'] as const;
export type SendType = (typeof SEND_TYPES)[number];

/** Recorded states: `sending` was committed and a mail server may have it; `unknown` never got an answer. */
export const EMAIL_STATES = ['sending', 'sent', 'failed', 'blocked', 'received', 'unknown'] as const;
export type EmailState = (typeof EMAIL_STATES)[number];

export const DIRECTIONS = ['inbound', 'outbound'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** RFC 5322, 2.1.1: what one line of a header can hold. */
export const SUBJECT_LENGTH_MAX = 998;
/** Within the body limit of every route (256 KiB), escapes included. */
export const HTML_LENGTH_MAX = 200_000;
export const PREVIEW_LENGTH_MAX = 500;
export const ID_LENGTH_MAX = 64;
/** Supplement 1, Idempotency-Key. */
const KEY = /^[\x20-\x7e]{1,255}$/;

/** The parts that both routes have, as they came. */
export interface NewEmailParts {
  readonly to?: unknown;
  readonly contactId?: unknown;
  readonly mailboxId?: unknown;
  readonly from?: unknown;
  readonly cc?: unknown;
  readonly bcc?: unknown;
  readonly sendType?: unknown;
  readonly preview?: unknown;
  readonly brandId?: unknown;
}

export interface NewEmail extends NewEmailParts {
  readonly subject?: unknown;
  readonly html?: unknown;
  readonly text?: unknown;
  readonly templateId?: unknown;
}

export interface NewTemplateEmail extends NewEmailParts {
  readonly templateId?: unknown;
  readonly subjectOverride?: unknown;
  readonly mergedUserId?: unknown;
}

/** What both routes answer (contract, Email): `error` says why nothing was sent. */
export type EmailAnswer = { readonly success: true } | { readonly success: false; readonly error: string };

export const notSent = (error: string): EmailAnswer => ({ success: false, error });

/** Who writes to whom. */
export interface Envelope {
  /** Empty: the contact's own address. */
  readonly to: readonly Address[];
  readonly contactId: string | null;
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly mailboxId: string | null;
  readonly from: Address | null;
  readonly sendType: SendType;
  readonly preview: string | null;
  /** Whose do-not-contact entries count beside those of every brand. */
  readonly brandId: string | null;
}

/** Contract, Email: one of `to` and `contact_id`, one of `mailbox_id` and `from`. @throws Problem validation-error */
export function checkEnvelope(input: NewEmailParts): Envelope {
  const to = checkAddresses('to', input.to);
  const contactId = checkId('contact_id', input.contactId);
  if (to.length === 0 && contactId === null) throw invalidField('to', 'to or contact_id is required.');
  const mailboxId = checkId('mailbox_id', input.mailboxId);
  const from = isAbsent(input.from) ? null : checkAddress('from', input.from);
  if (mailboxId === null && from === null) throw invalidField('from', 'mailbox_id or from is required.');
  return {
    ...{ to, contactId, mailboxId, from },
    ...{ cc: checkAddresses('cc', input.cc), bcc: checkAddresses('bcc', input.bcc) },
    sendType: checkSendType(input.sendType),
    preview: isAbsent(input.preview) ? null : checkText('preview', input.preview, PREVIEW_LENGTH_MAX),
    brandId: checkBrandId(input.brandId),
  };
}

export interface Content {
  readonly subject: string;
  readonly html: string;
  readonly text: string | null;
}

/** @throws Problem validation-error */
export function checkContent(input: NewEmail): Content {
  return {
    subject: checkSubject('subject', input.subject),
    html: requireText('html', input.html, HTML_LENGTH_MAX),
    text: isAbsent(input.text) ? null : checkText('text', input.text, HTML_LENGTH_MAX),
  };
}

/** @throws Problem validation-error */
export function checkSubject(field: string, value: unknown): string {
  return oneLine(field, requireText(field, value, SUBJECT_LENGTH_MAX), SUBJECT_LENGTH_MAX);
}

/** Null: not given. Ids are not judged here: what nobody has is told by `data.error`. @throws Problem validation-error */
export function checkId(field: string, value: unknown): string | null {
  if (isAbsent(value)) return null;
  return requireText(field, value, ID_LENGTH_MAX).toLowerCase();
}

function checkBrandId(value: unknown): string | null {
  const brandId = checkId('brand_id', value);
  if (brandId !== null && !isUuid(brandId))
    throw invalidField('brand_id', 'brand_id must be the id of a brand.');
  return brandId;
}

/** An empty header is no key (supplement 1). @throws Problem validation-error */
export function checkIdempotencyKey(key: string | undefined): string | null {
  if (key === undefined || key === '') return null;
  if (!KEY.test(key))
    throw invalidField('Idempotency-Key', 'Idempotency-Key must be 1 to 255 printable ASCII characters.');
  return key;
}

/** What two requests of one key are compared by: order of keys and white space do not count (supplement 1). */
export const requestHash = (route: string, body: unknown): Buffer =>
  createHash('sha256')
    .update(`${route}\n${canonical(body)}`)
    .digest();

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null;

function checkSendType(value: unknown): SendType {
  if (isAbsent(value)) return 'transactional';
  const known = SEND_TYPES.find((type) => type === value);
  if (!known) throw invalidField('send_type', `send_type must be one of ${SEND_TYPES.join(', ')}.`);
  return known;
}

/** The body parser bounds how deep a value nests. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join(',')}}`;
}

export const keyConflict = (): Problem =>
  new Problem('conflict', 'The Idempotency-Key was used with another body.');
