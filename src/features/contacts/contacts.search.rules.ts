import { isUuid } from '../../kernel/ids.ts';
import { checkText, invalidField } from '../../kernel/text.ts';

/** Contacts a page may have (docs/GUIDE.md, Contacts and lists); larger limits are refused, so that no page ends early unseen. */
export const PAGE_MAX = 1_000;
export const PAGE_DEFAULT = 25;
/** Far beyond any account; keeps the sum with a limit an integer of the database. */
export const OFFSET_MAX = 1_000_000_000;
export const TERM_LENGTH_MAX = 200;
/**
 * Matches of a search are counted to here; of more the total is a lower bound that grows as pages are read. Texts anywhere
 * are counted by how common they are: each match of a common one costs the look at many others, and of a rare one the
 * newest are found soonest by gathering them all. At a million contacts both ways cost the same at some 2,500 matches
 * (`npm run bench:account`).
 */
export const COUNTED_MAX = { usual: 1_000, common: 300, rare: 5_000 } as const;
export const RARE_MATCHES_MAX = 2_000;
/** Terms shorter than this are found at the beginning of words only: trigrams cannot find them within. */
const TERM_WITHIN_LENGTH_MIN = 3;

export const SORT_NAMES = [
  'created_at',
  'updated_at',
  'first_name',
  'last_name',
  'email',
  'phone_number',
  'company',
] as const;
export type SortName = (typeof SORT_NAMES)[number];
export type SortOrder = 'asc' | 'desc';

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** @throws Problem validation-error */
export function checkPage(query: { limit?: number; offset?: number }): Page {
  const { limit = PAGE_DEFAULT, offset = 0 } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX)
    throw invalidField('limit', `limit must be a whole number from 1 to ${PAGE_MAX}.`);
  if (!Number.isInteger(offset) || offset < 0 || offset > OFFSET_MAX)
    throw invalidField('offset', `offset must be a whole number from 0 to ${OFFSET_MAX}.`);
  return { limit, offset };
}

/** Only digits and what people write between them: looked for as the digits alone, since numbers are stored as E.164. */
const PHONE_LIKE = /^[\d\s().+-]*\d[\d\s().+-]*$/;

/**
 * A search term → the text to look for; null: there is none. Digits are matched whatever is written between them.
 * @throws Problem validation-error
 */
export function checkTerm(searchTerm: string | undefined): string | null {
  const term = checkText('search_term', searchTerm ?? '', TERM_LENGTH_MAX).trim();
  if (term === '') return null;
  return PHONE_LIKE.test(term) ? term.replace(/[^\d+]/g, '') : term;
}

/** The beginning of an email, of a number with its country, of a word, or a text anywhere in what is searched. */
export function termKind(term: string): 'email' | 'number' | 'words' | 'within' {
  if (/^\+\d/.test(term)) return 'number';
  if (/^[^\s@]+@[^\s@]*$/.test(term)) return 'email';
  return [...term].length < TERM_WITHIN_LENGTH_MIN ? 'words' : 'within';
}

/** A term as a LIKE pattern's literal text. */
export const escapeLike = (term: string): string => term.replace(/[\\%_]/g, '\\$&');

/** Texts from their beginning, times from the newest. */
export const defaultOrder = (sortBy: SortName): SortOrder =>
  sortBy === 'created_at' || sortBy === 'updated_at' ? 'desc' : 'asc';

/** What contacts are asked for; all that is given must hold. */
export interface ContactsWish {
  readonly searchTerm?: string | undefined;
  readonly listId?: string | undefined;
  readonly tagId?: string | undefined;
  readonly ownerId?: string | undefined;
  readonly dnc?: boolean | undefined;
  /** Exactly, in either case. */
  readonly email?: string | undefined;
  /** E.164; any of the contact's numbers. */
  readonly phoneNumber?: string | undefined;
}

/** A wish that was checked: its term is what to look for. */
export type ContactFilter = Omit<ContactsWish, 'searchTerm'> & { readonly term?: string | null };

/** @throws Problem validation-error */
export function checkWish({ searchTerm, ...wish }: ContactsWish): ContactFilter {
  for (const [field, id] of Object.entries({
    list_id: wish.listId,
    tag_id: wish.tagId,
    owner_id: wish.ownerId,
  })) {
    if (id !== undefined && !isUuid(id)) throw invalidField(field, `${field} must be a UUID.`);
  }
  return { ...wish, term: checkTerm(searchTerm) };
}
