import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Contact, ContactsService, ImportService } from '../contacts/index.ts';
import { domainOf, flattened, isAddress } from './addresses.rules.ts';
import type { Address } from './addresses.rules.ts';
import type { Envelope, SendType } from './email.rules.ts';
import { SourcesStore } from './sources.store.ts';
import type { Sender, SenderDomain } from './sources.store.ts';

export interface PartiesOptions {
  readonly db: Db;
  readonly contacts: Pick<ContactsService, 'byIds' | 'search'>;
  readonly contactImport: Pick<ImportService, 'create'>;
}

/** Who an email goes to and comes from. */
export interface Parties {
  readonly sender: Sender & { readonly domain: SenderDomain };
  readonly to: readonly [Address, ...Address[]];
  /** The one named, else that of the first address; null: no contact can have the address. */
  readonly contact: Contact | null;
  /** The domain's purpose wins over what was asked for. */
  readonly sendType: SendType;
}

/** Finds the sender, the addresses and the contact of an email; an address without a contact gets one. */
export class PartiesService {
  readonly #options: PartiesOptions;
  readonly #sources: SourcesStore;

  constructor(options: PartiesOptions) {
    this.#options = options;
    this.#sources = new SourcesStore(options.db);
  }

  /** A text says why it cannot be sent; then no contact was made. */
  async resolve(caller: Caller, envelope: Envelope): Promise<Parties | string> {
    const sender = await this.#sender(caller.teamId, envelope);
    if (typeof sender === 'string') return sender;
    const sendType = sender.domain.purpose ?? envelope.sendType;
    const named = await this.#namedContact(caller, envelope);
    if (typeof named === 'string') return named;
    const [first, ...others] = envelope.to;
    if (first === undefined) {
      if (named === null || named.email === null || !isAddress(named.email))
        return 'The contact has no email address.';
      return { sender, sendType, to: [addressOf(named, named.email)], contact: named };
    }
    const contact = await this.#contactOf(caller, first);
    for (const other of others) await this.#contactOf(caller, other);
    return { sender, sendType, to: [first, ...others], contact: named ?? contact };
  }

  async #sender(
    teamId: string,
    { mailboxId, from }: Envelope,
  ): Promise<(Sender & { domain: SenderDomain }) | string> {
    const sender =
      mailboxId === null ? await this.#senderFrom(teamId, from) : await this.#mailbox(teamId, mailboxId);
    if (sender === null) return 'There is no such mailbox.';
    const { domain } = sender;
    const name = domainOf(sender.address.address);
    if (domain === null) return `${name} is no sending domain of the account.`;
    if (!domain.isVerified) return `The sending domain ${name} is not verified.`;
    return { ...sender, domain };
  }

  async #mailbox(teamId: string, mailboxId: string): Promise<Sender | null> {
    return isUuid(mailboxId) ? this.#sources.findMailbox(teamId, mailboxId) : null;
  }

  async #senderFrom(teamId: string, from: Address | null): Promise<Sender | null> {
    if (from === null) return null;
    const domain = await this.#sources.findDomain(teamId, domainOf(from.address));
    return { mailboxId: null, address: from, domain };
  }

  async #namedContact(caller: Caller, { contactId }: Envelope): Promise<Contact | null | string> {
    if (contactId === null) return null;
    const [contact] = await this.#options.contacts.byIds(contactsCaller(caller), [contactId]);
    return contact ?? 'There is no such contact.';
  }

  /** The contact with the address, made when there is none (contract, Email). */
  async #contactOf(caller: Caller, { address, name }: Address): Promise<Contact | null> {
    const { contacts, contactImport } = this.#options;
    const acting = contactsCaller(caller);
    const found = await contacts.search(acting, { email: address, limit: 1 });
    if (found.contacts[0]) return found.contacts[0];
    const [firstName, ...rest] = (name ?? '').split(' ');
    const named = { email: address, first_name: firstName, last_name: rest.join(' ') };
    const { inserted, updated } = await contactImport.create(acting, { named });
    const [contactId] = [...inserted, ...updated];
    if (contactId === undefined) return null;
    const [contact] = await contacts.byIds(acting, [contactId]);
    return contact ?? null;
  }
}

/** Sending implies finding and making the contacts that are written to, whatever other scopes the caller holds. */
const contactsCaller = (caller: Caller): Caller => ({
  ...caller,
  role: null,
  scopes: new Set(['contacts:read', 'contacts:write']),
});

function addressOf({ firstName, lastName }: Contact, address: string): Address {
  const name = flattened([firstName, lastName].filter((part) => part !== null).join(' '));
  return name === '' ? { address } : { address, name };
}
