import type { Db, Tx } from '../db/index.ts';
import { BRING_BACK_SQL, PUT_OFF_SQL } from './later.sql.ts';
import { CLAIM_SQL } from './claim.sql.ts';
import { DUE_LANES_SQL, FLOORS_SQL } from './lanes.sql.ts';
import type { Json, OutboxRow } from './outbox.type.ts';

interface StoredRow {
  id: bigint;
  topic: string;
  key: string;
  lane: string;
  order_key: string | null;
  payload: Json;
  attempts: number;
  available_at: Date;
  created_at: Date;
}

/** How many rows of one lane to claim, from which age on. */
export interface LaneWish {
  lane: string;
  quota: number;
  /** Epoch milliseconds: no live row of the lane is older. */
  floorMs: number;
}

export interface Lease {
  owner: string;
  nowMs: number;
  untilMs: number;
  /** First starts before this moment hold back nobody any more. */
  orderGapMs: number;
}

/** Identifies one handing-out of a row: the count of starts fences off an earlier holder. */
export interface Claim {
  id: string;
  owner: string;
  attempts: number;
}

export interface OutboxStats {
  /** Due and unleased. */
  ready: number;
  /** Waiting for a later time. */
  held: number;
  inFlight: number;
  /** Age of the oldest ready row, 0 without one. */
  oldestMs: number;
}

const HELD = 'from outbox where id = $1 and lease_owner = $2 and attempts = $3 for update';
const REMOVE_ALL_SQL = `
delete from outbox o using unnest($1::bigint[], $2::uuid[], $3::int[]) as c (id, owner, attempts)
where o.id = c.id and o.lease_owner = c.owner and o.attempts = c.attempts
returning o.id`;

const HOLD_SQL = `select 1 ${HELD}`;
const HOLD_LIGHTLY_SQL = `select set_config('synchronous_commit', 'off', true) ${HELD}`;

/** The statements on outbox and outbox_later. */
export class OutboxStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async claim(wishes: readonly LaneWish[], lease: Lease): Promise<OutboxRow[]> {
    const { rows } = await this.#db.query<StoredRow>(CLAIM_SQL, [
      wishes.map((wish) => wish.lane),
      wishes.map((wish) => wish.quota),
      wishes.map((wish) => new Date(wish.floorMs)),
      new Date(lease.nowMs),
      lease.owner,
      new Date(lease.untilMs),
      new Date(lease.orderGapMs),
    ]);
    return rows
      .map(rowOf)
      .sort((a, b) => a.availableAtMs - b.availableAtMs || Number(BigInt(a.id) - BigInt(b.id)));
  }

  /** Lanes after `after` in index order, at most `max`, each with whether it has a row due. */
  async lanes(after: string, nowMs: number, max: number): Promise<{ lane: string; due: boolean }[]> {
    const { rows } = await this.#db.query<{ lane: string; due: boolean }>(DUE_LANES_SQL, [
      after,
      new Date(nowMs),
      max,
    ]);
    return rows;
  }

  /** The age of each lane's oldest live row at or after its floor; null: none. */
  async oldest(floors: readonly (readonly [string, number])[]): Promise<Map<string, number | null>> {
    const { rows } = await this.#db.query<{ lane: string; oldest: Date | null }>(FLOORS_SQL, [
      floors.map(([lane]) => lane),
      floors.map(([, floorMs]) => new Date(floorMs)),
    ]);
    return new Map(rows.map(({ lane, oldest }) => [lane, oldest?.getTime() ?? null]));
  }

  /** Locks a claimed row in `tx`; false when the claim is lost. `isDurable` false: the commit does not wait for the disk. */
  async hold(tx: Tx, claim: Claim, options: { isDurable: boolean }): Promise<boolean> {
    const { rowCount } = await tx.query(options.isDurable ? HOLD_SQL : HOLD_LIGHTLY_SQL, [
      claim.id,
      claim.owner,
      claim.attempts,
    ]);
    return rowCount === 1;
  }

  /** Deletes claimed rows; the ids of those whose claim was not lost. */
  async removeAll(claims: readonly Claim[], options: { isDurable: boolean }): Promise<Set<string>> {
    return this.#db.tx(async (tx) => {
      if (!options.isDurable) await tx.query('set local synchronous_commit = off');
      const { rows } = await tx.query<{ id: string }>(REMOVE_ALL_SQL, [
        claims.map((c) => c.id),
        claims.map((c) => c.owner),
        claims.map((c) => c.attempts),
      ]);
      return new Set(rows.map(({ id }) => String(id)));
    });
  }

  async remove(tx: Tx, id: string): Promise<void> {
    await tx.query('delete from outbox where id = $1', [id]);
  }

  async retryAt(tx: Tx, id: string, atMs: number): Promise<void> {
    await tx.query(
      'update outbox set available_at = $2, lease_owner = null, lease_until = null, leased_at = null where id = $1',
      [id, new Date(atMs)],
    );
  }

  /** Like `retryAt`, as if the row had not been started. */
  async keepTurn(tx: Tx, id: string, atMs: number): Promise<void> {
    await tx.query(
      `update outbox set available_at = $2, lease_owner = null, lease_until = null, leased_at = null,
         attempts = attempts - 1
       where id = $1`,
      [id, new Date(atMs)],
    );
  }

  async putOff(tx: Tx, id: string, atMs: number): Promise<void> {
    await tx.query(PUT_OFF_SQL, [id, new Date(atMs)]);
  }

  /** Hands leases back as if the rows had not been started. */
  async release(claims: readonly Claim[]): Promise<void> {
    await this.#db.query(
      `update outbox o set lease_owner = null, lease_until = null, leased_at = null, attempts = o.attempts - 1
       from unnest($1::bigint[], $2::uuid[], $3::int[]) as c (id, owner, attempts)
       where o.id = c.id and o.lease_owner = c.owner and o.attempts = c.attempts`,
      [claims.map((c) => c.id), claims.map((c) => c.owner), claims.map((c) => c.attempts)],
    );
  }

  /** Ends the leases of these owners; the starts stay counted, since their work may have been done. */
  async handBack(owners: readonly string[]): Promise<number> {
    const { rowCount } = await this.#db.query(
      'update outbox set lease_owner = null, lease_until = null, leased_at = null where lease_owner = any($1::uuid[])',
      [owners],
    );
    return rowCount ?? 0;
  }

  /** Moves rows due before `beforeMs` from outbox_later to outbox, at most `max`; their lanes, one for each row. */
  async bringBack(beforeMs: number, max: number): Promise<string[]> {
    const { rows } = await this.#db.query<{ lane: string }>(BRING_BACK_SQL, [new Date(beforeMs), max]);
    return rows.map(({ lane }) => lane);
  }

  /** Topics that an operator paused. */
  async pausedTopics(): Promise<Set<string>> {
    const { rows } = await this.#db.query<{ topic: string }>('select topic from paused_queues');
    return new Set(rows.map(({ topic }) => topic));
  }

  async stats(nowMs: number): Promise<OutboxStats> {
    const { rows } = await this.#db.query<{
      ready: bigint;
      held: bigint;
      in_flight: bigint;
      oldest: Date | null;
    }>(
      `select count(*) filter (where available_at <= $1 and (lease_until is null or lease_until <= $1)) as ready,
         count(*) filter (where available_at > $1) + (select count(*) from outbox_later) as held,
         count(*) filter (where lease_until > $1) as in_flight,
         min(available_at) filter (where available_at <= $1 and (lease_until is null or lease_until <= $1)) as oldest
       from outbox`,
      [new Date(nowMs)],
    );
    const row = rows[0];
    return {
      ready: Number(row?.ready ?? 0),
      held: Number(row?.held ?? 0),
      inFlight: Number(row?.in_flight ?? 0),
      oldestMs: row?.oldest ? Math.max(0, nowMs - row.oldest.getTime()) : 0,
    };
  }
}

function rowOf(row: StoredRow): OutboxRow {
  return {
    id: row.id.toString(),
    topic: row.topic,
    key: row.key,
    lane: row.lane,
    orderKey: row.order_key,
    payload: row.payload,
    attempts: row.attempts,
    availableAtMs: row.available_at.getTime(),
    createdAtMs: row.created_at.getTime(),
  };
}
