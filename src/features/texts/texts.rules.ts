import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkText, invalidField } from '../../kernel/text.ts';

/** Supplement 1, /sms. */
export const REPLY_LENGTH_MAX = 1_600;
/** Files of one text: what carriers take. */
export const MEDIA_MAX = 10;
export const MEDIA_URL_LENGTH_MAX = 2_048;
/** Characters kept of a text that came in; no carrier hands over as many. */
const INBOUND_LENGTH_MAX = 10_000;

/** Texts of a page when no `limit` was asked for, and at most (contract, Limits, Paging, Skip). */
export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 500;
/** A further page than any thread has. */
export const SKIP_MAX = 1_000_000;

export interface ThreadPage {
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
}

/** @throws Problem validation-error */
export function windowOf(page: ThreadPage): { limit: number; skip: number } {
  const { limit = PAGE_DEFAULT, skip = 0 } = page;
  if (!Number.isInteger(limit) || limit < 1)
    throw invalidField('limit', 'limit must be a whole number from 1.');
  if (!Number.isInteger(skip) || skip < 0) throw invalidField('skip', 'skip must be a whole number from 0.');
  return { limit: Math.min(limit, PAGE_MAX), skip: Math.min(skip, SKIP_MAX) };
}

const UNSTORABLE = /[\0\p{Surrogate}]/gu;

/** A text as it can be stored: without NUL and halves of surrogate pairs, within its bound. */
export const storable = (body: string): string => body.slice(0, INBOUND_LENGTH_MAX).replace(UNSTORABLE, '');

export interface NewReply {
  readonly body?: unknown;
  readonly mediaUrls?: unknown;
  readonly mediaIds?: unknown;
  /** Omitted: the line that the contact wrote to last, else the default line. */
  readonly phoneLineId?: unknown;
}

export interface CheckedReply {
  readonly body: string;
  readonly mediaUrls: readonly string[];
  readonly mediaIds: readonly string[];
  readonly phoneLineId: string | null;
}

/** @throws Problem validation-error */
export function checkReply(input: NewReply): CheckedReply {
  const body = checkText('body', input.body ?? '', REPLY_LENGTH_MAX);
  const mediaUrls = texts('media_urls', input.mediaUrls);
  const mediaIds = texts('media_ids', input.mediaIds);
  if (body.trim() === '' && mediaUrls.length + mediaIds.length === 0) {
    throw invalidField('body', 'body is required.');
  }
  const { phoneLineId = null } = input;
  if (phoneLineId !== null && (typeof phoneLineId !== 'string' || !isUuid(phoneLineId))) {
    throw invalidField('phone_line_id', 'phone_line_id must be the id of a phone line.');
  }
  return { body, mediaUrls, mediaIds, phoneLineId };
}

function texts(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidField(name, `${name} must be a list.`);
  if (value.length > MEDIA_MAX) throw invalidField(name, `${name} must hold at most ${MEDIA_MAX} files.`);
  return value.map((one) => checkText(name, one, MEDIA_URL_LENGTH_MAX));
}

/** In the words of the send routes (supplement 13, Sends). */
export const noNumber = (): Problem => new Problem('unprocessable', 'No phone number for contact');
