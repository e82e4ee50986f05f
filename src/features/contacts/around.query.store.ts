import type { Db } from '../../platform/db/index.ts';

/** What belongs to contacts and is read for many of them at once: its table, and the column it is sorted by. */
const TABLES = {
  notes: {
    columns: 't.id, t.user_id, t.note, t.note_text, t.pinned, t.created_by, t.created_at',
    table: 'contact_notes',
    at: 'created_at',
    isNewestFirst: true,
  },
  timeline: {
    columns: 't.id, t.type, t.data, t.created_at',
    table: 'timeline_entries',
    at: 'created_at',
    isNewestFirst: true,
  },
  followUps: {
    columns: `t.id, t.scheduled_at, t.status, t.description, t.description_text, t.assigned_to, t.assigned_type,
      t.task_id, t.created_by, t.created_at`,
    table: 'follow_ups',
    at: 'scheduled_at',
    isNewestFirst: false,
  },
  consents: {
    columns: `t.id, t.consent_type, t.phone_number, t.consent_text, t.consent_text_hash, t.consent_method, t.granted_by, t.granted_at,
      t.revoked_by, t.revoked_at`,
    table: 'consents',
    at: 'granted_at',
    isNewestFirst: true,
  },
} as const;

export type AroundName = keyof typeof TABLES;

export interface AroundPage {
  readonly atUs: string | null;
  readonly id: string | null;
  readonly limit: number;
}

/** A row with its contact and the microseconds it is sorted by. */
export type AroundRow = Record<string, unknown> & { id: string; contact_id: string; at_us: bigint };

/** The first rows of each contact after a row. */
function pageSql(name: AroundName): string {
  const { columns, table, at, isNewestFirst } = TABLES[name];
  const order = isNewestFirst ? 'desc' : 'asc';
  return `
select r.* from unnest($2::uuid[]) as c (id)
cross join lateral (
  select ${columns}, t.contact_id, (extract(epoch from t.${at}) * 1000000)::bigint as at_us from ${table} t
  where t.team_id = $1 and t.contact_id = c.id
    and ($3::bigint is null
      or (t.${at}, t.id) ${isNewestFirst ? '<' : '>'} (timestamptz 'epoch' + $3 * interval '1 microsecond', $4::uuid))
  order by t.${at} ${order}, t.id ${order} limit $5
) r`;
}

const countSql = (name: AroundName): string => `
select contact_id, count(*) as n from ${TABLES[name].table}
where team_id = $1 and contact_id = any($2::uuid[]) group by contact_id`;

/** Tags that are deleted stay on contacts and are left out (contract, Contact). */
const TAGS_SQL = `
select ct.contact_id, ct.tag_id, ct.tagged_at, ct.tagged_by, t.label, t.color, t.text_color
from contact_tags ct join tags t on t.id = ct.tag_id and t.team_id = ct.team_id
where ct.team_id = $1 and ct.contact_id = any($2::uuid[]) and t.deleted_at is null
order by ct.contact_id, ct.tagged_at, ct.tag_id`;

export interface ContactTagRow {
  contact_id: string;
  tag_id: string;
  tagged_at: Date;
  tagged_by: string;
  label: string;
  color: string | null;
  text_color: string | null;
}

/** What surrounds contacts, for many of them by one statement. */
export class AroundQueryStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async page(
    teamId: string,
    name: AroundName,
    of: { contactIds: readonly string[]; page: AroundPage },
  ): Promise<AroundRow[]> {
    const { atUs, id, limit } = of.page;
    return (await this.#db.query<AroundRow>(pageSql(name), [teamId, of.contactIds, atUs, id, limit])).rows;
  }

  async counts(
    teamId: string,
    name: AroundName,
    contactIds: readonly string[],
  ): Promise<Map<string, number>> {
    const { rows } = await this.#db.query<{ contact_id: string; n: bigint }>(countSql(name), [
      teamId,
      contactIds,
    ]);
    return new Map(rows.map((row) => [row.contact_id, Number(row.n)]));
  }

  async tags(teamId: string, contactIds: readonly string[]): Promise<ContactTagRow[]> {
    return (await this.#db.query<ContactTagRow>(TAGS_SQL, [teamId, contactIds])).rows;
  }
}
