import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { pageOf, timeKeyOf } from '../../kernel/keyset.ts';
import type { Keyset, KeysetPage, TimeKey } from '../../kernel/keyset.ts';
import { invalidField } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Direction, EmailState, SendType } from './email.rules.ts';
import { EmailHistoryStore } from './history.store.ts';
import type { EmailFilter } from './history.store.ts';
import type { EmailRow } from './emails.store.ts';

/** Contract, Email: `limit` default 50; more than this is taken as this. */
export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 500;
/** Further than any account has emails. */
const SKIP_MAX = 10_000_000;

/** An email with its place in the history. */
export type PlacedEmail = EmailRow & { readonly at: TimeKey };

export interface EmailWish {
  readonly contactId?: string | null | undefined;
  readonly direction?: Direction | null | undefined;
  readonly state?: EmailState | null | undefined;
  readonly sendType?: SendType | null | undefined;
}

/** Emails of the caller's account, both ways, blocked ones too. */
export class EmailHistory {
  readonly #store: EmailHistoryStore;

  constructor(options: { db: Db }) {
    this.#store = new EmailHistoryStore(options.db);
  }

  /** Newest first; the total only when asked for. @throws Problem insufficient-scope, validation-error */
  async list(
    caller: Caller,
    query: EmailWish & { limit?: number; skip?: number; includeTotal?: boolean | undefined },
  ): Promise<{ emails: EmailRow[]; total: number | null }> {
    requireScope(caller, 'contacts:read');
    const { limit = PAGE_DEFAULT, skip = 0 } = query;
    if (!Number.isInteger(limit) || limit < 1)
      throw invalidField('limit', 'limit must be a whole number from 1.');
    if (!Number.isInteger(skip) || skip < 0)
      throw invalidField('skip', 'skip must be a whole number from 0.');
    const filter = filterOf(query);
    if (filter === null) return { emails: [], total: query.includeTotal ? 0 : null };
    const page = { take: Math.min(limit, PAGE_MAX), skip: Math.min(skip, SKIP_MAX) };
    const emails = await this.#store.list(caller.teamId, filter, page);
    return { emails, total: query.includeTotal ? await this.#store.count(caller.teamId, filter) : null };
  }

  /** In pages that stay right while emails are added. @throws Problem insufficient-scope, validation-error */
  async page(caller: Caller, wish: EmailWish, keyset: Keyset): Promise<KeysetPage<PlacedEmail>> {
    requireScope(caller, 'contacts:read');
    const after = timeKeyOf(keyset.after);
    const filter = filterOf(wish);
    if (filter === null) return { rows: [], hasNext: false };
    const rows = await this.#store.page(caller.teamId, filter, { after, limit: keyset.first + 1 });
    return pageOf(rows, keyset.first);
  }

  /** @throws Problem insufficient-scope */
  async count(caller: Caller, wish: EmailWish): Promise<number> {
    requireScope(caller, 'contacts:read');
    const filter = filterOf(wish);
    return filter === null ? 0 : this.#store.count(caller.teamId, filter);
  }
}

/** Null: nothing can match, since the contact's id is none. */
function filterOf(wish: EmailWish): EmailFilter | null {
  const { contactId = null, direction = null, state = null, sendType = null } = wish;
  if (contactId !== null && !isUuid(contactId)) return null;
  return { contactId, direction, state, sendType };
}
