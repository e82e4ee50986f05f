import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { timeKeyOf } from '../../kernel/keyset.ts';
import type { Keyset, KeysetPage, TimeKey } from '../../kernel/keyset.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidField } from '../../kernel/text.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { changedNews, deletedNews } from './contacts.present.ts';
import type { Contact } from './contacts.row.ts';
import { checkRegion, identifiersOf, phoneNumbersOf } from './contacts.rules.ts';
import type { StoredName } from './contacts.rules.ts';
import { checkPage, checkTerm, checkWish, defaultOrder } from './contacts.search.rules.ts';
import type { ContactsWish, SortName, SortOrder } from './contacts.search.rules.ts';
import { ContactsSearchStore } from './contacts.search.store.ts';
import type { ContactPage } from './contacts.search.store.ts';
import { ContactsStore } from './contacts.store.ts';
import { readChange } from './contacts.change.rules.ts';
import type { ChangeInput } from './contacts.change.rules.ts';
import { FieldsStore } from './fields.store.ts';
import { ImportStore } from './import.store.ts';
import type { ContactWriterOptions } from './import.service.ts';
import { ListsStore } from './lists.store.ts';
import { parsePhone } from './phone.rules.ts';
import { isUniqueViolation, retryAlone } from './write-gate.ts';

export interface ContactsQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly searchTerm?: string;
  readonly sortBy?: SortName;
  readonly sortOrder?: SortOrder;
}

/** Contacts of the caller's account: found, changed, removed. `ImportService` makes them. */
export class ContactsService {
  readonly #options: ContactWriterOptions;
  readonly #db: Db;
  readonly #store: ContactsStore;
  readonly #search: ContactsSearchStore;
  readonly #fields: FieldsStore;
  readonly #lists: ListsStore;
  readonly #gate = new ImportStore();

  constructor(options: ContactWriterOptions) {
    this.#options = options;
    this.#db = options.db;
    this.#store = new ContactsStore(options.db);
    this.#search = new ContactsSearchStore(options.db);
    this.#fields = new FieldsStore(options.db);
    this.#lists = new ListsStore(options.db);
  }

  /** @throws Problem insufficient-scope, not-found */
  async get(caller: Caller, contactId: string): Promise<Contact> {
    const [contact] = await this.byIds(caller, [contactId]);
    if (!contact) throw noContact();
    return contact;
  }

  /** Those of the ids that are the account's, in no order: one statement for all. @throws Problem insufficient-scope */
  async byIds(caller: Caller, contactIds: readonly string[]): Promise<Contact[]> {
    requireScope(caller, 'contacts:read');
    const ids = contactIds.filter(isUuid);
    return ids.length === 0 ? [] : this.#store.findMany(caller.teamId, ids);
  }

  /** A page by offset, newest first unless asked otherwise. @throws Problem insufficient-scope, validation-error */
  async list(caller: Caller, query: ContactsQuery = {}): Promise<ContactPage> {
    requireScope(caller, 'contacts:read');
    const page = checkPage(query);
    const { sortBy = 'created_at' } = query;
    const filter = { term: checkTerm(query.searchTerm) };
    const order = { sortBy, sortOrder: query.sortOrder ?? defaultOrder(sortBy) };
    return this.#search.list(caller.teamId, { filter, page, ...order });
  }

  /**
   * Contacts that have exactly this email (either case) or number, in any of the number's spellings; both given: both.
   * @throws Problem insufficient-scope, validation-error (neither)
   */
  async search(
    caller: Caller,
    query: { email?: string; phone?: string; limit?: number; offset?: number },
  ): Promise<ContactPage> {
    requireScope(caller, 'contacts:read');
    const page = checkPage(query);
    const [email, phone] = [query.email?.trim() ?? '', query.phone?.trim() ?? ''];
    if (email === '' && phone === '') throw invalidField('email', 'email or phone is required.');
    const filter: { email?: string; phoneNumber?: string } = email === '' ? {} : { email };
    if (phone !== '') {
      // An unencoded + of an address arrives as a blank: international numbers are taken without it too.
      const number =
        parsePhone(phone, await this.#options.regionOf(caller.teamId)) ?? parsePhone(`+${phone}`, 'US');
      if (!number) return { contacts: [], hasMore: false, total: 0 };
      filter.phoneNumber = number.number;
    }
    return this.#search.list(caller.teamId, { filter, page, sortBy: 'created_at', sortOrder: 'desc' });
  }

  /**
   * Newest first from after a row on: right while contacts are added, the same cost at any depth.
   * @throws Problem insufficient-scope, validation-error
   */
  async page(
    caller: Caller,
    wish: ContactsWish,
    keyset: Keyset,
  ): Promise<KeysetPage<Contact & { at: TimeKey }>> {
    requireScope(caller, 'contacts:read');
    const { atUs, id } = timeKeyOf(keyset.after);
    const after = atUs === null || id === null ? null : { atUs, id };
    const query = { filter: checkWish(wish), first: keyset.first, after };
    const { contacts, hasMore } = await this.#search.page(caller.teamId, query);
    return { rows: contacts, hasNext: hasMore };
  }

  /** As the total of `list`. @throws Problem insufficient-scope, validation-error */
  async count(caller: Caller, wish: ContactsWish): Promise<number> {
    requireScope(caller, 'contacts:read');
    return this.#search.count(caller.teamId, checkWish(wish));
  }

  /**
   * Sets what is given; null or an empty text takes a value away.
   * @throws Problem insufficient-scope, validation-error, not-found, conflict (phone, email or record id of another contact)
   */
  async update(
    caller: Caller,
    contactId: string,
    input: ChangeInput & { region?: unknown },
  ): Promise<string> {
    requireScope(caller, 'contacts:write');
    if (!isUuid(contactId)) throw noContact();
    const { teamId } = caller;
    const custom = new Map((await this.#fields.list(teamId)).map((field) => [field.slug, field]));
    const region =
      typeof input.region === 'string' ? checkRegion(input.region) : await this.#options.regionOf(teamId);
    const change = readChange(input, custom, region);
    const of = { teamId, contactId, nowMs: this.#options.clock.nowMs() };
    try {
      await retryAlone((isAlone) =>
        this.#options.outbox.tx((tx) => this.#updateIn(tx, { of, change, isAlone })),
      );
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw new Problem('conflict', 'The phone number, email or record id belongs to another contact.');
    }
    return contactId.toLowerCase();
  }

  async #updateIn(
    tx: Tx,
    with_: {
      of: { teamId: string; contactId: string; nowMs: number };
      change: ReturnType<typeof readChange>;
      isAlone: boolean;
    },
  ): Promise<void> {
    const { of, change, isAlone } = with_;
    await this.#gate.enter(tx, of.teamId, isAlone);
    const contact = await this.#store.lock(tx, of.teamId, of.contactId);
    if (!contact) throw noContact();
    const after: Record<StoredName, string | null> = { ...contact, ...change.values };
    const known = new Set(identifiersOf(contact));
    const added = identifiersOf(after).filter((identifier) => !known.has(identifier));
    const listed = added.length === 0 ? null : await this.#options.isListed(tx, of.teamId, added);
    await this.#store.update(tx, of, {
      ...change,
      phoneNumbers: phoneNumbersOf(after),
      isListed: (listed?.size ?? 0) > 0,
    });
    await this.#options.announce(tx, [
      changedNews(of.teamId, { contactId: contact.contactId, values: after }, of.nowMs),
    ]);
  }

  /** With everything around it. @throws Problem insufficient-scope, not-found */
  async remove(caller: Caller, contactId: string): Promise<string> {
    requireScope(caller, 'contacts:write');
    if (!isUuid(contactId)) throw noContact();
    const { teamId } = caller;
    return this.#options.outbox.tx(async (tx) => {
      const contact = await this.#store.lock(tx, teamId, contactId);
      if (!contact) throw noContact();
      // Its lists change with it: held in the order in which everybody holds them.
      await this.#lists.lock(tx, teamId, contact.listIds);
      await this.#store.remove(tx, teamId, contactId);
      const news = { contactId: contact.contactId, values: contact };
      await this.#options.announce(tx, [deletedNews(teamId, news, this.#options.clock.nowMs())]);
      return contact.contactId;
    });
  }
}

const noContact = (): Problem => new Problem('not-found', 'There is no such contact.');
