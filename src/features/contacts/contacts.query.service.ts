import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { pageOf, timeKeyOf } from '../../kernel/keyset.ts';
import type { Keyset, KeysetPage } from '../../kernel/keyset.ts';
import { checkText } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import { ContactsQueryStore } from './contacts.query.store.ts';
import type { PlacedId } from './contacts.query.store.ts';
import type { Contact } from './contacts.row.ts';
import { TERM_LENGTH_MAX } from './contacts.search.rules.ts';
import type { ContactsWish } from './contacts.search.rules.ts';
import type { ContactsService } from './contacts.service.ts';
import type { ContactList } from './lists.rules.ts';
import type { ListsService } from './lists.service.ts';

export type Placed<T> = T & { readonly key: readonly string[] };

/** Contacts and lists in pages that stay right while rows are added, with filters. */
export class ContactsQueryService {
  readonly #store: ContactsQueryStore;
  readonly #contacts: ContactsService;
  readonly #lists: ListsService;

  constructor(options: { db: Db; contacts: ContactsService; lists: ListsService }) {
    this.#store = new ContactsQueryStore(options.db);
    this.#contacts = options.contacts;
    this.#lists = options.lists;
  }

  /** Newest first. @throws Problem insufficient-scope, validation-error */
  async contacts(caller: Caller, wish: ContactsWish, keyset: Keyset): Promise<KeysetPage<Placed<Contact>>> {
    const { rows, hasNext } = await this.#contacts.page(caller, wish, keyset);
    return { rows: rows.map((contact) => ({ ...contact, key: [contact.at.atUs, contact.at.id] })), hasNext };
  }

  async countContacts(caller: Caller, wish: ContactsWish): Promise<number> {
    return this.#contacts.count(caller, wish);
  }

  /** Newest first. @throws Problem insufficient-scope, validation-error */
  async lists(
    caller: Caller,
    searchTerm: string | undefined,
    keyset: Keyset,
  ): Promise<KeysetPage<Placed<ContactList>>> {
    requireScope(caller, 'lists:read');
    const after = { ...timeKeyOf(keyset.after), limit: keyset.first + 1 };
    const { rows, hasNext } = pageOf(
      await this.#store.lists(caller.teamId, listTerm(searchTerm), after),
      keyset.first,
    );
    const found = await this.#lists.byIds(caller, idsOf(rows));
    return { rows: placed(rows, found, (one) => one.listId), hasNext };
  }

  async countLists(caller: Caller, searchTerm: string | undefined): Promise<number> {
    requireScope(caller, 'lists:read');
    return this.#store.countLists(caller.teamId, listTerm(searchTerm));
  }
}

const idsOf = (rows: readonly PlacedId[]): string[] => rows.map((row) => row.id);

/** In the order of the rows; what was deleted in between is left out. */
function placed<T>(rows: readonly PlacedId[], found: readonly T[], idOf: (one: T) => string): Placed<T>[] {
  const byId = new Map(found.map((one) => [idOf(one), one]));
  return rows.flatMap(({ id, atUs }) => {
    const one = byId.get(id);
    return one === undefined ? [] : [{ ...one, key: [atUs, id] }];
  });
}

const listTerm = (searchTerm: string | undefined): string | null => {
  const term = checkText('search_term', searchTerm ?? '', TERM_LENGTH_MAX).trim();
  return term === '' ? null : term;
};
