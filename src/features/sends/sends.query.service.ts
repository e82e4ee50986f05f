import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { pageOf, wrongCursor } from '../../kernel/keyset.ts';
import type { Keyset, KeysetPage } from '../../kernel/keyset.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkText, invalidField } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import { CHANNELS, channelsOf, SCOPE_OF, SEND_SCOPES } from './channels.rules.ts';
import { SendsQueryStore } from './sends.query.store.ts';
import type { SendListed, SendQuery, Step } from './sends.query.store.ts';

/** Longest foreign_id and number that are looked for. */
const TERM_LENGTH_MAX = 255;

export type SendFilter = Partial<SendQuery>;

const EVERYTHING: Omit<SendQuery, 'channels'> = {
  ...{ messageId: null, foreignId: null, state: null, outcomeCode: null, phoneNumber: null },
  ...{ contactId: null, campaignId: null, fromMs: null, toMs: null },
};

/** Sends and what happened to them. Each channel's are read with the scope that makes them. */
export class SendsQueryService {
  readonly #store: SendsQueryStore;

  constructor(options: { db: Db }) {
    this.#store = new SendsQueryStore(options.db);
  }

  /** @throws Problem insufficient-scope, not-found */
  async get(caller: Caller, messageId: string): Promise<SendListed> {
    requireScope(caller, ...SEND_SCOPES);
    const query = { ...EVERYTHING, channels: CHANNELS, messageId };
    const page = { afterId: null, limit: 1 };
    const [send] = isUuid(messageId) ? await this.#store.list(caller.teamId, query, page) : [];
    if (!send) throw new Problem('not-found', 'There is no such send.');
    requireScope(caller, SCOPE_OF[send.channel]);
    return send;
  }

  /** Newest first; of the channels that the caller may read. @throws Problem insufficient-scope, validation-error */
  async list(caller: Caller, filter: SendFilter, keyset: Keyset): Promise<KeysetPage<SendListed>> {
    const query = queryOf(caller, filter);
    const page = { afterId: afterIdOf(keyset), limit: keyset.first + 1 };
    return pageOf(await this.#store.list(caller.teamId, query, page), keyset.first);
  }

  async count(caller: Caller, filter: SendFilter): Promise<number> {
    return this.#store.count(caller.teamId, queryOf(caller, filter));
  }

  /** Pages of several contacts at once, newest first. @throws as `list` */
  async ofContacts(
    caller: Caller,
    contactIds: readonly string[],
    keyset: Keyset,
  ): Promise<Map<string, KeysetPage<SendListed>>> {
    requireScope(caller, ...SEND_SCOPES);
    const of = { channels: channelsOf(caller), afterId: afterIdOf(keyset), limit: keyset.first + 1 };
    const found = await this.#store.ofContacts(caller.teamId, contactIds, of);
    return new Map([...found].map(([id, sends]) => [id, pageOf(sends, keyset.first)]));
  }

  /** Contacts without a send are left out. @throws Problem insufficient-scope */
  async countOfContacts(caller: Caller, contactIds: readonly string[]): Promise<Map<string, number>> {
    requireScope(caller, ...SEND_SCOPES);
    return this.#store.countOfContacts(caller.teamId, contactIds, channelsOf(caller));
  }

  /** In the order they happened, by send. @throws Problem insufficient-scope */
  async stepsOf(caller: Caller, sendIds: readonly string[]): Promise<Map<string, Step[]>> {
    requireScope(caller, ...SEND_SCOPES);
    return this.#store.steps(caller.teamId, sendIds);
  }
}

function queryOf(caller: Caller, filter: SendFilter): SendQuery {
  requireScope(caller, ...SEND_SCOPES);
  const held = channelsOf(caller);
  for (const field of ['messageId', 'contactId', 'campaignId'] as const) {
    const id = filter[field];
    if (id != null && !isUuid(id)) throw invalidField(field, `${field} must be a UUID.`);
  }
  for (const field of ['foreignId', 'phoneNumber'] as const)
    if (filter[field] != null) checkText(field, filter[field], TERM_LENGTH_MAX);
  const channels = held.filter((channel) => filter.channels?.includes(channel) ?? true);
  return { ...EVERYTHING, ...filter, channels };
}

function afterIdOf({ after }: Keyset): string | null {
  if (after === null) return null;
  const [id] = after;
  if (id === undefined || !isUuid(id)) throw wrongCursor();
  return id;
}
