import { requireScope } from '../../../kernel/caller.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Ids } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import type { Db } from '../../../platform/db/index.ts';
import { notFound, requireId, searchOf, windowOf } from '../input.rules.ts';
import type { SkipPage } from '../input.rules.ts';
import { changesOf, contentOf, TEMPLATES_MAX } from './templates.rules.ts';
import type { NewTemplate, TemplateChange, TemplateType } from './templates.rules.ts';
import { TemplatesStore } from './templates.store.ts';
import type { Template } from './templates.store.ts';

/** Saved emails and RCS cards. */
export class TemplatesService {
  readonly #options: { db: Db; clock: Clock; ids: Ids };
  readonly #store: TemplatesStore;

  constructor(options: { db: Db; clock: Clock; ids: Ids }) {
    this.#options = options;
    this.#store = new TemplatesStore(options.db);
  }

  /** Newest first. @throws Problem insufficient-scope, validation-error */
  async list(
    caller: Caller,
    query: SkipPage & { type?: TemplateType; searchTerm?: string },
  ): Promise<Template[]> {
    requireScope(caller, 'contacts:read');
    const of = { type: query.type, search: searchOf(query.searchTerm), ...windowOf(query) };
    return this.#store.list(caller.teamId, of);
  }

  /** @throws Problem insufficient-scope, validation-error, conflict (5,000 templates) */
  async create(caller: Caller, input: NewTemplate): Promise<Template> {
    requireScope(caller, 'contacts:write');
    const { db, clock, ids } = this.#options;
    const nowMs = clock.nowMs();
    const template: Template = {
      ...{ templateId: ids.uuid(), type: input.type, ...contentOf(input) },
      ...{ createdAtMs: nowMs, updatedAtMs: nowMs },
    };
    await db.tx(async (tx) => {
      if ((await this.#store.lockAndCount(tx, caller.teamId)) >= TEMPLATES_MAX) {
        throw new Problem(
          'conflict',
          `The account has ${TEMPLATES_MAX} templates already: delete one first.`,
        );
      }
      await this.#store.insert(tx, { ...template, teamId: caller.teamId, createdBy: caller.userId });
    });
    return template;
  }

  /** Omitted fields stay. @throws Problem insufficient-scope, validation-error, not-found */
  async update(caller: Caller, templateId: string, change: TemplateChange): Promise<Template> {
    requireScope(caller, 'contacts:write');
    const id = requireId(templateId, 'template');
    const former = await this.#store.find(caller.teamId, id);
    if (!former) throw notFound('template');
    const of = { teamId: caller.teamId, templateId: id, nowMs: this.#options.clock.nowMs() };
    const template = await this.#store.update(of, changesOf(former.type, change));
    if (!template) throw notFound('template');
    return template;
  }

  /** @throws Problem insufficient-scope, not-found */
  async remove(caller: Caller, templateId: string): Promise<{ templateId: string }> {
    requireScope(caller, 'contacts:write');
    const id = requireId(templateId, 'template');
    const of = { teamId: caller.teamId, templateId: id, nowMs: this.#options.clock.nowMs() };
    if (!(await this.#store.remove(of))) throw notFound('template');
    return { templateId: id };
  }
}
