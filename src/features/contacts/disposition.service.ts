import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { requireText } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Contact } from './contacts.row.ts';
import { ContactsStore } from './contacts.store.ts';
import { noContact } from './surroundings.service.ts';
import type { Surroundings } from './surroundings.service.ts';
import { SurroundingsStore } from './surroundings.store.ts';

export const DISPOSITION_LENGTH_MAX = 200;

/** What came of a contact: any text the account uses for it (supplement 12, REST). */
export class DispositionService {
  readonly #contacts: ContactsStore;
  readonly #store = new SurroundingsStore();
  readonly #surroundings: Surroundings;

  constructor(options: { db: Db; surroundings: Surroundings }) {
    this.#contacts = new ContactsStore(options.db);
    this.#surroundings = options.surroundings;
  }

  /** Answers the contact. @throws Problem insufficient-scope, validation-error, not-found */
  async change(caller: Caller, contactId: string, dispositionId: unknown): Promise<Contact> {
    requireScope(caller, 'contacts:write');
    const disposition = requireText('disposition_id', dispositionId, DISPOSITION_LENGTH_MAX);
    await this.#surroundings.change(caller, contactId, async (tx, change) => {
      await this.#store.setDisposition(tx, { ...change, dispositionId: disposition });
      await this.#surroundings.tell(tx, change, {
        event: 'contact.updated',
        data: { disposition_id: disposition },
      });
    });
    const contact = await this.#contacts.find(caller.teamId, contactId);
    if (!contact) throw noContact();
    return contact;
  }
}
