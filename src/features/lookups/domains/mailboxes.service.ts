import { requireScope } from '../../../kernel/caller.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Ids } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import { invalidField, requireText } from '../../../kernel/text.ts';
import type { Db } from '../../../platform/db/index.ts';
import { NAME_LENGTH_MAX } from '../input.rules.ts';
import { DomainsStore } from './domains.store.ts';
import { mailboxAddress, MAILBOXES_MAX } from './mailboxes.rules.ts';
import { MailboxesStore } from './mailboxes.store.ts';
import type { Mailbox } from './mailboxes.store.ts';

export interface NewMailbox {
  title: string;
  /** Of a sending domain of the account, verified or not yet. */
  address: string;
  displayName: string;
  isPersonal?: boolean;
}

/** Addresses that emails are sent from. */
export class MailboxesService {
  readonly #options: { db: Db; clock: Clock; ids: Ids };
  readonly #store: MailboxesStore;
  readonly #domains: DomainsStore;

  constructor(options: { db: Db; clock: Clock; ids: Ids }) {
    this.#options = options;
    this.#store = new MailboxesStore(options.db);
    this.#domains = new DomainsStore(options.db);
  }

  /** All, oldest first. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<Mailbox[]> {
    requireScope(caller, 'email:read');
    return this.#store.list(caller.teamId);
  }

  /** Supplement 12, `createMailbox`. @throws Problem insufficient-scope, validation-error, conflict (the address, or too many) */
  async create(caller: Caller, input: NewMailbox): Promise<Mailbox> {
    requireScope(caller, 'account:write');
    const { db, clock, ids } = this.#options;
    const { teamId, userId: createdBy } = caller;
    const { address, domain } = mailboxAddress(input.address);
    if (/[\r\n]/.test(input.displayName))
      throw invalidField('display_name', 'display_name must be one line.');
    const mailbox: Mailbox = {
      mailboxId: ids.uuid(),
      title: requireText('title', input.title, NAME_LENGTH_MAX),
      ...{ address, domain },
      displayName: requireText('display_name', input.displayName, NAME_LENGTH_MAX),
      isPersonal: input.isPersonal ?? false,
      createdAtMs: clock.nowMs(),
    };
    if (!(await this.#domains.findByName(teamId, domain))) {
      throw invalidField('address', `${domain} is no sending domain of the account: create it first.`);
    }
    await db.tx(async (tx) => {
      if ((await this.#store.lockAndCount(tx, teamId)) >= MAILBOXES_MAX) {
        throw new Problem('conflict', `The account has ${MAILBOXES_MAX} mailboxes already.`);
      }
      if (!(await this.#store.insert(tx, { ...mailbox, teamId, createdBy }))) {
        throw new Problem('conflict', 'The account has a mailbox with this address already.');
      }
    });
    return mailbox;
  }
}
