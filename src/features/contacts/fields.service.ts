import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import { RESERVED_SLUGS } from './contacts.rules.ts';
import { checkField, FIELDS_PER_ACCOUNT_MAX } from './fields.rules.ts';
import type { CustomField, NewField } from './fields.rules.ts';
import { FieldsStore } from './fields.store.ts';

/** Custom fields of the caller's account. */
export class FieldsService {
  readonly #store: FieldsStore;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor(options: { db: Db; clock: Clock; ids: Ids }) {
    this.#store = new FieldsStore(options.db);
    this.#clock = options.clock;
    this.#ids = options.ids;
  }

  /** Newest first. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<CustomField[]> {
    requireScope(caller, 'contacts:read');
    return this.#store.list(caller.teamId);
  }

  /**
   * Makes a field; its slug comes from its display name.
   * @throws Problem insufficient-scope, validation-error, conflict (slug taken, or too many fields)
   */
  async create(caller: Caller, input: NewField): Promise<CustomField> {
    requireScope(caller, 'contacts:write');
    const { items, ...field } = checkField(input);
    const listItems = items?.map((item) => ({ itemId: this.#ids.uuid(), ...item })) ?? null;
    const made = { fieldId: this.#ids.uuid(), ...field, listItems, createdAtMs: this.#clock.nowMs() };
    if (RESERVED_SLUGS.has(field.slug)) throw slugTaken(field.slug);
    if ((await this.#store.count(caller.teamId)) >= FIELDS_PER_ACCOUNT_MAX)
      throw new Problem('conflict', `The account has ${FIELDS_PER_ACCOUNT_MAX} custom fields already.`);
    if (!(await this.#store.insert({ ...made, teamId: caller.teamId, createdBy: caller.userId })))
      throw slugTaken(field.slug);
    return made;
  }
}

const slugTaken = (slug: string): Problem =>
  new Problem('conflict', `There is a field called ${slug} already.`, { field: 'display_name' });
