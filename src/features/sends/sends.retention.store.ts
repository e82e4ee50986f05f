import type { Db } from '../../platform/db/index.ts';

/** Tables of this slice that are swept by age, each by an index on its time. */
const SWEPT = {
  contact_attempts: 'at',
  send_idempotency: 'created_at',
  send_callbacks: 'created_at',
  carrier_receipts: 'received_at',
} as const;

export type SweptTable = keyof typeof SWEPT;

/** The statements that make room: they reach over all accounts. */
export class SendRetentionStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** How many partitions were made. */
  async makePartitions(fromMs: number, untilMs: number): Promise<number> {
    const { rows } = await this.#db.query<{ made: number }>('select make_send_partitions($1, $2) as made', [
      new Date(fromMs),
      new Date(untilMs),
    ]);
    return rows[0]?.made ?? 0;
  }

  /** Drops partitions that end before; how many. */
  async dropPartitions(beforeMs: number): Promise<number> {
    const { rows } = await this.#db.query<{ dropped: number }>('select drop_send_partitions($1) as dropped', [
      new Date(beforeMs),
    ]);
    return rows[0]?.dropped ?? 0;
  }

  /** Deletes up to `max` rows that are older; how many. */
  async sweep(table: SweptTable, beforeMs: number, max: number): Promise<number> {
    const column = SWEPT[table];
    const { rowCount } = await this.#db.query(
      `delete from ${table} where ctid in (
         select ctid from ${table} where ${column} < $1 order by ${column} limit $2 for update skip locked)`,
      [new Date(beforeMs), max],
    );
    return rowCount ?? 0;
  }
}
