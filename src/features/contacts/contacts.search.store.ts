import type { TimeKey } from '../../kernel/keyset.ts';
import type { Db } from '../../platform/db/index.ts';
import { contactOf, RECORD, recordOf } from './contacts.row.ts';
import type { Contact, ContactRow } from './contacts.row.ts';
import { COUNTED_MAX, escapeLike, RARE_MATCHES_MAX, termKind } from './contacts.search.rules.ts';
import type { ContactFilter, Page, SortName, SortOrder } from './contacts.search.rules.ts';

export interface ContactPage {
  readonly contacts: Contact[];
  readonly hasMore: boolean;
  /** Exact without a filter; with one exact up to COUNTED_MAX, and more than shown beyond as long as there is more. */
  readonly total: number;
}

/** Whole index entries for what has an index; ids part what is equal. */
const SORT_KEY: Record<SortName, string> = {
  created_at: 'created_at',
  updated_at: 'updated_at',
  first_name: 'lower(first_name)',
  last_name: 'lower(last_name)',
  email: 'lower(email)',
  phone_number: 'phone_number',
  company: 'lower(company)',
};

/** Values of a statement by their place. */
class Values {
  readonly list: unknown[] = [];

  add(value: unknown): string {
    return `$${this.list.push(value)}`;
  }
}

/** Tables in which a contact is or is not, by the condition that asks for it; the smaller usually first. */
const MEMBERSHIPS = [
  { of: 'tagId', table: 'contact_tags', column: 'tag_id' },
  { of: 'listId', table: 'contact_list_members', column: 'list_id' },
] as const;

/** Where matches are looked for: all contacts of the account, or those of the first membership that is asked for. */
interface Search {
  /** For gathering matches. */
  readonly from: string;
  readonly where: string;
  /** For meeting matches among the contacts in their order. */
  readonly amongAll: string;
}

/**
 * Memberships are probed by their keys, one for each contact met, and gathered from their own table: the planner, left to
 * join both ways, loops through one for each row of the other when both are newer than its statistics.
 */
function searchOf(filter: ContactFilter, values: Values): Search {
  const parts = conditions(filter, values);
  const asked = MEMBERSHIPS.filter(({ of }) => filter[of] !== undefined);
  const ids = new Map(asked.map(({ of }) => [of, values.add(filter[of])]));
  const probes = asked.map(
    ({ of, table, column }) =>
      `(select true from ${table} x
        where x.${column} = ${ids.get(of)} and x.contact_id = contacts.id and x.team_id = contacts.team_id)`,
  );
  const amongAll = ['team_id = $1', ...parts, ...probes].join(' and ');
  const [first] = asked;
  if (!first) return { from: 'contacts', where: amongAll, amongAll };
  const from = `(select team_id, contact_id from ${first.table}
      where team_id = $1 and ${first.column} = ${ids.get(first.of)} offset 0) x
    join contacts on contacts.id = x.contact_id and contacts.team_id = x.team_id`;
  return { from, where: [...parts, ...probes.slice(1), 'true'].join(' and '), amongAll };
}

function conditions(filter: ContactFilter, values: Values): string[] {
  const { term = null, email, phoneNumber, ownerId, dnc } = filter;
  const parts: string[] = [];
  if (term !== null) parts.push(termCondition(term, values));
  if (email !== undefined) parts.push(`email is not null and lower(email) = lower(${values.add(email)})`);
  if (phoneNumber !== undefined) {
    const number = values.add(phoneNumber);
    parts.push(`(phone_number = ${number} or phone_numbers @> array[${number}]::text[])`);
  }
  if (ownerId !== undefined) parts.push(`owner_id = ${values.add(ownerId)}`);
  if (dnc !== undefined) parts.push(`dnc = ${values.add(dnc)}`);
  return parts;
}

/**
 * The database lowers the term too: which letters have two cases depends on its locale. Emails and numbers are found by
 * their beginning: nearly all of their trigrams, of domains and area codes, are everybody's.
 */
function termCondition(term: string, values: Values): string {
  const text = values.add(escapeLike(term));
  switch (termKind(term)) {
    case 'email':
      return `email is not null and lower(email) like lower(${text}) || '%'`;
    case 'number':
      return `phone_number is not null and phone_number like ${text} || '%'`;
    case 'words':
      return `(search_text like lower(${text}) || '%' or search_text like '% ' || lower(${text}) || '%')`;
    case 'within':
      return withinCondition(term, text, values);
  }
}

/**
 * Digits tell contacts apart, while the letters beside them (`contact123456`) are many emails': the index is asked for the
 * digits alone, and what it finds is looked at whole (the empty text keeps that from the index).
 */
function withinCondition(term: string, text: string, values: Values): string {
  const digits = /\d{4,}/.exec(term)?.[0];
  if (digits === undefined || digits === term) return `search_text like '%' || lower(${text}) || '%'`;
  const found = `search_text like '%' || ${values.add(digits)} || '%'`;
  return `${found} and search_text || '' like '%' || lower(${text}) || '%'`;
}

const isAll = (filter: ContactFilter): boolean =>
  Object.values(filter).every((condition) => condition === undefined || condition === null);

/** How the contacts that are wanted are ordered and which of them are shown. */
interface Wanted {
  readonly filter: ContactFilter;
  readonly sortBy: SortName;
  readonly sortOrder: SortOrder;
  readonly after: TimeKey | null;
  readonly limit: number;
  readonly offset: number;
}

interface FoundRow extends ContactRow {
  created_at_us: string;
}

/** Looks for contacts. */
export class ContactsSearchStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** A page by offset. */
  async list(
    teamId: string,
    query: { filter: ContactFilter; page: Page; sortBy: SortName; sortOrder: SortOrder },
  ): Promise<ContactPage> {
    const { filter, page, sortBy, sortOrder } = query;
    const wanted = { filter, sortBy, sortOrder, after: null };
    const { rows, total, countedMax } = await this.#find(teamId, {
      ...wanted,
      limit: page.limit + 1,
      offset: page.offset,
    });
    // Of many matches the total is a lower bound: beyond what is shown as long as there is more to show.
    const isBounded = !isAll(filter) && total > countedMax && rows.length > 0;
    return {
      contacts: rows.slice(0, page.limit).map(contactOf),
      hasMore: rows.length > page.limit,
      total: isBounded ? Math.max(total, page.offset + rows.length) : total,
    };
  }

  /** The newest contacts after one, which stays right while contacts are added. */
  async page(
    teamId: string,
    query: { filter: ContactFilter; first: number; after: TimeKey | null },
  ): Promise<{ contacts: (Contact & { at: TimeKey })[]; hasMore: boolean }> {
    const { filter, first, after } = query;
    const wanted = { ...NEWEST, filter, after };
    const { rows } = await this.#find(teamId, { ...wanted, limit: first + 1, offset: 0 });
    const contacts = rows.slice(0, first).map((row) => ({
      ...contactOf(row),
      at: { atUs: row.created_at_us, id: row.id },
    }));
    return { contacts, hasMore: rows.length > first };
  }

  /** As the total of `list`. */
  async count(teamId: string, filter: ContactFilter): Promise<number> {
    return (await this.#find(teamId, { ...NEWEST, filter, after: null, limit: 0, offset: 0 })).total;
  }

  async #find(
    teamId: string,
    wanted: Wanted,
  ): Promise<{ rows: FoundRow[]; total: number; countedMax: number }> {
    const values = new Values();
    const countedMax = await this.#countedMax(teamId, wanted.filter);
    const { rows } = await this.#db.query<{ total: bigint; record: FoundRow | null }>(
      statementOf(teamId, { ...wanted, countedMax }, values),
      values.list,
    );
    return {
      rows: rows.flatMap(({ record }) => (record === null ? [] : [record])),
      total: Number(rows[0]?.total ?? 0),
      countedMax,
    };
  }

  /** How far to count, by what the database's statistics expect: asking them costs about a millisecond. */
  async #countedMax(teamId: string, filter: ContactFilter): Promise<number> {
    const isWithin = typeof filter.term === 'string' && termKind(filter.term) === 'within';
    if (!isWithin || MEMBERSHIPS.some(({ of }) => filter[of] !== undefined)) return COUNTED_MAX.usual;
    const values = new Values();
    values.add(teamId);
    const { rows } = await this.#db.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
      `explain (format json) select from contacts where ${searchOf(filter, values).amongAll}`,
      values.list,
    );
    const expected = rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
    return expected <= RARE_MATCHES_MAX ? COUNTED_MAX.rare : COUNTED_MAX.common;
  }
}

const NEWEST = { sortBy: 'created_at', sortOrder: 'desc' } as const;

/**
 * One row at least, with the total. The ids of the page are found first, then what the record shows of each.
 *
 * All contacts: the total is kept, and the index of the newest has the page. With a filter the matches are gathered as far
 * as `countedMax`, by the indexes of what is looked for; they are the page's source when that is all of them. Of more
 * the page comes from the contacts in their order, among which a match is soon met: neither way alone is fast for both
 * rare and common terms. The account comes to the records with each id, as in `ContactsStore`.
 */
function statementOf(teamId: string, wanted: Wanted & { countedMax: number }, values: Values): string {
  const { filter, sortBy, sortOrder, after, countedMax } = wanted;
  const key = SORT_KEY[sortBy];
  values.add(teamId);
  const { from, where, amongAll } = searchOf(filter, values);
  // Times are never null, and only without these words does the index of the newest have the order.
  const nulls = sortBy === 'created_at' || sortBy === 'updated_at' ? '' : 'nulls last';
  const order = (of: string, id = 'id'): string => `${of} ${sortOrder} ${nulls}, ${id} ${sortOrder}`;
  const beyond = after === null ? '' : `and ${afterCondition(after, values)}`;
  const shown = `limit ${values.add(wanted.limit)} offset ${values.add(wanted.offset)}`;
  const byOrder = (condition: string): string =>
    `(select team_id, id, ${key} as key from contacts
      where ${amongAll} ${condition} ${beyond} order by ${order(key)} ${shown})`;
  const matched = `m as materialized (
      select contacts.team_id, id, ${key} as key, created_at from ${from} where ${where} limit ${countedMax + 1}),
    t as materialized (select count(*) as total from m),
    k as ((select team_id, id, key from m where (select total from t) <= ${countedMax} ${beyond}
        order by ${order('key')} ${shown})
      union all ${byOrder(`and (select total from t) > ${countedMax}`)})`;
  const all = `t as (select coalesce((select contacts from contact_totals where team_id = $1), 0) as total),
    k as ${byOrder('')}`;
  return `with ${isAll(filter) ? all : matched}
    select t.total, ${recordOf('p')} from t left join lateral (
      select ${RECORD}, (extract(epoch from c.created_at) * 1000000)::bigint::text as created_at_us,
        row_number() over (order by ${order('k.key', 'k.id')}) as place
      from k join contacts c on c.team_id = k.team_id and c.id = k.id
    ) p on true order by p.place`;
}

function afterCondition(after: TimeKey, values: Values): string {
  const time = `timestamptz 'epoch' + ${values.add(after.atUs)}::bigint * interval '1 microsecond'`;
  return `(created_at, id) < (${time}, ${values.add(after.id)}::uuid)`;
}
