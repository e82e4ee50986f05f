import type { Db, Tx } from '../../platform/db/index.ts';
import { escapeLike } from './contacts.search.rules.ts';
import type { Page } from './contacts.search.rules.ts';
import { contactOf, RECORD, recordOf } from './contacts.row.ts';
import type { Contact, ContactRow } from './contacts.row.ts';
import type { ContactList } from './lists.rules.ts';

const COLUMNS = 'id, name, contact_count, created_at';

const ADD_MEMBERS_SQL = `
insert into contact_list_members (list_id, contact_id, team_id, added_at)
select l.id, c.id, $1, $4 from unnest($2::uuid[]) l (id) cross join unnest($3::uuid[]) c (id)
order by l.id, c.id
on conflict do nothing`;

const REMOVE_MEMBERS_SQL = `
delete from contact_list_members where team_id = $1 and list_id = $2 and contact_id = any($3::uuid[])`;

/**
 * One row at least when the list is the account's, with null when the page has no contact. The account comes with each
 * row, as in `ContactsStore`.
 */
const membersSql = (after: string): string => `
select ${recordOf('p')} from contact_lists l
left join lateral (
  select ${RECORD} from (
    select team_id, contact_id from contact_list_members
    where list_id = l.id and team_id = l.team_id ${after}
    order by list_id, contact_id limit $3
  ) m join contacts c on c.team_id = m.team_id and c.id = m.contact_id
) p on true
where l.team_id = $1 and l.id = $2 order by p.id`;
/** Two statements: with a condition that may be none, the plan kept for any values reads the list from its beginning. */
const FIRST_MEMBERS_SQL = membersSql('');
const NEXT_MEMBERS_SQL = membersSql('and contact_id > $4');

/** The statements on contact_lists and their members; the tables' triggers keep contact_count. */
export class ListsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first; `term`: the name contains it, either case. */
  async list(teamId: string, query: Page & { term: string | null }): Promise<ContactList[]> {
    const { rows } = await this.#db.query<ListRow>(
      `select ${COLUMNS} from contact_lists
       where team_id = $1 and ($2::text is null or lower(name) like '%' || lower($2) || '%')
       order by created_at desc, id limit $3 offset $4`,
      [teamId, query.term === null ? null : escapeLike(query.term), query.limit, query.offset],
    );
    return rows.map(listOf);
  }

  /** Those of the ids that are the account's, in no order. */
  async findMany(teamId: string, listIds: readonly string[]): Promise<ContactList[]> {
    const { rows } = await this.#db.query<ListRow>(
      `select ${COLUMNS} from contact_lists where team_id = $1 and id = any($2::uuid[])`,
      [teamId, listIds],
    );
    return rows.map(listOf);
  }

  async insert(list: ContactList & { teamId: string; createdBy: string }): Promise<void> {
    await this.#db.query(
      `insert into contact_lists (id, team_id, name, created_by, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $5)`,
      [list.listId, list.teamId, list.name, list.createdBy, new Date(list.createdAtMs)],
    );
  }

  async rename(
    teamId: string,
    list: { listId: string; name: string; nowMs: number },
  ): Promise<ContactList | null> {
    const { rows } = await this.#db.query<ListRow>(
      `update contact_lists set name = $3, updated_at = $4 where team_id = $1 and id = $2 returning ${COLUMNS}`,
      [teamId, list.listId, list.name, new Date(list.nowMs)],
    );
    return rows[0] ? listOf(rows[0]) : null;
  }

  async remove(teamId: string, listId: string): Promise<boolean> {
    const { rowCount } = await this.#db.query('delete from contact_lists where team_id = $1 and id = $2', [
      teamId,
      listId,
    ]);
    return rowCount === 1;
  }

  /** Holds the account's lists of these ids in one order; those that there are. */
  async lock(tx: Tx, teamId: string, listIds: readonly string[]): Promise<string[]> {
    const { rows } = await tx.query<{ id: string }>(
      'select id from contact_lists where team_id = $1 and id = any($2::uuid[]) order by id for no key update',
      [teamId, listIds],
    );
    return rows.map((row) => row.id);
  }

  /** Every contact on every list; who is there stays. How many memberships are new. */
  async addMembers(
    tx: Tx,
    of: { teamId: string; listIds: readonly string[]; contactIds: readonly string[]; nowMs: number },
  ): Promise<number> {
    const { teamId, listIds, contactIds, nowMs } = of;
    if (listIds.length === 0 || contactIds.length === 0) return 0;
    const { rowCount } = await tx.query(ADD_MEMBERS_SQL, [teamId, listIds, contactIds, new Date(nowMs)]);
    return rowCount ?? 0;
  }

  async removeMembers(
    tx: Tx,
    of: { teamId: string; listId: string; contactIds: readonly string[] },
  ): Promise<number> {
    const { rowCount } = await tx.query(REMOVE_MEMBERS_SQL, [of.teamId, of.listId, of.contactIds]);
    return rowCount ?? 0;
  }

  /** Ids of the account's contacts among those given, held so that none is deleted meanwhile. */
  async holdContacts(tx: Tx, teamId: string, contactIds: readonly string[]): Promise<number> {
    const { rowCount } = await tx.query(
      'select from contacts where team_id = $1 and id = any($2::uuid[]) order by id for key share',
      [teamId, contactIds],
    );
    return rowCount ?? 0;
  }

  /** Members by their ids after `afterId`; null: no such list. One statement. */
  async members(
    teamId: string,
    query: { listId: string; afterId: string | null; limit: number },
  ): Promise<Contact[] | null> {
    const { listId, afterId, limit } = query;
    const { rows } = await (afterId === null
      ? this.#db.prepared<{ record: ContactRow | null }>('list-members', FIRST_MEMBERS_SQL, [
          ...[teamId, listId, limit],
        ])
      : this.#db.prepared<{ record: ContactRow | null }>('list-members-after', NEXT_MEMBERS_SQL, [
          ...[teamId, listId, limit, afterId],
        ]));
    if (rows.length === 0) return null;
    return rows.flatMap(({ record }) => (record === null ? [] : [contactOf(record)]));
  }
}

interface ListRow {
  id: string;
  name: string;
  contact_count: number;
  created_at: Date;
}

const listOf = (row: ListRow): ContactList => ({
  listId: row.id,
  name: row.name,
  contactCount: row.contact_count,
  createdAtMs: row.created_at.getTime(),
});
