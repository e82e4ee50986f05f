import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Cipher, Db } from '../../platform/db/index.ts';
import { isAddress } from './addresses.rules.ts';
import type { EmailEvents } from './email-events.service.ts';
import { EmailsStore } from './emails.store.ts';
import { checkSignature, messageIdOf } from './hook.rules.ts';
import type { MailEventBody, SignedBody } from './hook.rules.ts';
import { HookSecretsStore } from './hook-secrets.store.ts';

const SECRET_BYTES = 32;

/** What binds a stored secret to its connection. */
export const hookSecretContext = (carrierId: string): string => `mail-webhook:${carrierId}`;

/** Who a webhook speaks for. */
export interface HookOwner {
  readonly teamId: string;
  readonly carrierId: string;
  /** The user who made the connection: what comes in by it is theirs. */
  readonly userId: string;
}

export interface HookAddresses {
  readonly carrierId: string;
  readonly secret: string;
  readonly eventsUrl: string;
  readonly inboundUrl: string;
}

export interface MailHooksOptions {
  readonly db: Db;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publicUrl: () => string;
  readonly events: EmailEvents;
}

/** Webhooks by which mail systems tell of bounces and complaints and hand over mail, each with a secret of its connection. */
export class MailHooks {
  readonly #options: MailHooksOptions;
  readonly #secrets: HookSecretsStore;
  readonly #emails: EmailsStore;

  constructor(options: MailHooksOptions) {
    this.#options = options;
    this.#secrets = new HookSecretsStore(options.db);
    this.#emails = new EmailsStore(options.db);
  }

  /** A new secret, shown only here; the former one stops at once. @throws Problem insufficient-scope, not-found */
  async rotate(caller: Caller, carrierId: string): Promise<HookAddresses> {
    requireScope(caller, 'account:write');
    const { cipher, clock, ids, publicUrl } = this.#options;
    const id = carrierId.toLowerCase();
    const secret = ids.secret(SECRET_BYTES);
    const secretCiphertext = cipher.encrypt(secret, hookSecretContext(id));
    const of = { teamId: caller.teamId, carrierId: id, secretCiphertext, nowMs: clock.nowMs() };
    if (!isUuid(id) || !(await this.#secrets.set(of))) throw noCarrier();
    const base = `${publicUrl()}/email/public`;
    return { carrierId: id, secret, eventsUrl: `${base}/events/${id}`, inboundUrl: `${base}/inbound/${id}` };
  }

  /** @throws Problem not-found (no such connection, or one without a secret), unauthorized */
  async authenticate(carrierId: string, signed: SignedBody): Promise<HookOwner> {
    const { cipher, clock } = this.#options;
    const id = carrierId.toLowerCase();
    const row = isUuid(id) ? await this.#secrets.find(id) : null;
    if (row === null || row.secretCiphertext === null) throw noCarrier();
    const secret = cipher.decrypt(row.secretCiphertext, hookSecretContext(id));
    checkSignature(signed, secret, clock.nowMs());
    return { teamId: row.teamId, carrierId: id, userId: row.createdBy };
  }

  /** How many of the events were of emails of the account; what comes twice counts and changes nothing. */
  async take({ teamId }: HookOwner, events: readonly MailEventBody[]): Promise<number> {
    let matched = 0;
    for (const event of events) {
      const emailId = await this.#emailOf(teamId, event);
      if (emailId === null) continue;
      const { recipient } = event;
      const isKnown = await this.#options.events.reported(
        { teamId, emailId },
        {
          ...{ kind: event.event, isHard: event.bounce_type !== 'soft', detail: event.detail },
          recipient: recipient !== undefined && isAddress(recipient) ? recipient : undefined,
          atMs: event.occurred_at ?? this.#options.clock.nowMs(),
        },
      );
      if (isKnown) matched += 1;
    }
    return matched;
  }

  async #emailOf(teamId: string, event: MailEventBody): Promise<string | null> {
    if (event.email_id !== undefined && isUuid(event.email_id)) return event.email_id.toLowerCase();
    if (event.message_id === undefined) return null;
    return this.#emails.findByMessageId(teamId, messageIdOf(event.message_id), 'outbound');
  }
}

const noCarrier = (): Problem => new Problem('not-found', 'There is no such carrier connection.');
