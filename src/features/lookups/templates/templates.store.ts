import type { Db, Prisma, Tx } from '../../../platform/db/index.ts';
import type { RcsContent, TemplateContent, TemplateType } from './templates.rules.ts';

export interface Template extends TemplateContent {
  templateId: string;
  type: TemplateType;
  createdAtMs: number;
  updatedAtMs: number;
}

/** The statements on templates; deleted ones stay, since emails name the template they were made from. */
export class TemplatesStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first. */
  async list(
    teamId: string,
    of: { type?: TemplateType | undefined; search?: string | undefined; take: number; skip: number },
  ): Promise<Template[]> {
    const { type, search, take, skip } = of;
    const name = search === undefined ? undefined : ({ contains: search, mode: 'insensitive' } as const);
    const rows = await this.#db.prisma.template.findMany({
      where: { teamId, deletedAt: null, ...(type ? { type } : {}), ...(name ? { name } : {}) },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
      ...{ take, skip },
    });
    return rows.map(templateOf);
  }

  async find(teamId: string, templateId: string): Promise<Template | null> {
    const where = { teamId, id: templateId, deletedAt: null };
    const row = await this.#db.prisma.template.findFirst({ where });
    return row ? templateOf(row) : null;
  }

  /** Holds the account's row, so that two creations cannot both take the last place; how many templates there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>(
      'select count(*) as n from templates where team_id = $1 and deleted_at is null',
      [teamId],
    );
    return Number(rows[0]?.n ?? 0);
  }

  async insert(tx: Tx, template: Template & { teamId: string; createdBy: string }): Promise<void> {
    const { templateId, teamId, type, name, subject, html, rcsContent } = template;
    await tx.query(
      `insert into templates (id, team_id, type, name, subject, html, rcs_content, created_by, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $9)`,
      [
        ...[templateId, teamId, type, name, subject, html],
        ...[rcsContent === null ? null : JSON.stringify(rcsContent), template.createdBy],
        new Date(template.createdAtMs),
      ],
    );
  }

  /** Null: no such template. */
  async update(
    of: { teamId: string; templateId: string; nowMs: number },
    change: Partial<TemplateContent>,
  ): Promise<Template | null> {
    const { rcsContent, ...texts } = change;
    const [row] = await this.#db.prisma.template.updateManyAndReturn({
      where: { id: of.templateId, teamId: of.teamId, deletedAt: null },
      data: {
        ...texts,
        ...(rcsContent ? { rcsContent: rcsContent as Prisma.InputJsonObject } : {}),
        updatedAt: new Date(of.nowMs),
      },
    });
    return row ? templateOf(row) : null;
  }

  /** False: no such template. */
  async remove(of: { teamId: string; templateId: string; nowMs: number }): Promise<boolean> {
    const { count } = await this.#db.prisma.template.updateMany({
      where: { id: of.templateId, teamId: of.teamId, deletedAt: null },
      data: { deletedAt: new Date(of.nowMs) },
    });
    return count === 1;
  }
}

type StoredTemplate = NonNullable<Awaited<ReturnType<Db['prisma']['template']['findFirst']>>>;

const templateOf = (row: StoredTemplate): Template => ({
  ...{ templateId: row.id, type: row.type as TemplateType, name: row.name },
  ...{ subject: row.subject, html: row.html, rcsContent: row.rcsContent as RcsContent | null },
  createdAtMs: row.createdAt.getTime(),
  updatedAtMs: row.updatedAt.getTime(),
});
