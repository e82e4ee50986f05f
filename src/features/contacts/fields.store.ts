import { Prisma } from '../../platform/db/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { FIELDS_PER_ACCOUNT_MAX } from './fields.rules.ts';
import type { CustomField, FieldKind, ListItem } from './fields.rules.ts';

/** The table custom_fields, by Prisma. */
export class FieldsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first, all of them: an account's number of fields is bounded. */
  async list(teamId: string): Promise<CustomField[]> {
    const rows = await this.#db.prisma.customField.findMany({
      where: { teamId },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
      take: FIELDS_PER_ACCOUNT_MAX,
    });
    return rows.map((row) => ({
      fieldId: row.id,
      type: row.type as FieldKind,
      displayName: row.displayName,
      slug: row.slug,
      listItems: row.listItems as unknown as ListItem[] | null,
      createdAtMs: row.createdAt.getTime(),
    }));
  }

  async count(teamId: string): Promise<number> {
    return this.#db.prisma.customField.count({ where: { teamId } });
  }

  /** False: the account has a field of this slug. */
  async insert(field: CustomField & { teamId: string; createdBy: string }): Promise<boolean> {
    const { fieldId, type, displayName, slug, listItems, createdAtMs, teamId, createdBy } = field;
    const { count } = await this.#db.prisma.customField.createMany({
      data: {
        ...{ id: fieldId, teamId, type, displayName, slug, createdBy },
        listItems: listItems === null ? Prisma.DbNull : (listItems as unknown as Prisma.InputJsonValue),
        createdAt: new Date(createdAtMs),
      },
      skipDuplicates: true,
    });
    return count === 1;
  }
}
