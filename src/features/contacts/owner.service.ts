import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import { requireText } from '../../kernel/text.ts';
import type { Contact } from './contacts.row.ts';
import { ContactsStore } from './contacts.store.ts';
import type { Db } from '../../platform/db/index.ts';
import { mayChangeOwner } from './owner.rules.ts';
import { noContact } from './surroundings.service.ts';
import type { Surroundings } from './surroundings.service.ts';
import { SurroundingsStore } from './surroundings.store.ts';

const ID_LENGTH_MAX = 64;

/** Who a contact belongs to. */
export class OwnerService {
  readonly #contacts: ContactsStore;
  readonly #store = new SurroundingsStore();
  readonly #surroundings: Surroundings;

  constructor(options: { db: Db; surroundings: Surroundings }) {
    this.#contacts = new ContactsStore(options.db);
    this.#surroundings = options.surroundings;
  }

  /**
   * Answers the contact.
   * @throws Problem insufficient-scope, validation-error, not-found (contact, user), forbidden (someone else owns it)
   */
  async change(caller: Caller, contactId: string, ownerId: unknown): Promise<Contact> {
    requireScope(caller, 'contacts:write');
    const asked = requireText('owner_id', ownerId, ID_LENGTH_MAX);
    await this.#surroundings.requireContact(caller, contactId);
    const newOwner = await this.#surroundings.requireUser(caller.teamId, asked);
    await this.#surroundings.change(caller, contactId, async (tx, change) => {
      const current = await this.#store.lock(tx, change.teamId, change.contactId);
      if (!current) throw noContact();
      if (!mayChangeOwner(caller, current.ownerId)) {
        throw new Problem('forbidden', 'Only its owner or a manager may give this contact to someone else.');
      }
      if (current.ownerId === newOwner) return;
      await this.#store.setOwner(tx, { ...change, ownerId: newOwner });
      await this.#surroundings.tell(tx, change, { event: 'contact.updated', data: { owner_id: newOwner } });
    });
    const contact = await this.#contacts.find(caller.teamId, contactId);
    if (!contact) throw noContact();
    return contact;
  }
}
