import type { Db, Tx } from '../../../platform/db/index.ts';

export interface PhoneNumber {
  phoneNumberId: string;
  phoneNumber: string;
  lineId: string | null;
  createdAtMs: number;
}

interface NumberRow {
  id: string;
  phone_number: string;
  phone_line_id: string | null;
  created_at: Date;
}

/** The statements on phone_numbers. */
export class NumbersStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Oldest first; the limit of numbers an account may have bounds it. */
  async list(teamId: string): Promise<PhoneNumber[]> {
    const { rows } = await this.#db.query<NumberRow>(
      `select id, phone_number, phone_line_id, created_at from phone_numbers
       where team_id = $1 order by created_at, phone_number`,
      [teamId],
    );
    return rows.map((row) => ({
      ...{ phoneNumberId: row.id, phoneNumber: row.phone_number, lineId: row.phone_line_id },
      createdAtMs: row.created_at.getTime(),
    }));
  }

  /** Holds the account's row, so that two imports cannot both take the last places; how many numbers there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>(
      'select count(*) as n from phone_numbers where team_id = $1',
      [teamId],
    );
    return Number(rows[0]?.n ?? 0);
  }

  /** Those of `numbers` that the account has. */
  async existing(tx: Tx, teamId: string, numbers: readonly string[]): Promise<Set<string>> {
    const { rows } = await tx.query<{ phone_number: string }>(
      'select phone_number from phone_numbers where team_id = $1 and phone_number = any($2::text[])',
      [teamId, numbers],
    );
    return new Set(rows.map((row) => row.phone_number));
  }

  /**
   * Adds numbers, and puts all of them on the line when one is given; a line deleted meanwhile leaves them on none. Sorted
   * by number, so that two imports cannot wait for each other.
   */
  async upsert(
    tx: Tx,
    of: { teamId: string; lineId: string | null; nowMs: number },
    numbers: readonly { id: string; phoneNumber: string }[],
  ): Promise<void> {
    const sorted = [...numbers].sort((a, b) => (a.phoneNumber < b.phoneNumber ? -1 : 1));
    await tx.query(
      `insert into phone_numbers (id, team_id, phone_number, phone_line_id, created_at)
       select n.id, $1, n.phone_number, (select l.id from phone_lines l where l.team_id = $1 and l.id = $2), $3
       from unnest($4::uuid[], $5::text[]) with ordinality as n (id, phone_number, ord) order by n.ord
       on conflict (team_id, phone_number)
         do update set phone_line_id = coalesce(excluded.phone_line_id, phone_numbers.phone_line_id)`,
      [
        ...[of.teamId, of.lineId, new Date(of.nowMs)],
        ...[sorted.map((n) => n.id), sorted.map((n) => n.phoneNumber)],
      ],
    );
  }
}
