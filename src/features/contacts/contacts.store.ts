import type { Db, Tx } from '../../platform/db/index.ts';
import { COLUMN_OF, contactOf, RECORD, recordOf } from './contacts.row.ts';
import type { Contact, ContactRow } from './contacts.row.ts';
import type { StoredName } from './contacts.rules.ts';

/**
 * Contacts `c` of the account $1 with the ids $2. The account comes with each id: as a condition of its own it would tempt
 * the planner, for an account newer than the table's statistics, to look through all of its contacts.
 */
export const WANTED = `(select $1::uuid as team_id, unnest($2::uuid[]) as id) k
  join contacts c on c.id = k.id and c.team_id = k.team_id`;

const FIND_SQL = `
select ${recordOf('r')} from (select ${RECORD} from ${WANTED}) r`;

/** Locks contacts, memberships included, so that what is decided from them holds until the transaction ends. */
const LOCK_SQL = `
select ${recordOf('r')} from (select ${RECORD} from ${WANTED} for update of c) r`;

/** The columns of a change; null takes a value away. */
export interface ContactChange {
  readonly values: Partial<Record<StoredName, string | null>>;
  /** By slug. */
  readonly custom: Readonly<Record<string, string | null>>;
  /** All of the contact's after the change. */
  readonly phoneNumbers: readonly string[];
  /** Whether one of its new identifiers is on the do-not-contact list. */
  readonly isListed: boolean;
}

/** A contact by its id; statements that look for contacts are in `contacts.search.store.ts`, imports in `import.store.ts`. */
export class ContactsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async find(teamId: string, contactId: string): Promise<Contact | null> {
    return (await this.findMany(teamId, [contactId]))[0] ?? null;
  }

  /** Those of the ids that are the account's, in no order: one statement. */
  async findMany(teamId: string, contactIds: readonly string[]): Promise<Contact[]> {
    const { rows } = await this.#db.prepared<{ record: ContactRow }>('contacts-find', FIND_SQL, [
      ...[teamId, contactIds],
    ]);
    return rows.map(({ record }) => contactOf(record));
  }

  async lock(tx: Tx, teamId: string, contactId: string): Promise<Contact | null> {
    const { rows } = await tx.query<{ record: ContactRow }>(LOCK_SQL, [teamId, [contactId]]);
    return rows[0] ? contactOf(rows[0].record) : null;
  }

  /** Throws the driver's unique_violation when the phone, email or uid is another contact's. */
  async update(
    tx: Tx,
    of: { teamId: string; contactId: string; nowMs: number },
    change: ContactChange,
  ): Promise<void> {
    const names = Object.keys(change.values) as StoredName[];
    const sets = names.map((name, index) => `${COLUMN_OF[name]} = $${index + 7}`);
    await tx.query(
      `update contacts set ${['updated_at = $3', 'dnc = dnc or $4', 'phone_numbers = $5', ...sets].join(', ')},
         fields = jsonb_strip_nulls(fields || $6::jsonb)
       where team_id = $1 and id = $2`,
      [
        ...[of.teamId, of.contactId, new Date(of.nowMs), change.isListed, change.phoneNumbers],
        ...[JSON.stringify(change.custom), ...names.map((name) => change.values[name] ?? null)],
      ],
    );
  }

  async remove(tx: Tx, teamId: string, contactId: string): Promise<boolean> {
    const { rowCount } = await tx.query('delete from contacts where team_id = $1 and id = $2', [
      teamId,
      contactId,
    ]);
    return rowCount === 1;
  }
}
