import type { Db, Tx } from '../../platform/db/index.ts';

export interface TagEntryRow {
  tagId: string;
  taggedAtMs: number;
  taggedBy: string;
}

/** The statements on contact_tags. */
export class ContactTagsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** False: the contact has the tag already. */
  async add(
    tx: Tx,
    entry: { teamId: string; contactId: string; tagId: string; userId: string; nowMs: number },
  ): Promise<boolean> {
    const { rowCount } = await tx.query(
      `insert into contact_tags (contact_id, tag_id, team_id, tagged_at, tagged_by) values ($1, $2, $3, $4, $5)
       on conflict (contact_id, tag_id) do nothing`,
      [entry.contactId, entry.tagId, entry.teamId, new Date(entry.nowMs), entry.userId],
    );
    return rowCount === 1;
  }

  /** False: the contact lacks the tag. */
  async remove(tx: Tx, entry: { teamId: string; contactId: string; tagId: string }): Promise<boolean> {
    const { rowCount } = await tx.query(
      'delete from contact_tags where team_id = $1 and contact_id = $2 and tag_id = $3',
      [entry.teamId, entry.contactId, entry.tagId],
    );
    return rowCount === 1;
  }

  /** First tagged first. */
  async list(teamId: string, contactId: string): Promise<TagEntryRow[]> {
    const { rows } = await this.#db.query<{ tag_id: string; tagged_at: Date; tagged_by: string }>(
      `select tag_id, tagged_at, tagged_by from contact_tags
       where team_id = $1 and contact_id = $2 order by tagged_at, tag_id`,
      [teamId, contactId],
    );
    return rows.map((row) => ({
      ...{ tagId: row.tag_id, taggedAtMs: row.tagged_at.getTime(), taggedBy: row.tagged_by },
    }));
  }
}
