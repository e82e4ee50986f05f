import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Announce, News } from '../../platform/outbox/index.ts';
import type { AcceptSends } from '../sends/index.ts';
import { checkReply, noNumber, windowOf } from './texts.rules.ts';
import type { CheckedReply, NewReply, ThreadPage } from './texts.rules.ts';
import { sentNews } from './texts.present.ts';
import { TextsStore } from './texts.store.ts';
import type { TextMessage } from './texts.store.ts';

export interface TextThreadsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly sends: AcceptSends;
  /** Of those who listen to events; not what hears `hear` too. */
  readonly announce: Announce;
}

/** What sends tell of each that ended, in the transaction in which it did. */
const SEND_FINISHED = 'send.finished';

/** The texts of a contact, both ways, and replies to them. */
export class TextThreads {
  readonly #options: TextThreadsOptions;
  readonly #store: TextsStore;

  constructor(options: TextThreadsOptions) {
    this.#options = options;
    this.#store = new TextsStore(options.db);
  }

  /** Newest first. @throws Problem insufficient-scope, validation-error, not-found */
  async list(caller: Caller, contactId: string, page: ThreadPage = {}): Promise<TextMessage[]> {
    requireScope(caller, 'contacts:read');
    const window = windowOf(page);
    const { teamId } = caller;
    if (!isUuid(contactId) || !(await this.#store.hasContact(teamId, contactId))) throw noContact();
    return this.#store.list(teamId, contactId, window);
  }

  /**
   * A send of its own, to the number the contact wrote from last, else to its first one; over the line it wrote to unless
   * another is named. Its result arrives as any send's does.
   * @throws Problem insufficient-scope, validation-error, not-found, unprocessable (the contact has no number)
   */
  async reply(caller: Caller, contactId: string, input: NewReply): Promise<{ messageId: string }> {
    requireScope(caller, 'sms:send');
    const reply = checkReply(input);
    const target = isUuid(contactId) ? await this.#store.replyTo(caller.teamId, contactId) : null;
    if (!target) throw noContact();
    const phoneNumber = target.last ?? target.main;
    if (phoneNumber === null) throw noNumber();
    const phoneLineId = reply.phoneLineId ?? target.phoneLineId;
    const line = phoneLineId === null ? {} : { phone_line_id: phoneLineId };
    const messageId = await this.#options.sends.accept({
      ...{ caller, channel: 'sms', version: 2 },
      request: { contact_id: contactId, to: phoneNumber, ...bodyOf(reply), ...line },
    });
    await this.#store.insert(this.#options.db, {
      ...SENT,
      ...{ messageId, sendId: messageId, teamId: caller.teamId, contactId, phoneNumber, phoneLineId },
      ...{ ownNumber: null, body: reply.body, mediaUrls: reply.mediaUrls },
      ...{ createdBy: caller.userId, createdAtMs: this.#options.clock.nowMs() },
    });
    return { messageId };
  }

  /**
   * Hears what is told in a transaction: texts of sends that ended there and left the house go into their contacts' threads,
   * and those that arrived are told as `contact.msg.sent`. Merge fields stay as they were asked for.
   */
  async hear(tx: Tx, news: readonly News[]): Promise<void> {
    for (const [teamId, messageIds] of endedTexts(news)) {
      const sent = await this.#store.takeSends(tx, teamId, messageIds);
      const delivered = sent.filter((text) => text.isDelivered);
      const atMs = this.#options.clock.nowMs();
      const told = delivered.map((text) => sentNews(text, teamId, atMs));
      if (told.length > 0) await this.#options.announce(tx, told);
    }
  }
}

/** Messages of texts that ended, by account. */
function endedTexts(news: readonly News[]): Map<string, string[]> {
  const byTeam = new Map<string, string[]>();
  for (const { teamId, event, data } of news) {
    const { channel, message_id: messageId } = data;
    if (event !== SEND_FINISHED || channel !== 'sms' || typeof messageId !== 'string') continue;
    byTeam.set(teamId, [...(byTeam.get(teamId) ?? []), messageId]);
  }
  return byTeam;
}

const SENT = { direction: 'outbound', carrierId: null, carrierMessageId: null } as const;

const bodyOf = ({ body, mediaUrls, mediaIds }: CheckedReply) => ({
  body,
  ...(mediaUrls.length === 0 ? {} : { media_urls: mediaUrls }),
  ...(mediaIds.length === 0 ? {} : { media_ids: mediaIds }),
});

const noContact = (): Problem => new Problem('not-found', 'There is no such contact.');
