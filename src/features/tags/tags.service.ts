import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkText, invalidField } from '../../kernel/text.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import {
  checkTag,
  checkTagIds,
  LABEL_LENGTH_MAX,
  TAGS_PER_ACCOUNT_MAX,
  withDefaultColors,
} from './tags.rules.ts';
import type { NewTag } from './tags.rules.ts';
import { TagsStore } from './tags.store.ts';
import type { TagRow } from './tags.store.ts';

export type Tag = TagRow;

export interface TagsOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
}

/**
 * Tags of the caller's account. A deleted tag leaves the list and cannot be added again; contacts that have it keep the
 * entry (contract, Resources, Contact).
 */
export class TagsService {
  readonly #store: TagsStore;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor(options: TagsOptions) {
    this.#store = new TagsStore(options.db);
    this.#clock = options.clock;
    this.#ids = options.ids;
  }

  /** Newest first; without `limit` all of them. @throws Problem insufficient-scope, validation-error */
  async list(caller: Caller, query: { searchTerm?: string; limit?: number } = {}): Promise<Tag[]> {
    requireScope(caller, 'contacts:read');
    const { searchTerm, limit = TAGS_PER_ACCOUNT_MAX } = query;
    if (!Number.isInteger(limit) || limit < 1) throw invalidField('limit', 'limit must be at least 1.');
    const search = checkText('search_term', searchTerm ?? '', LABEL_LENGTH_MAX).toLowerCase();
    if (search === '') return this.#store.list(caller.teamId, Math.min(limit, TAGS_PER_ACCOUNT_MAX));
    // Not in SQL: which letters have two cases there depends on the locale the database was made with.
    const all = await this.#store.list(caller.teamId, TAGS_PER_ACCOUNT_MAX);
    return all.filter((tag) => tag.label.toLowerCase().includes(search)).slice(0, limit);
  }

  /** Those of `tagIds` that are the account's, deleted ones too; also for who may only write, whose answers show tags. @throws Problem insufficient-scope */
  async findMany(caller: Caller, tagIds: readonly string[]): Promise<Tag[]> {
    requireScope(caller, 'contacts:read', 'contacts:write');
    return this.#store.findMany(caller.teamId, tagIds.filter(isUuid));
  }

  /** @throws Problem insufficient-scope, validation-error, conflict (too many tags) */
  async create(caller: Caller, input: NewTag): Promise<Tag> {
    requireScope(caller, 'contacts:write');
    const tag = withDefaultColors(checkTag(input));
    if ((await this.#store.count(caller.teamId)) >= TAGS_PER_ACCOUNT_MAX) {
      throw new Problem(
        'conflict',
        `The account has ${TAGS_PER_ACCOUNT_MAX} tags already: delete one first.`,
      );
    }
    return this.#store.insert({
      ...tag,
      ...{ tagId: this.#ids.uuid(), teamId: caller.teamId },
      ...{ userId: caller.userId, nowMs: this.#clock.nowMs() },
    });
  }

  /** The label is always given; colours that are not stay. @throws Problem insufficient-scope, validation-error, not-found */
  async update(caller: Caller, tagId: string, input: NewTag): Promise<Tag> {
    requireScope(caller, 'contacts:write');
    const { label, color, textColor } = checkTag(input);
    const changed = isUuid(tagId)
      ? await this.#store.update(caller.teamId, {
          ...{ tagId, label, userId: caller.userId, nowMs: this.#clock.nowMs() },
          ...(color === undefined ? {} : { color }),
          ...(textColor === undefined ? {} : { textColor }),
        })
      : null;
    return changed ?? notFound();
  }

  /** Answers the id as it is stored. @throws Problem insufficient-scope, not-found */
  async remove(caller: Caller, tagId: string): Promise<{ tagId: string }> {
    requireScope(caller, 'contacts:write');
    if (!isUuid(tagId) || (await this.#remove(caller, [tagId])) === 0) return notFound();
    return { tagId: tagId.toLowerCase() };
  }

  /** Unknown and already deleted ids are skipped. @throws Problem insufficient-scope, validation-error */
  async bulkRemove(caller: Caller, tagIds: unknown): Promise<{ matched: number; modified: number }> {
    requireScope(caller, 'contacts:write');
    const count = await this.#remove(caller, checkTagIds(tagIds).filter(isUuid));
    return { matched: count, modified: count };
  }

  /** A living tag of the account, which stays so until `tx` ends. @throws Problem not-found */
  async hold(tx: Tx, teamId: string, tagId: string): Promise<Tag> {
    return (isUuid(tagId) ? await this.#store.hold(tx, teamId, tagId) : null) ?? notFound();
  }

  #remove(caller: Caller, tagIds: readonly string[]): Promise<number> {
    return this.#store.remove(caller.teamId, tagIds, { userId: caller.userId, nowMs: this.#clock.nowMs() });
  }
}

function notFound(): never {
  throw new Problem('not-found', 'There is no such tag.');
}
