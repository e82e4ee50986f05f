import type { Db, Tx } from '../../platform/db/index.ts';

export interface TagRow {
  tagId: string;
  label: string;
  color: string | null;
  textColor: string | null;
  isSeed: boolean;
  createdAtMs: number;
  createdBy: string;
  updatedAtMs: number;
  updatedBy: string | null;
  deletedAtMs: number | null;
  deletedBy: string | null;
}

export interface InsertedTag {
  tagId: string;
  teamId: string;
  label: string;
  color: string;
  textColor: string;
  userId: string;
  nowMs: number;
}

export interface ChangedTag {
  tagId: string;
  label: string;
  color?: string;
  textColor?: string;
  userId: string;
  nowMs: number;
}

/** The statements on tags: Prisma for single tags, SQL for lists and where a lock belongs to it. */
export class TagsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Living tags, newest first, at most `limit`. */
  async list(teamId: string, limit: number): Promise<TagRow[]> {
    const { rows } = await this.#db.query<StoredTag>(
      `select ${COLUMNS} from tags where team_id = $1 and deleted_at is null
       order by created_at desc, id limit $2`,
      [teamId, limit],
    );
    return rows.map(rowOf);
  }

  /** Those of `tagIds` that are the account's, deleted ones too. */
  async findMany(teamId: string, tagIds: readonly string[]): Promise<TagRow[]> {
    const { rows } = await this.#db.query<StoredTag>(
      `select ${COLUMNS} from tags where team_id = $1 and id = any($2::uuid[])`,
      [teamId, tagIds],
    );
    return rows.map(rowOf);
  }

  async count(teamId: string): Promise<number> {
    return this.#db.prisma.tag.count({ where: { teamId, deletedAt: null } });
  }

  async insert(tag: InsertedTag): Promise<TagRow> {
    const at = new Date(tag.nowMs);
    const made = await this.#db.prisma.tag.create({
      data: {
        ...{
          id: tag.tagId,
          teamId: tag.teamId,
          label: tag.label,
          color: tag.color,
          textColor: tag.textColor,
        },
        ...{ createdBy: tag.userId, createdAt: at, updatedBy: tag.userId, updatedAt: at },
      },
    });
    return modelRow(made);
  }

  /** Null: no such living tag. */
  async update(teamId: string, change: ChangedTag): Promise<TagRow | null> {
    const { tagId, label, color, textColor, userId, nowMs } = change;
    const [changed] = await this.#db.prisma.tag.updateManyAndReturn({
      where: { id: tagId, teamId, deletedAt: null },
      data: {
        label,
        ...(color === undefined ? {} : { color }),
        ...(textColor === undefined ? {} : { textColor }),
        ...{ updatedBy: userId, updatedAt: new Date(nowMs) },
      },
    });
    return changed ? modelRow(changed) : null;
  }

  /** Deletes the living ones among `tagIds`; how many. */
  async remove(teamId: string, tagIds: readonly string[], by: { userId: string; nowMs: number }) {
    const at = new Date(by.nowMs);
    const { count } = await this.#db.prisma.tag.updateMany({
      where: { id: { in: [...tagIds] }, teamId, deletedAt: null },
      data: { deletedAt: at, deletedBy: by.userId, updatedAt: at, updatedBy: by.userId },
    });
    return count;
  }

  /** A living tag, which cannot be deleted before `tx` ends; null: none. */
  async hold(tx: Tx, teamId: string, tagId: string): Promise<TagRow | null> {
    const { rows } = await tx.query<StoredTag>(
      `select ${COLUMNS} from tags where team_id = $1 and id = $2 and deleted_at is null for share`,
      [teamId, tagId],
    );
    return rows[0] ? rowOf(rows[0]) : null;
  }
}

const COLUMNS =
  'id, label, color, text_color, is_seed, created_at, created_by, updated_at, updated_by, deleted_at, deleted_by';

interface StoredTag {
  id: string;
  label: string;
  color: string | null;
  text_color: string | null;
  is_seed: boolean;
  created_at: Date;
  created_by: string;
  updated_at: Date;
  updated_by: string | null;
  deleted_at: Date | null;
  deleted_by: string | null;
}

const rowOf = (tag: StoredTag): TagRow => ({
  ...{ tagId: tag.id, label: tag.label, color: tag.color, textColor: tag.text_color, isSeed: tag.is_seed },
  ...{ createdAtMs: tag.created_at.getTime(), createdBy: tag.created_by },
  ...{ updatedAtMs: tag.updated_at.getTime(), updatedBy: tag.updated_by },
  ...{ deletedAtMs: tag.deleted_at?.getTime() ?? null, deletedBy: tag.deleted_by },
});

type TagModel = Awaited<ReturnType<Db['prisma']['tag']['findFirstOrThrow']>>;

const modelRow = (tag: TagModel): TagRow => ({
  ...{ tagId: tag.id, label: tag.label, color: tag.color, textColor: tag.textColor, isSeed: tag.isSeed },
  ...{ createdAtMs: tag.createdAt.getTime(), createdBy: tag.createdBy },
  ...{ updatedAtMs: tag.updatedAt.getTime(), updatedBy: tag.updatedBy },
  ...{ deletedAtMs: tag.deletedAt?.getTime() ?? null, deletedBy: tag.deletedBy },
});
