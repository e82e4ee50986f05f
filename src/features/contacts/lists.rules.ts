import { Problem } from '../../kernel/problem.ts';
import { isUuid } from '../../kernel/ids.ts';
import { invalidField } from '../../kernel/text.ts';

export const LIST_NAME_LENGTH_MAX = 200;
/** Lists that one call puts contacts on. */
export const LISTS_PER_CALL_MAX = 100;
/** Contacts that one call adds to or removes from a list; as many as an import's rows. */
export const MEMBERS_PER_CALL_MAX = 10_000;
/** Contract, Limits, Paging: contacts of a list. */
export const MEMBERS_PAGE_MAX = 500;
export const MEMBERS_PAGE_DEFAULT = 25;

export interface ContactList {
  readonly listId: string;
  readonly name: string;
  readonly contactCount: number;
  readonly createdAtMs: number;
}

/**
 * Ids once each. An id that is no UUID is nobody's: it is dropped.
 * @throws Problem validation-error (none, or too many)
 */
export function checkContactIds(contactIds: readonly string[]): { ids: string[]; isAllUuid: boolean } {
  if (contactIds.length === 0 || contactIds.length > MEMBERS_PER_CALL_MAX)
    throw invalidField('contact_ids', `contact_ids must have 1 to ${MEMBERS_PER_CALL_MAX} ids.`);
  const ids = [...new Set(contactIds.filter(isUuid).map((id) => id.toLowerCase()))];
  return { ids, isAllUuid: contactIds.every(isUuid) };
}

/** @throws Problem validation-error */
export function checkMembersPage(query: { limit?: number | undefined; afterId?: string | undefined }): {
  limit: number;
  afterId: string | null;
} {
  const { limit = MEMBERS_PAGE_DEFAULT, afterId } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MEMBERS_PAGE_MAX)
    throw invalidField('limit', `limit must be a whole number from 1 to ${MEMBERS_PAGE_MAX}.`);
  if (afterId !== undefined && !isUuid(afterId))
    throw invalidField('after_id', 'after_id is no next_cursor.');
  return { limit, afterId: afterId ?? null };
}

export const noSuchList = (): Problem => new Problem('not-found', 'There is no such list.');
