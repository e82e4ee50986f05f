import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkText, invalidField, requireText } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Contact } from './contacts.row.ts';
import { checkPage, TERM_LENGTH_MAX } from './contacts.search.rules.ts';
import { checkContactIds, checkMembersPage, LIST_NAME_LENGTH_MAX, noSuchList } from './lists.rules.ts';
import type { ContactList } from './lists.rules.ts';
import { ListsStore } from './lists.store.ts';

/** Contact lists of the caller's account and who is on them. */
export class ListsService {
  readonly #db: Db;
  readonly #store: ListsStore;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor(options: { db: Db; clock: Clock; ids: Ids }) {
    this.#db = options.db;
    this.#store = new ListsStore(options.db);
    this.#clock = options.clock;
    this.#ids = options.ids;
  }

  /** Newest first; `searchTerm`: the name contains it, either case. @throws Problem insufficient-scope, validation-error */
  async list(
    caller: Caller,
    query: { limit?: number; offset?: number; searchTerm?: string } = {},
  ): Promise<{ lists: ContactList[]; hasMore: boolean }> {
    requireScope(caller, 'lists:read');
    const { limit, offset } = checkPage(query);
    const term = checkText('search_term', query.searchTerm ?? '', TERM_LENGTH_MAX).trim();
    const found = await this.#store.list(caller.teamId, {
      ...{ limit: limit + 1, offset, term: term === '' ? null : term },
    });
    return { lists: found.slice(0, limit), hasMore: found.length > limit };
  }

  /** @throws Problem insufficient-scope, not-found */
  async get(caller: Caller, listId: string): Promise<ContactList> {
    const [list] = await this.byIds(caller, [listId]);
    if (!list) throw noSuchList();
    return list;
  }

  /** Those of the ids that are the account's, in no order: one statement. @throws Problem insufficient-scope */
  async byIds(caller: Caller, listIds: readonly string[]): Promise<ContactList[]> {
    requireScope(caller, 'lists:read');
    const ids = listIds.filter(isUuid);
    return ids.length === 0 ? [] : this.#store.findMany(caller.teamId, ids);
  }

  /** @throws Problem insufficient-scope, validation-error */
  async create(caller: Caller, input: { name: unknown }): Promise<ContactList> {
    requireScope(caller, 'lists:write');
    const name = requireText('list_name', input.name, LIST_NAME_LENGTH_MAX).trim();
    const list = { listId: this.#ids.uuid(), name, contactCount: 0, createdAtMs: this.#clock.nowMs() };
    await this.#store.insert({ ...list, teamId: caller.teamId, createdBy: caller.userId });
    return list;
  }

  /** @throws Problem insufficient-scope, validation-error, not-found */
  async update(caller: Caller, listId: string, input: { name: unknown }): Promise<ContactList> {
    requireScope(caller, 'lists:write');
    const name = requireText('list_name', input.name, LIST_NAME_LENGTH_MAX).trim();
    const change = { listId, name, nowMs: this.#clock.nowMs() };
    const list = isUuid(listId) ? await this.#store.rename(caller.teamId, change) : null;
    if (!list) throw noSuchList();
    return list;
  }

  /** Its contacts stay. @throws Problem insufficient-scope, not-found */
  async remove(caller: Caller, listId: string): Promise<{ listId: string }> {
    requireScope(caller, 'lists:write');
    if (!isUuid(listId) || !(await this.#store.remove(caller.teamId, listId))) throw noSuchList();
    return { listId: listId.toLowerCase() };
  }

  /**
   * Members in the order of their ids, from after `afterId` on: a page costs the same at any depth.
   * @throws Problem insufficient-scope, validation-error, not-found
   */
  async members(
    caller: Caller,
    listId: string,
    query: { limit?: number | undefined; afterId?: string | undefined } = {},
  ): Promise<{ contacts: Contact[]; nextCursor: string | null; hasMore: boolean }> {
    requireScope(caller, 'lists:read');
    const { limit, afterId } = checkMembersPage(query);
    const wanted = { listId, afterId, limit: limit + 1 };
    const found = isUuid(listId) ? await this.#store.members(caller.teamId, wanted) : null;
    if (!found) throw noSuchList();
    const contacts = found.slice(0, limit);
    const hasMore = found.length > limit;
    return { contacts, hasMore, nextCursor: hasMore ? (contacts.at(-1)?.contactId ?? null) : null };
  }

  /**
   * All of the contacts, or none when one is not the account's. `added`: those that were not on the list.
   * @throws Problem insufficient-scope, validation-error, not-found
   */
  async add(caller: Caller, listId: string, contactIds: readonly string[]): Promise<{ added: number }> {
    requireScope(caller, 'lists:write');
    const { ids, isAllUuid } = checkContactIds(contactIds);
    if (!isUuid(listId)) throw noSuchList();
    return this.#db.tx(async (tx) => {
      const { teamId } = caller;
      // Contacts before lists, here and wherever both are held: two transactions cannot wait for each other.
      if (!isAllUuid || (await this.#store.holdContacts(tx, teamId, ids)) < ids.length)
        throw new Problem('not-found', 'One of the contacts is not there.');
      if ((await this.#store.lock(tx, teamId, [listId])).length === 0) throw noSuchList();
      const of = { teamId, listIds: [listId], contactIds: ids, nowMs: this.#clock.nowMs() };
      return { added: await this.#store.addMembers(tx, of) };
    });
  }

  /** Those that are not on the list are skipped. @throws Problem insufficient-scope, validation-error, not-found */
  async take(caller: Caller, listId: string, contactIds: readonly string[]): Promise<{ removed: number }> {
    requireScope(caller, 'lists:write');
    const { ids } = checkContactIds(contactIds);
    if (!isUuid(listId)) throw noSuchList();
    return this.#db.tx(async (tx) => {
      const { teamId } = caller;
      if ((await this.#store.lock(tx, teamId, [listId])).length === 0) throw noSuchList();
      return { removed: await this.#store.removeMembers(tx, { teamId, listId, contactIds: ids }) };
    });
  }

  /**
   * From one list, on which the contact is, to another.
   * @throws Problem insufficient-scope, validation-error (one and the same list), not-found (contact, list, or not on it)
   */
  async move(
    caller: Caller,
    contactId: string,
    lists: { fromListId: string; toListId: string },
  ): Promise<{ contactId: string; fromListId: string; toListId: string }> {
    requireScope(caller, 'lists:write');
    const [fromListId, toListId] = [lists.fromListId.toLowerCase(), lists.toListId.toLowerCase()];
    if (fromListId === toListId) throw invalidField('to_list_id', 'to_list_id is the list it comes from.');
    const noContact = (): Problem => new Problem('not-found', 'There is no such contact.');
    if (!isUuid(contactId)) throw noContact();
    if (!isUuid(fromListId) || !isUuid(toListId)) throw noSuchList();
    await this.#db.tx(async (tx) => {
      const { teamId } = caller;
      const one = { teamId, contactIds: [contactId] };
      if ((await this.#store.holdContacts(tx, teamId, [contactId])) === 0) throw noContact();
      if ((await this.#store.lock(tx, teamId, [fromListId, toListId])).length < 2) throw noSuchList();
      if ((await this.#store.removeMembers(tx, { ...one, listId: fromListId })) === 0)
        throw new Problem('not-found', 'The contact is not on the list from_list_id.');
      await this.#store.addMembers(tx, { ...one, listIds: [toListId], nowMs: this.#clock.nowMs() });
    });
    return { contactId: contactId.toLowerCase(), fromListId, toListId };
  }
}
