import type { Db, Tx } from '../../platform/db/index.ts';
import type { Identifiers } from './dnc.rules.ts';

export interface DncEntryRow {
  entryId: string;
  /** Null: every brand. */
  brandId: string | null;
  phoneNumber: string | null;
  email: string | null;
  method: string;
  reason: string;
  selfAdded: boolean;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface NewEntries extends Identifiers {
  teamId: string;
  brandId: string | null;
  method: string;
  reason: string;
  selfAdded: boolean;
  createdBy: string | null;
  nowMs: number;
}

/** Stands for "every brand" in the unique indexes, where nulls would all differ. */
const NO_BRAND = '00000000-0000-0000-0000-000000000000';

/**
 * Adds an entry for each identifier or updates the brand's own, in one order, so that two calls cannot wait for each
 * other. An opt-out stays one, and keeps where it came from, whatever is added over it.
 */
const upsertSql = (column: 'phone_number' | 'email'): string => `
insert into dnc_entries (id, team_id, brand_id, ${column}, method, reason, self_added, created_by, created_at, updated_at)
select a.id, $1, $2, a.identifier, $5, $6, $7, $8, $9, $9
from unnest($3::uuid[], $4::text[]) as a (id, identifier) order by a.identifier
on conflict (team_id, ${column}, coalesce(brand_id, '${NO_BRAND}')) where ${column} is not null do update set
  method = case when dnc_entries.self_added and not excluded.self_added then dnc_entries.method else excluded.method end,
  reason = case when dnc_entries.self_added and not excluded.self_added then dnc_entries.reason else excluded.reason end,
  self_added = dnc_entries.self_added or excluded.self_added,
  updated_at = greatest(dnc_entries.updated_at, excluded.updated_at)
returning id, ${column} as identifier`;

/** The statements on dnc_entries. */
export class DncStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Entries of any of the identifiers, most recently updated first; with a brand its own and those of every brand. */
  async find(teamId: string, of: Identifiers & { brandId: string | null }): Promise<DncEntryRow[]> {
    const { rows } = await this.#db.query<StoredEntry>(
      `select ${COLUMNS} from dnc_entries
       where team_id = $1 and (phone_number = any($2::text[]) or email = any($3::text[]))
         and ($4::uuid is null or brand_id is null or brand_id = $4)
       order by updated_at desc, id`,
      [teamId, of.phoneNumbers, of.emails, of.brandId],
    );
    return rows.map(rowOf);
  }

  /** Those of the identifiers that have an entry of any brand. */
  async listed(tx: Tx, teamId: string, identifiers: readonly string[]): Promise<Set<string>> {
    const { rows } = await tx.query<{ identifier: string }>(
      `select phone_number as identifier from dnc_entries where team_id = $1 and phone_number = any($2::text[])
       union select email from dnc_entries where team_id = $1 and email = any($2::text[])`,
      [teamId, identifiers],
    );
    return new Set(rows.map((row) => row.identifier));
  }

  /** Those that were listed for this brand already. `newId` makes the ids of new entries. */
  async upsert(tx: Tx, entries: NewEntries, newId: () => string): Promise<Set<string>> {
    const existed = new Set<string>();
    for (const column of ['phone_number', 'email'] as const) {
      const identifiers = [...new Set(column === 'email' ? entries.emails : entries.phoneNumbers)];
      if (identifiers.length === 0) continue;
      const newIds = new Set(identifiers.map(newId));
      const { rows } = await tx.query<{ id: string; identifier: string }>(upsertSql(column), [
        ...[entries.teamId, entries.brandId, [...newIds], identifiers],
        ...[entries.method, entries.reason, entries.selfAdded, entries.createdBy, new Date(entries.nowMs)],
      ]);
      for (const row of rows) if (!newIds.has(row.id)) existed.add(row.identifier);
    }
    return existed;
  }

  /** Entries that may be removed, or may not: with a brand only its own, else of any; most recently updated first. */
  async lock(tx: Tx, teamId: string, of: Identifiers & { brandId: string | null }): Promise<DncEntryRow[]> {
    const { rows } = await tx.query<StoredEntry>(
      `select ${COLUMNS} from dnc_entries
       where team_id = $1 and (phone_number = any($2::text[]) or email = any($3::text[]))
         and ($4::uuid is null or brand_id = $4)
       order by phone_number, email, id for update`,
      [teamId, of.phoneNumbers, of.emails, of.brandId],
    );
    const latest = (a: DncEntryRow, b: DncEntryRow): number =>
      b.updatedAtMs - a.updatedAtMs || (a.entryId < b.entryId ? -1 : 1);
    return rows.map(rowOf).sort(latest);
  }

  async remove(tx: Tx, teamId: string, entryIds: readonly string[]): Promise<void> {
    await tx.query('delete from dnc_entries where team_id = $1 and id = any($2::uuid[])', [teamId, entryIds]);
  }

  /** Most recently updated first, from the place after `after` on. */
  async page(
    teamId: string,
    page: { limit: number; after: { updatedAtMs: number; entryId: string } | null },
  ): Promise<DncEntryRow[]> {
    const { rows } = await this.#db.query<StoredEntry>(
      `select ${COLUMNS} from dnc_entries
       where team_id = $1 and ($2::timestamptz is null or updated_at < $2 or (updated_at = $2 and id > $3))
       order by updated_at desc, id limit $4`,
      [teamId, page.after && new Date(page.after.updatedAtMs), page.after?.entryId ?? null, page.limit],
    );
    return rows.map(rowOf);
  }

  async count(teamId: string): Promise<number> {
    const { rows } = await this.#db.query<{ n: bigint }>(
      'select count(*) as n from dnc_entries where team_id = $1',
      [teamId],
    );
    return Number(rows[0]?.n ?? 0);
  }
}

const COLUMNS = 'id, brand_id, phone_number, email, method, reason, self_added, created_at, updated_at';

interface StoredEntry {
  id: string;
  brand_id: string | null;
  phone_number: string | null;
  email: string | null;
  method: string;
  reason: string;
  self_added: boolean;
  created_at: Date;
  updated_at: Date;
}

const rowOf = (row: StoredEntry): DncEntryRow => ({
  ...{ entryId: row.id, brandId: row.brand_id, phoneNumber: row.phone_number, email: row.email },
  ...{ method: row.method, reason: row.reason, selfAdded: row.self_added },
  ...{ createdAtMs: row.created_at.getTime(), updatedAtMs: row.updated_at.getTime() },
});
