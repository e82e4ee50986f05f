import type { Caller } from '../../kernel/caller.ts';
import { isE164 } from '../../kernel/e164.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Announce, News, Outbox } from '../../platform/outbox/index.ts';
import type { InboundText } from '../carriers/index.ts';
import type { ImportService, TimelineService } from '../contacts/index.ts';
import { lockNumbers } from '../delivery-rules/index.ts';
import type { DncService } from '../dnc/index.ts';
import { keywordOf } from './keywords.rules.ts';
import { storable, MEDIA_MAX } from './texts.rules.ts';
import { optNews, receivedEntry, receivedNews } from './texts.present.ts';
import { TextsStore } from './texts.store.ts';
import type { TextMessage } from './texts.store.ts';

/** What an opt-in by text takes back of the do-not-contact list. */
export interface OptIns {
  /** Removes what the contact itself added, of every brand, and its marks with it; whether there was any. */
  selfRemove(tx: Tx, of: { teamId: string; phoneNumber: string }): Promise<boolean>;
}

/** What an opt-out by text takes back of what was agreed to. */
export interface ConsentRevocation {
  /** Every consent for the number, of every contact that has it. */
  revokeNumber(
    tx: Tx,
    of: { teamId: string; phoneNumber: string; userId: string; nowMs: number },
  ): Promise<void>;
}

export interface InboundTextsOptions {
  readonly db: Db;
  readonly outbox: Pick<Outbox, 'tx'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly announce: Announce;
  readonly timeline: Pick<TimelineService, 'add'>;
  readonly dnc: Pick<DncService, 'selfAdd'> & OptIns;
  readonly consents: ConsentRevocation;
  readonly contactImport: Pick<ImportService, 'create'>;
  /** The user under whom an account acts by itself. */
  readonly ownerOf: (teamId: string) => Promise<string>;
}

/** Takes texts that people send to numbers of accounts: into the thread and the timeline, and what they ask for is done. */
export class InboundTexts {
  readonly #options: InboundTextsOptions;
  readonly #store: TextsStore;

  constructor(options: InboundTextsOptions) {
    this.#options = options;
    this.#store = new TextsStore(options.db);
  }

  /**
   * Once for each id of its carrier, however often it is told. An unknown sender becomes a contact. STOP and its friends,
   * START and its friends count in the transaction that takes the text; a send to the number that is being committed waits
   * for it, or it for the send.
   */
  async receive(text: InboundText): Promise<void> {
    const { outbox, ownerOf } = this.#options;
    const userId = await ownerOf(text.teamId);
    await this.#makeContact(text, userId);
    await outbox.tx((tx) => this.#receiveIn(tx, text, userId));
  }

  /** In a transaction of its own, before: a contact without its text does no harm, and the next telling finds it. */
  async #makeContact({ teamId, from }: InboundText, userId: string): Promise<void> {
    const { db, contactImport } = this.#options;
    if (!isE164(from) || (await this.#store.contactOf(db, teamId, from)) !== null) return;
    await contactImport.create(actingAs(teamId, userId), { named: { phone: from } });
  }

  async #receiveIn(tx: Tx, text: InboundText, userId: string): Promise<void> {
    const { teamId, from } = text;
    await lockNumbers(tx, [{ teamId, phoneNumber: from }]);
    const contactId = await this.#store.contactOf(tx, teamId, from);
    const message: TextMessage = {
      ...{ messageId: this.#options.ids.uuid(), contactId, direction: 'inbound' },
      ...{ phoneNumber: from, ownNumber: text.to, body: storable(text.body) },
      phoneLineId: await this.#store.lineOf(tx, teamId, text.to),
      mediaUrls: text.mediaUrls.slice(0, MEDIA_MAX).map(storable),
      ...{ createdBy: null, createdAtMs: text.atMs },
    };
    const { carrierId, carrierMessageId } = text;
    const row = { ...message, teamId, sendId: null, carrierId, carrierMessageId };
    if (!(await this.#store.insert(tx, row))) return;
    const news = contactId === null ? [] : await this.#tell(tx, { ...message, contactId }, teamId);
    await this.#options.announce(tx, [...news, ...(await this.#obey(tx, { message, teamId, userId }))]);
  }

  async #tell(tx: Tx, message: TextMessage & { contactId: string }, teamId: string): Promise<News[]> {
    await this.#options.timeline.add(tx, receivedEntry(message, teamId));
    return [receivedNews(message, teamId)];
  }

  /** Does what a text of one word asks for; what there is to tell of it. */
  async #obey(tx: Tx, of: { message: TextMessage; teamId: string; userId: string }): Promise<News[]> {
    const { message, teamId, userId } = of;
    const { contactId, phoneNumber } = message;
    const found = keywordOf(message.body);
    if (!found || found.keyword === 'help' || !isE164(phoneNumber)) return [];
    const isOptIn = found.keyword === 'start';
    if (isOptIn) {
      if (!(await this.#options.dnc.selfRemove(tx, { teamId, phoneNumber }))) return [];
    } else {
      const { dnc, consents, clock } = this.#options;
      const optOut = { teamId, phoneNumber, brandId: null, method: 'sms', reason: found.word };
      await dnc.selfAdd(tx, optOut);
      await consents.revokeNumber(tx, { teamId, phoneNumber, userId, nowMs: clock.nowMs() });
    }
    return contactId === null ? [] : [optNews({ ...message, contactId }, teamId, isOptIn)];
  }
}

const actingAs = (teamId: string, userId: string): Caller => ({
  ...{ kind: 'machine', teamId, userId, scopes: new Set(['contacts:write'] as const) },
  ...{ operator: false, role: null, credentialId: 'inbound-texts' },
});
