import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Ids } from '../../kernel/ids.ts';
import { checkText, invalidField } from '../../kernel/text.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Surroundings } from './surroundings.service.ts';
import { TimelineStore } from './timeline.store.ts';
import type { TimelineRow } from './timeline.store.ts';

/** Contract, Contact details: `limit` 1 to 100, default 50. */
export const TIMELINE_LIMIT_MAX = 100;
export const TIMELINE_LIMIT_DEFAULT = 50;
/** Pages deeper than this are refused: each row before a page is read and thrown away. */
export const TIMELINE_OFFSET_MAX = 1_000_000;
export const ENTRY_TYPE_LENGTH_MAX = 100;

export type TimelineEntry = TimelineRow;

export interface NewTimelineEntry {
  teamId: string;
  contactId: string;
  /** `tag_added`, `followup.created` …; the list is open. */
  type: string;
  /** Fields of the type, in wire form (snake_case). */
  data: Record<string, unknown>;
  atMs: number;
}

/** What happened with a contact, written in the transaction in which it happened. */
export class TimelineService {
  readonly #ids: Ids;
  readonly #store: TimelineStore;
  readonly #surroundings: Surroundings;

  constructor(options: { db: Db; ids: Ids; surroundings: Surroundings }) {
    this.#ids = options.ids;
    this.#store = new TimelineStore(options.db);
    this.#surroundings = options.surroundings;
  }

  async add(tx: Tx, entry: NewTimelineEntry): Promise<void> {
    const { teamId, contactId, type, data, atMs } = entry;
    const entryId = this.#ids.uuid();
    await this.#store.insert(tx, { entryId, teamId, contactId, type, data, createdAtMs: atMs });
  }

  /**
   * Newest first. As the contract has it, the page is read first and filtered by `type` then: a filtered page may be short
   * or empty though later ones are not.
   * @throws Problem insufficient-scope, validation-error, not-found
   */
  async list(
    caller: Caller,
    contactId: string,
    query: { type?: string | undefined; limit?: number | undefined; offset?: number | undefined } = {},
  ): Promise<TimelineEntry[]> {
    requireScope(caller, 'contacts:read');
    const { limit = TIMELINE_LIMIT_DEFAULT, offset = 0 } = query;
    const type = query.type === undefined ? null : checkText('type', query.type, ENTRY_TYPE_LENGTH_MAX);
    if (!Number.isInteger(limit) || limit < 1 || limit > TIMELINE_LIMIT_MAX) {
      throw invalidField('limit', `limit must be 1 to ${TIMELINE_LIMIT_MAX}.`);
    }
    if (!Number.isInteger(offset) || offset < 0 || offset > TIMELINE_OFFSET_MAX) {
      throw invalidField('offset', `offset must be 0 to ${TIMELINE_OFFSET_MAX}.`);
    }
    await this.#surroundings.requireContact(caller, contactId);
    const page = await this.#store.list(caller.teamId, contactId, { limit, offset });
    return type === null ? page : page.filter((entry) => entry.type === type);
  }
}
