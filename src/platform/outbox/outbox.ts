import type { Clock } from '../../kernel/clock.ts';
import type { Db, Tx } from '../db/index.ts';
import type { Queue } from '../queue/index.ts';
import type { OutboxMessage } from './outbox.type.ts';

/** Rows due later than this wait in outbox_later, so that the hot table stays small. */
export const NEAR_FUTURE_MS = 60_000;
/** Between topic and lane in the stored lane, so that a wake-up names its topic too. */
const SEPARATOR = '|';

export const storedLane = (message: { topic: string; lane: string }): string =>
  `${message.topic}${SEPARATOR}${message.lane}`;

export const topicOf = (lane: string): string => lane.slice(0, lane.indexOf(SEPARATOR));

const COLUMNS = 'topic, key, lane, order_key, payload, available_at, created_at';
const VALUES = `
select m.topic, m.key, m.lane, m.order_key, m.payload, m.available_at, $7::timestamptz
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::timestamptz[])
  with ordinality as m (topic, key, lane, order_key, payload, available_at, ord)
order by m.ord`;
const ADD_SQL = `insert into outbox (${COLUMNS}) ${VALUES}`;
const ADD_LATER_SQL = `
insert into outbox_later (${COLUMNS}, id)
select added.*, nextval(pg_get_serial_sequence('outbox', 'id')) from (${VALUES}) as added`;
const CANCEL_SQL = `
with now_gone as (delete from outbox where topic = $1 and key = $2 returning 1),
  later_gone as (delete from outbox_later where topic = $1 and key = $2 returning 1)
select (select count(*) from now_gone) + (select count(*) from later_gone) as cancelled`;

/** Messages that leave when, and only when, the transaction they were added in commits. */
export class Outbox {
  readonly #db: Db;
  readonly #queue: Queue;
  readonly #clock: Clock;
  readonly #lanesOf = new WeakMap<Tx, Set<string>>();

  constructor(db: Db, queue: Queue, clock: Clock) {
    this.#db = db;
    this.#queue = queue;
    this.#clock = clock;
  }

  /** A transaction whose messages are woken right after its commit. */
  async tx<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const lanes = new Set<string>();
    const result = await this.#db.tx(async (tx) => {
      lanes.clear();
      this.#lanesOf.set(tx, lanes);
      try {
        return await work(tx);
      } finally {
        this.#lanesOf.delete(tx);
      }
    });
    for (const lane of lanes) this.#queue.wake(lane);
    return result;
  }

  /**
   * Adds messages in `tx`: one insert for those due soon, one for a far future. Outside `Outbox.tx` call
   * `wakeAfterCommit` too, or the relay finds them by its poll.
   */
  async add(tx: Tx, messages: readonly OutboxMessage[]): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const isLater = (m: OutboxMessage): boolean => (m.availableAtMs ?? 0) > nowMs + NEAR_FUTURE_MS;
    const soon = messages.filter((m) => !isLater(m));
    const later = messages.filter(isLater);
    if (soon.length > 0) await tx.query(ADD_SQL, columnsOf(soon, nowMs));
    if (later.length > 0) await tx.query(ADD_LATER_SQL, columnsOf(later, nowMs));
    const lanes = this.#lanesOf.get(tx);
    for (const message of soon) lanes?.add(storedLane(message));
  }

  /** Takes back every message of `topic` and `key`; how many. One being handled loses its lease. */
  async cancel(tx: Tx, topic: string, key: string): Promise<number> {
    const { rows } = await tx.query<{ cancelled: bigint }>(CANCEL_SQL, [topic, key]);
    return Number(rows[0]?.cancelled ?? 0);
  }

  /** For transactions not made by `Outbox.tx`: call after their commit. */
  wakeAfterCommit(messages: readonly OutboxMessage[]): void {
    for (const message of messages) this.#queue.wake(storedLane(message));
  }
}

function columnsOf(messages: readonly OutboxMessage[], nowMs: number): unknown[] {
  return [
    messages.map((m) => m.topic),
    messages.map((m) => m.key),
    messages.map(storedLane),
    messages.map((m) => m.orderKey ?? null),
    messages.map((m) => JSON.stringify(m.payload)),
    // Never in the past: a relay looks for rows from a floor on, and what was due before is due now.
    messages.map((m) => new Date(Math.max(m.availableAtMs ?? nowMs, nowMs))),
    new Date(nowMs),
  ];
}
