import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidField, requireText } from '../../kernel/text.ts';

/** Length of names and titles that people give. */
export const NAME_LENGTH_MAX = 200;
export const SEARCH_LENGTH_MAX = 200;
/** Rows of a page when no `limit` was asked for, and at most; more is cut to it. */
export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 500;
/** A further page than any account can have. */
export const SKIP_MAX = 10_000_000;

export interface SkipPage {
  limit?: number;
  skip?: number;
}

/** An id that is none is an id that nothing has. @throws Problem not-found */
export function requireId(id: string, what: string): string {
  if (!isUuid(id)) throw notFound(what);
  return id.toLowerCase();
}

export const notFound = (what: string): Problem => new Problem('not-found', `There is no such ${what}.`);

/** `take` and `skip` of a page in the skip style (contract, Limits, Paging). @throws Problem validation-error */
export function windowOf(page: SkipPage): { take: number; skip: number } {
  const { limit = PAGE_DEFAULT, skip = 0 } = page;
  if (!Number.isInteger(limit) || limit < 1)
    throw invalidField('limit', 'limit must be a whole number from 1.');
  if (!Number.isInteger(skip) || skip < 0) throw invalidField('skip', 'skip must be a whole number from 0.');
  return { take: Math.min(limit, PAGE_MAX), skip: Math.min(skip, SKIP_MAX) };
}

/** What `search_term` looks for; undefined: everything. @throws Problem validation-error */
export function searchOf(term: string | undefined): string | undefined {
  if (term === undefined || term === '') return undefined;
  return requireText('search_term', term, SEARCH_LENGTH_MAX);
}
