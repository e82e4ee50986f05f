import { createFollowUpHandler } from '../../src/features/contacts/index.ts';
import type { Caller, CallerRole, Scope } from '../../src/kernel/caller.ts';
import type { ManualClock } from '../../src/kernel/clock.ts';
import { composeContacts } from '../../src/main/compose-contacts.ts';
import type { Services } from '../../src/main/compose.ts';
import type { Db } from '../../src/platform/db/index.ts';
import { Relay } from '../../src/platform/outbox/index.ts';
import type { News } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import type { Queue } from '../../src/platform/queue/index.ts';
import { AccountsWorld, makeAccount, testDb } from '../_util/index.ts';
import type { TestAccount, TestDb } from '../_util/index.ts';

/** Contacts and what surrounds them over one database, on virtual time, with the news they told. */
export class AroundWorld {
  readonly db: Db;
  readonly clock: ManualClock;
  readonly services: Services;
  readonly #database: TestDb;
  readonly #accounts: AccountsWorld;
  readonly #queue: Queue;
  readonly #relays: Relay[] = [];
  readonly #news: News[] = [];
  #numbers = 0;

  static async start(): Promise<AroundWorld> {
    return new AroundWorld(await testDb());
  }

  private constructor(database: TestDb) {
    this.#database = database;
    this.#accounts = new AccountsWorld(database);
    const { services, clock } = this.#accounts;
    this.clock = clock;
    this.db = services.db;
    this.#queue = createQueue({ logger: services.logger, clock });
    const announce = async (_tx: unknown, news: readonly News[]): Promise<void> =>
      void this.#news.push(...news);
    this.services = {
      ...services,
      ...composeContacts({ ...services, brands: services.lookups.brands, announce }),
    };
  }

  account(): Promise<TestAccount> {
    return makeAccount(this.services);
  }

  /** A contact with a number of its own unless one is given. */
  async contact(caller: Caller, values: Record<string, string> = {}): Promise<string> {
    this.#numbers += 1;
    const phone = `+1202${5_550_000 + this.#numbers}`;
    const made = await this.services.contactImport.create(caller, {
      named: { first_name: 'Ada', phone, ...values },
    });
    const [contactId] = made.inserted;
    if (contactId === undefined) throw new Error(JSON.stringify(made));
    return contactId;
  }

  /** A signed-in user of the caller's account, with the caller's scopes. */
  async user({ teamId, scopes }: Caller, role: CallerRole): Promise<Caller> {
    this.#numbers += 1;
    const userId = await this.services.users.create({
      ...{
        teamId,
        email: `user-${this.#numbers}-${teamId}@example.com`,
        displayName: `User ${this.#numbers}`,
      },
      ...{ password: 'correct horse battery', role, aiAccess: 'full' },
    });
    return { kind: 'user', teamId, userId, role, scopes, operator: false, credentialId: userId };
  }

  /** A worker of its own, which runs only when it is poked. */
  worker(): Relay {
    const { db, clock } = this;
    const { logger, ids, followUps } = this.services;
    const handlers = [createFollowUpHandler(followUps)];
    const relay = new Relay({ db, queue: this.#queue, clock, logger, ids, handlers });
    this.#relays.push(relay);
    return relay;
  }

  inMs(ms: number): number {
    return this.clock.nowMs() + ms;
  }

  /** When the messages of a follow-up are due. */
  async messages(followupId: string): Promise<number[]> {
    const { rows } = await this.db.query<{ available_at: Date }>(
      `select available_at from outbox where key = $1 union all select available_at from outbox_later where key = $1`,
      [followupId],
    );
    return rows.map((row) => row.available_at.getTime());
  }

  /** News told since the last call. */
  told(): News[] {
    return this.#news.splice(0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#relays.map((relay) => relay.stop({ graceMs: 0 })));
    await this.#queue.close();
    await this.#accounts.close();
    await this.#database.drop();
  }
}

export const NOT_FOUND = { code: 'not-found', status: 404 };
export const REFUSED = { code: 'insufficient-scope', status: 403 };
export const invalid = (field: string) => ({
  ...{ code: 'validation-error', status: 400 },
  details: { field },
});
export const only = (caller: Caller, ...scopes: Scope[]): Caller => ({ ...caller, scopes: new Set(scopes) });
