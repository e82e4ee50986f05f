import type { Db } from '../../platform/db/index.ts';

/** The place of a row in a list sorted by time and id. */
export interface PlacedId {
  readonly id: string;
  readonly atUs: string;
}

interface After {
  readonly atUs: string | null;
  readonly id: string | null;
  readonly limit: number;
}

const LISTS_MATCH = `
team_id = $1 and ($2::text is null or strpos(lower(name), lower($2)) > 0)`;

const LISTS_SQL = `
select id, (extract(epoch from created_at) * 1000000)::bigint as at_us from contact_lists
where ${LISTS_MATCH}
  and ($3::bigint is null
    or (created_at, id) < (timestamptz 'epoch' + $3 * interval '1 microsecond', $4::uuid))
order by created_at desc, id desc limit $5`;

const COUNT_LISTS_SQL = `select count(*) as n from contact_lists where ${LISTS_MATCH}`;

/** Pages of lists as consoles ask for them: ids in order, and the records by the service. */
export class ContactsQueryStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async lists(teamId: string, term: string | null, after: After): Promise<PlacedId[]> {
    return this.#ids(LISTS_SQL, [teamId, term, after.atUs, after.id, after.limit]);
  }

  async countLists(teamId: string, term: string | null): Promise<number> {
    return this.#count(COUNT_LISTS_SQL, [teamId, term]);
  }

  async #ids(sql: string, values: unknown[]): Promise<PlacedId[]> {
    const { rows } = await this.#db.query<{ id: string; at_us: bigint }>(sql, values);
    return rows.map((row) => ({ id: row.id, atUs: String(row.at_us) }));
  }

  async #count(sql: string, values: unknown[]): Promise<number> {
    const { rows } = await this.#db.query<{ n: bigint }>(sql, values);
    return Number(rows[0]?.n ?? 0);
  }
}
