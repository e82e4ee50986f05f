import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import type { ContactsService, TimelineService } from '../contacts/index.ts';
import { keyOfAddress } from './addresses.rules.ts';
import { timelineData } from './email.present.ts';
import type { EmailEvents } from './email-events.service.ts';
import { EmailsStore } from './emails.store.ts';
import type { NewEmailRow } from './emails.store.ts';
import type { HookOwner } from './hooks.service.ts';
import { inboundOf } from './inbound.rules.ts';
import type { InboundRecord } from './inbound.rules.ts';
import { readMail } from './mime.rules.ts';
import { reportOf } from './reports.rules.ts';
import type { Report } from './reports.rules.ts';
import { SourcesStore } from './sources.store.ts';

export interface InboundOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly outbox: Pick<Outbox, 'tx'>;
  readonly contacts: Pick<ContactsService, 'search'>;
  readonly timeline: Pick<TimelineService, 'add'>;
  readonly events: EmailEvents;
}

/** `ignored`: a report about no email of the account. */
export type InboundKind = 'bounce' | 'complaint' | 'mail' | 'ignored';

/** Mail that comes in: reports about emails that were sent, and mail of people. */
export class InboundMail {
  readonly #options: InboundOptions;
  readonly #emails: EmailsStore;
  readonly #sources: SourcesStore;

  constructor(options: InboundOptions) {
    this.#options = options;
    this.#emails = new EmailsStore(options.db);
    this.#sources = new SourcesStore(options.db);
  }

  /** The same mail again changes nothing. @throws Problem unprocessable (no mail of anybody) */
  async receive(owner: HookOwner, bytes: Buffer): Promise<InboundKind> {
    const mail = readMail(bytes);
    const report = reportOf(mail);
    if (report !== null) return this.#report(owner, report);
    const record = inboundOf(mail);
    if (record === null) throw new Problem('unprocessable', 'The mail has no readable From.');
    await this.#record(owner, record);
    return 'mail';
  }

  async #report({ teamId }: HookOwner, { kind, messageIds, reports }: Report): Promise<InboundKind> {
    const emailId = await this.#firstOf(teamId, messageIds);
    if (emailId === null) return 'ignored';
    const atMs = this.#options.clock.nowMs();
    for (const report of reports)
      await this.#options.events.reported({ teamId, emailId }, { ...report, atMs });
    return kind;
  }

  async #firstOf(teamId: string, messageIds: readonly string[]): Promise<string | null> {
    for (const messageId of messageIds) {
      const emailId = await this.#emails.findByMessageId(teamId, messageId, 'outbound');
      if (emailId !== null) return emailId;
    }
    return null;
  }

  async #record(owner: HookOwner, record: InboundRecord): Promise<void> {
    const { contacts, clock, ids, outbox, timeline } = this.#options;
    const { teamId } = owner;
    const keys = record.to.map(({ address }) => keyOfAddress(address));
    const mailboxId = await this.#sources.findMailboxOf(teamId, keys);
    const found = await contacts.search(actingFor(owner), { email: record.from.address, limit: 1 });
    const contactId = found.contacts[0]?.contactId ?? null;
    const nowMs = clock.nowMs();
    const row: NewEmailRow = {
      ...{ emailId: ids.timed(nowMs), teamId, contactId, mailboxId, templateId: null, domainId: null },
      ...{ carrierId: owner.carrierId, direction: 'inbound', sendType: 'transactional' },
      ...{ sender: record.from, recipients: record.to, recipient: keys[0] ?? '', cc: [], bcc: [] },
      ...{ subject: record.subject, preview: null, html: record.html, text: record.text, state: 'received' },
      ...{ blockedReason: null, error: null, outcomeCode: null, messageId: record.messageId },
      ...{ unsubscribeTokenHash: null, priceMicros: 0n, createdBy: owner.userId, createdAtMs: nowMs },
    };
    await outbox.tx(async (tx) => {
      if (row.messageId !== null) {
        await this.#emails.lockAddresses(tx, teamId, [row.messageId]);
        if (await this.#emails.findByMessageId(teamId, row.messageId, 'inbound', tx)) return;
      }
      await this.#emails.insert(tx, row);
      if (contactId === null) return;
      await timeline.add(tx, { teamId, contactId, type: 'email', data: timelineData(row), atMs: nowMs });
    });
  }
}

/** Finds contacts for what comes in, as the user who made the connection. */
const actingFor = ({ teamId, userId, carrierId }: HookOwner): Caller => ({
  ...{ kind: 'machine', teamId, userId, operator: false, role: null, credentialId: carrierId },
  scopes: new Set(['contacts:read']),
});
