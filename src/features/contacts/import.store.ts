import type { Tx } from '../../platform/db/index.ts';
import { COLUMN_OF, STORED_NAMES } from './contacts.row.ts';
import { phoneNumbersOf } from './contacts.rules.ts';
import type { StoredName, Values } from './contacts.rules.ts';
import type { ImportedContact, StoredContact } from './import.rules.ts';

const COLUMNS = STORED_NAMES.map((name) => COLUMN_OF[name]);
const FIELDS_OF_ROW = `id uuid, ${COLUMNS.map((column) => `${column} text`).join(', ')},
  phone_numbers text[], fields jsonb, listed boolean`;

/** Writers of identifiers hold it shared; one that collided holds it alone and cannot collide again. */
const GATE_SHARED_SQL = `select pg_advisory_xact_lock_shared(hashtextextended('contacts:' || $1, 0))`;
const GATE_ALONE_SQL = `select pg_advisory_xact_lock(hashtextextended('contacts:' || $1, 0))`;

/**
 * Locked in one order, so that two imports over the same contacts cannot wait for each other. On one level: a join over
 * the keys is planned as loops in loops for an account that is newer than the table's statistics.
 */
const MATCH_SQL = `
select id, ${COLUMNS.join(', ')}, fields from contacts
where team_id = $1 and (phone_number = any($2::text[])
  or (email is not null and lower(email) = any($3::text[])) or uid = any($4::text[]))
order by id for no key update`;

/** Sorted by the indexed identifiers: neighbours in the index come one after the other. */
const INSERT_SQL = `
insert into contacts (id, team_id, ${COLUMNS.join(', ')}, phone_numbers, fields, dnc, created_by, created_at, updated_at)
select r.id, $1, ${COLUMNS.map((column) => `r.${column}`).join(', ')}, r.phone_numbers, r.fields, r.listed, $2, $3, $3
from jsonb_to_recordset($4::jsonb) as r (${FIELDS_OF_ROW})
order by r.phone_number, lower(r.email)`;

/** The account comes with each row, which leaves only the contact's own key to find it by. */
const UPDATE_SQL = `
update contacts c set ${COLUMNS.map((column) => `${column} = r.${column}`).join(', ')},
  phone_numbers = r.phone_numbers, fields = r.fields, dnc = c.dnc or r.listed, updated_at = $1
from jsonb_to_recordset($2::jsonb) as r (team_id uuid, ${FIELDS_OF_ROW})
where c.team_id = r.team_id and c.id = r.id`;

export interface Keys {
  readonly phones: readonly string[];
  /** In lower case. */
  readonly emails: readonly string[];
  readonly uids: readonly string[];
}

/** A contact to be written, with whether one of its new identifiers is on the do-not-contact list. */
export type Written = ImportedContact & { readonly isListed: boolean };

interface MatchRow extends Record<string, unknown> {
  id: string;
  fields: Record<string, string>;
}

/** The statements of an import: each takes all rows at once. */
export class ImportStore {
  /** Until the transaction ends. */
  async enter(tx: Tx, teamId: string, isAlone: boolean): Promise<void> {
    await tx.query(isAlone ? GATE_ALONE_SQL : GATE_SHARED_SQL, [teamId]);
  }

  /** Every contact of the account that has one of the identifiers, locked. */
  async match(tx: Tx, teamId: string, keys: Keys): Promise<StoredContact[]> {
    const { rows } = await tx.query<MatchRow>(MATCH_SQL, [teamId, keys.phones, keys.emails, keys.uids]);
    return rows.map((row) => ({ contactId: row.id, values: valuesOf(row), custom: row.fields }));
  }

  /** Throws the driver's unique_violation when another transaction took an identifier. */
  async insert(
    tx: Tx,
    of: { teamId: string; userId: string; nowMs: number },
    contacts: readonly Written[],
  ): Promise<void> {
    if (contacts.length === 0) return;
    await tx.query(INSERT_SQL, [of.teamId, of.userId, new Date(of.nowMs), jsonOf(of.teamId, contacts)]);
  }

  /** As `insert`. */
  async update(tx: Tx, of: { teamId: string; nowMs: number }, contacts: readonly Written[]): Promise<void> {
    if (contacts.length === 0) return;
    await tx.query(UPDATE_SQL, [new Date(of.nowMs), jsonOf(of.teamId, contacts)]);
  }
}

function valuesOf(row: MatchRow): Values {
  const values: Values = {};
  for (const name of STORED_NAMES) {
    const value = row[COLUMN_OF[name]];
    if (typeof value === 'string') values[name] = value;
  }
  return values;
}

const jsonOf = (teamId: string, contacts: readonly Written[]): string =>
  JSON.stringify(
    contacts.map(({ contactId, values, custom, isListed }) => ({
      id: contactId,
      team_id: teamId,
      ...Object.fromEntries(
        Object.entries(values).map(([name, value]) => [COLUMN_OF[name as StoredName], value]),
      ),
      phone_numbers: phoneNumbersOf(values),
      fields: custom,
      listed: isListed,
    })),
  );
