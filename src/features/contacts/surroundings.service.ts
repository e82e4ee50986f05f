import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Announce, Outbox } from '../../platform/outbox/index.ts';
import { SurroundingsStore } from './surroundings.store.ts';
import type { OwnedTable } from './surroundings.store.ts';

/** Rows of one kind a contact may have: the contract answers them all at once. */
const PER_CONTACT_MAX = 10_000;

export interface UserNames {
  /** Display names of those of `userIds` that are users of the account, by id. */
  names(teamId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export interface SurroundingsOptions {
  db: Db;
  outbox: Outbox;
  clock: Clock;
  ids: Ids;
  announce: Announce;
  users: UserNames;
}

/** When and by whom a change around a contact is made. */
export interface Change {
  readonly teamId: string;
  readonly contactId: string;
  readonly userId: string;
  readonly nowMs: number;
}

/** What every service around a contact shares: the contact is there and stays, users are the account's, news are told. */
export class Surroundings {
  readonly #options: SurroundingsOptions;
  readonly #store = new SurroundingsStore();

  constructor(options: SurroundingsOptions) {
    this.#options = options;
  }

  /** @throws Problem not-found */
  async requireContact(caller: Caller, contactId: string): Promise<void> {
    const { db } = this.#options;
    const isThere = isUuid(contactId) && (await this.#store.exists(db, caller.teamId, contactId));
    if (!isThere) throw noContact();
  }

  /** Runs `work` in a transaction to whose end the contact stays; what it says goes to the outbox with it. @throws Problem not-found */
  async change<T>(
    caller: Caller,
    contactId: string,
    work: (tx: Tx, change: Change) => Promise<T>,
  ): Promise<T> {
    const { outbox, clock } = this.#options;
    if (!isUuid(contactId)) throw noContact();
    const { teamId, userId } = caller;
    return outbox.tx(async (tx) => {
      if (!(await this.holds(tx, teamId, contactId))) throw noContact();
      return work(tx, { teamId, contactId: contactId.toLowerCase(), userId, nowMs: clock.nowMs() });
    });
  }

  /** The contact stays until `tx` ends; false: the account has none such. */
  async holds(tx: Tx, teamId: string, contactId: string): Promise<boolean> {
    return this.#store.hold(tx, teamId, contactId);
  }

  /** @throws Problem conflict (the contact has as many as it may) */
  async requireRoom(tx: Tx, change: Change, table: OwnedTable): Promise<void> {
    const { teamId, contactId } = change;
    const count = await this.#store.countUpTo(tx, { table, teamId, contactId, max: PER_CONTACT_MAX });
    if (count >= PER_CONTACT_MAX)
      throw new Problem('conflict', `A contact has at most ${PER_CONTACT_MAX} of these.`);
  }

  /** Writes when the contact was changed, and says so. */
  async touch(tx: Tx, change: Change, data: Record<string, unknown>): Promise<void> {
    await this.#store.touch(tx, change);
    await this.tell(tx, change, { event: 'contact.updated', data });
  }

  async tell(tx: Tx, change: Change, news: { event: string; data: Record<string, unknown> }): Promise<void> {
    const { teamId, contactId, nowMs } = change;
    const data = { contact_id: contactId, team_id: teamId, ...news.data };
    await this.#options.announce(tx, [{ teamId, event: news.event, data, atMs: nowMs }]);
  }

  /** The user's id as it is stored. @throws Problem not-found */
  async requireUser(teamId: string, userId: string): Promise<string> {
    const id = userId.toLowerCase();
    if (!isUuid(id) || !(await this.#options.users.names(teamId, [id])).has(id)) {
      throw new Problem('not-found', 'There is no such user.');
    }
    return id;
  }
}

export const noContact = (): Problem => new Problem('not-found', 'There is no such contact.');
