import { createHash } from 'node:crypto';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Cipher, Db, Tx } from '../../platform/db/index.ts';
import type { Announce, Outbox } from '../../platform/outbox/index.ts';
import { reserved } from '../accounts/index.ts';
import type { LedgerService } from '../accounts/index.ts';
import type { MailRequest, OpenCarrier } from '../carriers/index.ts';
import { emailsCountFromMs } from '../delivery-rules/index.ts';
import type { DialingRules } from '../delivery-rules/index.ts';
import { dkimContext } from '../lookups/index.ts';
import { keyOfAddress } from './addresses.rules.ts';
import type { Address } from './addresses.rules.ts';
import { dress, textOfHtml, unsubscribeHeaders } from './content.rules.ts';
import { errorOf, outcomeOf, refusalOf } from './decision.rules.ts';
import type { EmailAnswer } from './email.rules.ts';
import type { EmailEvents } from './email-events.service.ts';
import { EmailsStore } from './emails.store.ts';
import type { NewEmailRow } from './emails.store.ts';
import { FactsStore } from './facts.store.ts';
import type { EmailResults } from './results.service.ts';
import { IdempotencyStore } from './idempotency.store.ts';
import type { UsedKey } from './idempotency.store.ts';
import type { Parties } from './parties.service.ts';
import type { TrackedAddresses } from './tracked-addresses.ts';

const TOKEN_BYTES = 24;
/** A mail server that says nothing for longer leaves the result unknown. */
const SEND_TIMEOUT_MS = 30_000;

/** An Idempotency-Key with what its request is compared by. */
export interface Once {
  readonly key: string;
  readonly requestHash: Buffer;
}

export interface EmailDraft {
  readonly caller: Caller;
  readonly parties: Parties;
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly templateId: string | null;
  readonly brandId: string | null;
  readonly subject: string;
  readonly preview: string | null;
  readonly html: string;
  readonly text: string | null;
  readonly once: Once | null;
}

export interface DeliveryOptions {
  readonly db: Db;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly outbox: Pick<Outbox, 'tx'>;
  readonly ledger: Pick<LedgerService, 'book'>;
  readonly announce: Announce;
  readonly addresses: TrackedAddresses;
  readonly rules: { of(teamId: string): Promise<DialingRules> };
  readonly openMail: (teamId: string) => Promise<OpenCarrier<'mail'>>;
  readonly events: EmailEvents;
  readonly results: EmailResults;
}

/** `twin`: the key was used meanwhile. */
type Start = { kind: 'twin' } | { kind: 'blocked'; answer: EmailAnswer } | { kind: 'sending' };

/**
 * One email, from the decision to the answer. States: (none) → blocked | sending; sending → sent | failed | unknown;
 * unknown → sent | failed, only by what a mail system reports. A mail server sees it only after `sending` was committed,
 * in a transaction that holds its addresses and has read the do-not-contact list, the limit and the funds; and it sees it
 * once: nothing here sends an email of state `sending` or `unknown` again.
 */
export class EmailDelivery {
  readonly #options: DeliveryOptions;
  readonly #emails: EmailsStore;
  readonly #facts = new FactsStore();
  readonly #keys: IdempotencyStore;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#emails = new EmailsStore(options.db);
    this.#keys = new IdempotencyStore(options.db);
  }

  /** Null: a twin with the same key came first. @throws Problem payment-required */
  async deliver(draft: EmailDraft): Promise<EmailAnswer | null> {
    const { teamId } = draft.caller;
    const [rules, carrier] = await Promise.all([
      this.#options.rules.of(teamId),
      this.#options.openMail(teamId),
    ]);
    const token = draft.parties.sendType === 'bulk' ? this.#options.ids.secret(TOKEN_BYTES) : null;
    const row = this.#rowOf(draft, { carrierId: carrier.carrierId, token });
    const start = await this.#options.outbox.tx((tx) => this.#start(tx, draft, { row, rules }));
    if (start.kind === 'twin') return null;
    if (start.kind === 'blocked') return start.answer;
    const answer = await this.#options.results.ask(
      carrier.port,
      this.#requestOf(draft, { row, token }),
      AbortSignal.timeout(SEND_TIMEOUT_MS),
    );
    return this.#options.results.record(row, answer);
  }

  /** The decisive look, and with it everything that commits the account to this one attempt. */
  async #start(tx: Tx, draft: EmailDraft, of: { row: NewEmailRow; rules: DialingRules }): Promise<Start> {
    const { row, rules } = of;
    const { teamId, emailId, sendType, createdAtMs } = row;
    if (draft.once !== null) {
      const used: UsedKey = { requestHash: draft.once.requestHash, emailId, answer: null };
      const key = { ...used, teamId, key: draft.once.key, nowMs: createdAtMs };
      if (!(await this.#keys.claim(tx, key))) return { kind: 'twin' };
    }
    const to = row.recipients.map(({ address }) => keyOfAddress(address));
    const others = [...row.cc, ...row.bcc].map(({ address }) => keyOfAddress(address));
    const addresses = [...new Set([...to, ...others])];
    await this.#emails.lockAddresses(tx, teamId, addresses);
    const facts = await this.#facts.read(tx, {
      ...{ teamId, addresses, to, sendType, brandId: draft.brandId },
      sinceMs: emailsCountFromMs(rules, sendType, createdAtMs),
    });
    const code = refusalOf({ ...facts, rules, sendType });
    if (code !== null) {
      const { name } = outcomeOf(code);
      const blocked = { ...row, state: 'blocked', blockedReason: name, outcomeCode: code } as const;
      await this.#emails.insert(tx, { ...blocked, error: errorOf(code), unsubscribeTokenHash: null });
      await this.#options.events.failed(
        tx,
        { ...blocked, error: null, sentAtMs: null },
        { code, reason: name },
      );
      return { kind: 'blocked', answer: { success: false, error: errorOf(code) } };
    }
    await this.#reserve(tx, { teamId, emailId, amountMicros: facts.priceMicros });
    await this.#emails.insert(tx, { ...row, priceMicros: facts.priceMicros });
    await this.#facts.addAttempts(tx, { teamId, addresses: to, sendType, emailId, atMs: createdAtMs });
    return { kind: 'sending' };
  }

  async #reserve(tx: Tx, of: { teamId: string; emailId: string; amountMicros: bigint }): Promise<void> {
    const { teamId, emailId: causeId, amountMicros } = of;
    const entry = reserved({ teamId, amountMicros, causeType: 'email', causeId });
    const [change] = await this.#options.ledger.book(tx, [entry]);
    if (!change || change.balanceMicros < change.reservedMicros)
      throw new Problem('payment-required', 'The account is out of funds.');
  }

  #rowOf(draft: EmailDraft, of: { carrierId: string | null; token: string | null }): NewEmailRow {
    const { caller, parties, html } = draft;
    const { sender, to, contact, sendType } = parties;
    const { clock, ids } = this.#options;
    const nowMs = clock.nowMs();
    const emailId = ids.timed(nowMs);
    return {
      ...{ emailId, teamId: caller.teamId, contactId: contact?.contactId ?? null },
      ...{ mailboxId: sender.mailboxId, domainId: sender.domain.domainId, carrierId: of.carrierId },
      ...{ templateId: draft.templateId, direction: 'outbound', sendType, sender: sender.address },
      ...{ recipients: to, cc: draft.cc, bcc: draft.bcc, recipient: keyOfAddress(to[0].address) },
      ...{ subject: draft.subject, preview: draft.preview, html, text: draft.text ?? textOfHtml(html) },
      ...{ state: 'sending', blockedReason: null, error: null, outcomeCode: null },
      messageId: `<${emailId}@${sender.domain.domain}>`,
      unsubscribeTokenHash: of.token === null ? null : hashOfToken(of.token),
      ...{ priceMicros: 0n, createdBy: caller.userId, createdAtMs: nowMs },
    };
  }

  #requestOf(draft: EmailDraft, of: { row: NewEmailRow; token: string | null }): MailRequest {
    const { row, token } = of;
    const { addresses, cipher } = this.#options;
    const { domain } = draft.parties.sender;
    const unsubscribeUrl = token === null ? null : addresses.unsubscribe(token);
    const dressed = dress(
      { html: row.html, text: row.text ?? '' },
      {
        ...{ preview: row.preview, unsubscribeUrl, pixelUrl: addresses.pixel(row) },
        linkUrl: (target) => addresses.link(row, target),
      },
    );
    const privateKey = cipher.decrypt(domain.dkimPrivateCiphertext, dkimContext(domain.domainId));
    return {
      ...{ teamId: row.teamId, emailId: row.emailId, from: row.sender, to: row.recipients },
      ...{ cc: row.cc, bcc: row.bcc, subject: row.subject, ...dressed },
      messageId: row.messageId ?? '',
      headers: unsubscribeUrl === null ? {} : unsubscribeHeaders(unsubscribeUrl),
      dkim: { domain: domain.domain, selector: domain.dkimSelector, privateKey },
    };
  }
}

/** What is kept of an unsubscribe token. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();
