import type { Db, Tx } from '../../platform/db/index.ts';
import type { AttemptRow, DeliveryState } from './webhooks.store.ts';

export type LoggedAttempt = Omit<AttemptRow, 'deliveryId' | 'teamId'>;

/** A delivery as the log shows it. */
export interface LoggedDelivery {
  deliveryId: string;
  eventId: string;
  event: string;
  sequence: number;
  state: DeliveryState;
  replayOf: string | null;
  /** The exact text that is signed and sent. */
  body: string;
  createdAtMs: number;
  finishedAtMs: number | null;
  attempts: LoggedAttempt[];
}

/** What a replay repeats. */
export interface ReplayedDelivery {
  deliveryId: string;
  eventId: string;
  event: string;
  sequence: number;
  state: DeliveryState;
  /** The first of a row of replays. */
  replayOf: string | null;
  body: string;
}

interface Key {
  readonly teamId: string;
  readonly subscriptionId: string;
}

const OWN = `d.team_id = $1 and d.source_id = $2 and d.kind = 'subscription'`;

const PAGE_SQL = `
select d.id, d.event_id, d.event, d.sequence, d.state, d.replay_of, d.body, d.created_at, d.finished_at,
  coalesce((
    select jsonb_agg(jsonb_build_object(
      'attempt', a.attempt, 'startedAtMs', round(extract(epoch from a.started_at) * 1000),
      'durationMs', a.duration_ms, 'statusCode', a.status_code, 'error', a.error,
      'responseExcerpt', a.response_excerpt) order by a.attempt)
    from webhook_attempts a where a.delivery_id = d.id
  ), '[]') as attempts
from webhook_deliveries d
where ${OWN}
order by d.created_at desc, d.sequence desc, d.id desc
limit $3 offset $4`;

const REPLAYED_COLUMNS = 'd.id, d.event_id, d.event, d.sequence, d.state, d.replay_of, d.body';
const FIND_SQL = `select ${REPLAYED_COLUMNS} from webhook_deliveries d where ${OWN} and d.id = $3`;

/** Finished deliveries of a time range that are no replays themselves. */
const RANGE = `${OWN} and d.state <> 'pending' and d.replay_of is null
  and d.created_at >= $3 and d.created_at <= $4`;
const COUNT_RANGE_SQL = `select count(*) as n from (select 1 from webhook_deliveries d where ${RANGE} limit $5) found`;
const RANGE_SQL = `
select ${REPLAYED_COLUMNS} from webhook_deliveries d
where ${RANGE} and d.sequence > $5
order by d.sequence
limit $6`;

interface StoredReplayed {
  id: string;
  event_id: string;
  event: string;
  sequence: bigint;
  state: DeliveryState;
  replay_of: string | null;
  body: string;
  [column: string]: unknown;
}

/** The log of a subscription's deliveries. */
export class DeliveriesLogStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first. */
  async page(key: Key, at: { limit: number; skip: number }): Promise<LoggedDelivery[]> {
    const { rows } = await this.#db.query<
      StoredReplayed & { created_at: Date; finished_at: Date | null; attempts: LoggedAttempt[] }
    >(PAGE_SQL, [key.teamId, key.subscriptionId, at.limit, at.skip]);
    return rows.map((row) => ({
      ...replayedOf(row),
      createdAtMs: row.created_at.getTime(),
      finishedAtMs: row.finished_at?.getTime() ?? null,
      attempts: row.attempts,
    }));
  }

  async find(tx: Tx, key: Key, deliveryId: string): Promise<ReplayedDelivery | null> {
    const { rows } = await tx.query<StoredReplayed>(FIND_SQL, [key.teamId, key.subscriptionId, deliveryId]);
    return rows[0] ? replayedOf(rows[0]) : null;
  }

  /** How many a replay of the range would repeat, counted up to `max`. */
  async countRange(tx: Tx, key: Key, range: { fromMs: number; toMs: number; max: number }): Promise<number> {
    const { rows } = await tx.query<{ n: bigint }>(COUNT_RANGE_SQL, [
      ...[key.teamId, key.subscriptionId, new Date(range.fromMs), new Date(range.toMs), range.max],
    ]);
    return Number(rows[0]?.n ?? 0);
  }

  /** Those after a sequence number, in their order. */
  async range(
    tx: Tx,
    key: Key,
    range: { fromMs: number; toMs: number; afterSequence: number; limit: number },
  ): Promise<ReplayedDelivery[]> {
    const { rows } = await tx.query<StoredReplayed>(RANGE_SQL, [
      ...[key.teamId, key.subscriptionId, new Date(range.fromMs), new Date(range.toMs)],
      ...[range.afterSequence, range.limit],
    ]);
    return rows.map(replayedOf);
  }
}

const replayedOf = (row: StoredReplayed): ReplayedDelivery => ({
  deliveryId: row.id,
  eventId: row.event_id,
  event: row.event,
  sequence: Number(row.sequence),
  state: row.state,
  replayOf: row.replay_of,
  body: row.body,
});
