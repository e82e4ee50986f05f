import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import type { TagsService } from '../tags/index.ts';
import { ContactTagsStore } from './contact-tags.store.ts';
import type { TagEntryRow } from './contact-tags.store.ts';
import type { Surroundings } from './surroundings.service.ts';
import type { TimelineService } from './timeline.service.ts';

/** An entry stays when its tag is deleted; it says so then, and readers pass over it (contract, Contact). */
export interface TagEntry extends TagEntryRow {
  deletedAtMs: number | null;
  deletedBy: string | null;
}

export interface ContactTagsOptions {
  db: Db;
  tags: Pick<TagsService, 'hold' | 'findMany'>;
  surroundings: Surroundings;
  timeline: TimelineService;
}

/** The tags of one contact. */
export class ContactTagsService {
  readonly #options: ContactTagsOptions;
  readonly #store: ContactTagsStore;

  constructor(options: ContactTagsOptions) {
    this.#options = options;
    this.#store = new ContactTagsStore(options.db);
  }

  /** @throws Problem insufficient-scope, not-found */
  async list(caller: Caller, contactId: string): Promise<TagEntry[]> {
    requireScope(caller, 'contacts:read');
    await this.#options.surroundings.requireContact(caller, contactId);
    return this.#entries(caller, contactId);
  }

  /** Adding a tag the contact has changes nothing. Answers all entries. @throws Problem insufficient-scope, not-found (contact, tag) */
  async add(caller: Caller, contactId: string, tagId: string): Promise<TagEntry[]> {
    requireScope(caller, 'contacts:write');
    const { tags, surroundings, timeline } = this.#options;
    await surroundings.change(caller, contactId, async (tx, change) => {
      const tag = await tags.hold(tx, change.teamId, tagId);
      if (!(await this.#store.add(tx, { ...change, tagId: tag.tagId }))) return;
      await timeline.add(tx, {
        ...{ teamId: change.teamId, contactId: change.contactId, type: 'tag_added' },
        data: { tag_id: tag.tagId, tag_label: tag.label, tagged_by: change.userId },
        atMs: change.nowMs,
      });
      await surroundings.touch(tx, change, { tags_added: [tag.tagId] });
    });
    return this.#entries(caller, contactId);
  }

  /** Answers what remains. @throws Problem insufficient-scope, not-found (contact, or the contact lacks the tag) */
  async remove(caller: Caller, contactId: string, tagId: string): Promise<TagEntry[]> {
    requireScope(caller, 'contacts:write');
    const { surroundings } = this.#options;
    await surroundings.change(caller, contactId, async (tx, change) => {
      if (!isUuid(tagId) || !(await this.#store.remove(tx, { ...change, tagId }))) {
        throw new Problem('not-found', 'The contact has no such tag.');
      }
      await surroundings.touch(tx, change, { tags_removed: [tagId.toLowerCase()] });
    });
    return this.#entries(caller, contactId);
  }

  async #entries(caller: Caller, contactId: string): Promise<TagEntry[]> {
    const entries = await this.#store.list(caller.teamId, contactId);
    const tags = await this.#options.tags.findMany(
      caller,
      entries.map((entry) => entry.tagId),
    );
    const byId = new Map(tags.map((tag) => [tag.tagId, tag]));
    return entries.map((entry) => {
      const tag = byId.get(entry.tagId);
      return { ...entry, deletedAtMs: tag?.deletedAtMs ?? null, deletedBy: tag?.deletedBy ?? null };
    });
  }
}
