import type { Db, Tx } from '../../platform/db/index.ts';

export interface TimelineRow {
  entryId: string;
  contactId: string;
  type: string;
  /** Fields of the type, in wire form. */
  data: Record<string, unknown>;
  createdAtMs: number;
}

/** The statements on timeline_entries. */
export class TimelineStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async insert(tx: Tx, entry: TimelineRow & { teamId: string }): Promise<void> {
    await tx.query(
      `insert into timeline_entries (id, team_id, contact_id, type, data, created_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [
        ...[entry.entryId, entry.teamId, entry.contactId, entry.type],
        JSON.stringify(entry.data),
        new Date(entry.createdAtMs),
      ],
    );
  }

  /** Newest first. */
  async list(
    teamId: string,
    contactId: string,
    page: { limit: number; offset: number },
  ): Promise<TimelineRow[]> {
    const { rows } = await this.#db.query<{
      id: string;
      type: string;
      data: Record<string, unknown>;
      created_at: Date;
    }>(
      `select id, type, data, created_at from timeline_entries
       where team_id = $1 and contact_id = $2 order by created_at desc, id desc limit $3 offset $4`,
      [teamId, contactId, page.limit, page.offset],
    );
    return rows.map(({ id, type, data, created_at: createdAt }) => ({
      ...{ entryId: id, contactId: contactId.toLowerCase(), type, data, createdAtMs: createdAt.getTime() },
    }));
  }
}
