import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import type { DncService } from '../dnc/index.ts';
import { keyOfAddress } from './addresses.rules.ts';
import { hashOfToken } from './delivery.service.ts';
import { EmailEventsStore } from './email-events.store.ts';
import { EmailsStore } from './emails.store.ts';

/** Where such do-not-contact entries come from, and why they were added. */
const METHOD = 'email';
const REASON = 'unsubscribe';

export interface UnsubscribeOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly outbox: Pick<Outbox, 'tx'>;
  readonly dnc: Pick<DncService, 'selfAdd'>;
}

/** The way out of bulk emails: whoever holds the token of one needs no other credential. */
export class UnsubscribeService {
  readonly #options: UnsubscribeOptions;
  readonly #emails: EmailsStore;
  readonly #events = new EmailEventsStore();

  constructor(options: UnsubscribeOptions) {
    this.#options = options;
    this.#emails = new EmailsStore(options.db);
  }

  /** Whether the token is of an email; changes nothing. @throws Problem not-found */
  async check(token: string): Promise<void> {
    if ((await this.#emails.findByUnsubscribeToken(hashOfToken(token))) === null) throw noSuchLink();
  }

  /**
   * Lists every address of the email's `to` for every brand, in entries that stay. Emails to them that are being decided
   * about wait for it, or it for them: none leaves after it. A second time changes nothing.
   * @throws Problem not-found
   */
  async unsubscribe(token: string): Promise<void> {
    const of = await this.#emails.findByUnsubscribeToken(hashOfToken(token));
    if (of === null) throw noSuchLink();
    const { outbox, clock, dnc } = this.#options;
    await outbox.tx(async (tx) => {
      const email = await this.#emails.lock(tx, of.teamId, of.emailId);
      if (email === null) throw noSuchLink();
      const { teamId, emailId } = email;
      const event = { teamId, emailId, kind: 'unsubscribed', eventKey: '', detail: {} } as const;
      if (!(await this.#events.add(tx, { ...event, atMs: clock.nowMs() }))) return;
      const addresses = email.recipients.map(({ address }) => keyOfAddress(address));
      await this.#emails.lockAddresses(tx, teamId, addresses);
      for (const address of addresses.sort())
        await dnc.selfAdd(tx, { email: address, teamId, brandId: null, method: METHOD, reason: REASON });
    });
  }
}

const noSuchLink = (): Problem =>
  new Problem('not-found', 'This link leads to no email, or to one long gone.');
