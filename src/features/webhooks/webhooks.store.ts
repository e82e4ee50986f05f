import type { Db, Tx } from '../../platform/db/index.ts';

export type DeliveryKind = 'detection' | 'subscription';
/** `dropped`: not sent, kept for a replay. */
export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'dropped';

/** A delivery to be made: `body` is the exact text that is signed and sent. */
export interface NewDelivery {
  deliveryId: string;
  teamId: string;
  kind: DeliveryKind;
  /** The session, or the subscription. */
  sourceId: string;
  /** From 1 within the source; the body carries it too. */
  sequence: number;
  event: string;
  url: string;
  /** The integrator's own. */
  headers: Record<string, string>;
  body: string;
  /** The Detection key, or the subscription. */
  signingKeyId: string;
  /** The event's own id, the same over subscriptions and replays; detection has none. */
  eventId?: string;
  /** The delivery that this one repeats. */
  replayOf?: string;
  /** Recorded without being sent, for a replay. */
  isDropped?: boolean;
  /** The account keeps what was said; otherwise it leaves the stored body once the delivery is final. */
  keepTranscripts?: boolean;
  createdAtMs: number;
}

export interface PendingDelivery {
  deliveryId: string;
  teamId: string;
  kind: DeliveryKind;
  sourceId: string;
  eventId: string | null;
  replayOf: string | null;
  event: string;
  url: string;
  headers: Record<string, string>;
  body: string;
  signingKeyId: string;
  keepTranscripts: boolean;
  attempts: number;
  createdAtMs: number;
  /** Start of the first recorded attempt. */
  firstStartedMs: number | null;
}

export interface AttemptRow {
  deliveryId: string;
  teamId: string;
  attempt: number;
  startedAtMs: number;
  durationMs: number;
  statusCode: number | null;
  /** What went wrong, in a word: timeout, refused, dns, tls, target, … */
  error: string | null;
  responseExcerpt: string | null;
}

export interface DeliveryEnd {
  state: DeliveryState;
  finishedAtMs: number | null;
  /** Replaces the stored body; null: it stays. */
  strippedBody: string | null;
}

const INSERT_SQL = `
insert into webhook_deliveries (id, team_id, kind, source_id, sequence, event, url, headers, body, signing_key_id,
  keep_transcripts, created_at, event_id, replay_of, state, finished_at)
select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::bigint[], $6::text[], $7::text[],
  $8::jsonb[], $9::text[], $10::uuid[], $11::boolean[], $12::timestamptz[], $13::uuid[], $14::uuid[], $15::text[],
  $16::timestamptz[])
on conflict (id) do nothing`;

const FIND_PENDING_SQL = `
select d.team_id, d.kind, d.source_id, d.event_id, d.replay_of, d.event, d.url, d.headers, d.body, d.signing_key_id,
  d.keep_transcripts, d.attempts, d.created_at,
  (select a.started_at from webhook_attempts a where a.delivery_id = d.id and a.attempt = 1) as first_started_at
from webhook_deliveries d
where d.id = $1 and d.state = 'pending'`;

/** Compare and set: counts the attempt only when nobody else recorded it. */
const RECORD_SQL = `
with changed as (
  update webhook_deliveries
  set attempts = $3, status_code = $6, state = $9::text, finished_at = $10::timestamptz,
    body = coalesce($11::text, body), headers = case when $9::text = 'pending' then headers else '{}' end
  where id = $1 and state = 'pending' and attempts = $3 - 1
  returning id
)
insert into webhook_attempts
  (delivery_id, team_id, attempt, started_at, duration_ms, status_code, error, response_excerpt)
select id, $2, $3, $4, $5, $6, $7, $8 from changed`;

const DROP_SQL = `
update webhook_deliveries set state = 'dropped', finished_at = $3
where id = $1 and team_id = $2 and state = 'pending'`;

const DELETE_OLD_SQL = `
with old as (
  select id from webhook_deliveries where created_at < $1 and state <> 'pending' order by created_at limit $2
)
delete from webhook_deliveries d using old where d.id = old.id`;

/** One statement for all rows; rows whose id is there already are left as they are. */
export async function insertDeliveries(tx: Tx, rows: readonly NewDelivery[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(INSERT_SQL, [
    rows.map((r) => r.deliveryId),
    rows.map((r) => r.teamId),
    rows.map((r) => r.kind),
    rows.map((r) => r.sourceId),
    rows.map((r) => r.sequence),
    rows.map((r) => r.event),
    rows.map((r) => r.url),
    rows.map((r) => JSON.stringify(r.headers)),
    rows.map((r) => r.body),
    rows.map((r) => r.signingKeyId),
    rows.map((r) => r.keepTranscripts ?? false),
    rows.map((r) => new Date(r.createdAtMs)),
    rows.map((r) => r.eventId ?? null),
    rows.map((r) => r.replayOf ?? null),
    rows.map((r): DeliveryState => (r.isDropped ? 'dropped' : 'pending')),
    rows.map((r) => (r.isDropped ? new Date(r.createdAtMs) : null)),
  ]);
}

/** The statements on webhook_deliveries and webhook_attempts. */
export class WebhooksStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async findPending(deliveryId: string): Promise<PendingDelivery | null> {
    const { rows } = await this.#db.query<{
      team_id: string;
      kind: DeliveryKind;
      source_id: string;
      event_id: string | null;
      replay_of: string | null;
      event: string;
      url: string;
      headers: Record<string, string>;
      body: string;
      signing_key_id: string;
      keep_transcripts: boolean;
      attempts: number;
      created_at: Date;
      first_started_at: Date | null;
    }>(FIND_PENDING_SQL, [deliveryId]);
    const row = rows[0];
    if (!row) return null;
    const { kind, event, url, headers, body, attempts } = row;
    return {
      ...{ deliveryId, kind, event, url, headers, body, attempts },
      ...{ teamId: row.team_id, sourceId: row.source_id, eventId: row.event_id, replayOf: row.replay_of },
      signingKeyId: row.signing_key_id,
      keepTranscripts: row.keep_transcripts,
      createdAtMs: row.created_at.getTime(),
      firstStartedMs: row.first_started_at?.getTime() ?? null,
    };
  }

  /** Ends a pending delivery without another attempt; false: it is not pending any more. */
  async drop(tx: Tx, delivery: { deliveryId: string; teamId: string; nowMs: number }): Promise<boolean> {
    const { rowCount } = await tx.query(DROP_SQL, [
      ...[delivery.deliveryId, delivery.teamId],
      new Date(delivery.nowMs),
    ]);
    return rowCount === 1;
  }

  /** False: the attempt was recorded by another. */
  async record(tx: Tx, attempt: AttemptRow, end: DeliveryEnd): Promise<boolean> {
    const { rowCount } = await tx.query(RECORD_SQL, [
      attempt.deliveryId,
      attempt.teamId,
      attempt.attempt,
      new Date(attempt.startedAtMs),
      Math.round(attempt.durationMs),
      attempt.statusCode,
      attempt.error,
      attempt.responseExcerpt,
      end.state,
      end.finishedAtMs === null ? null : new Date(end.finishedAtMs),
      end.strippedBody,
    ]);
    return rowCount === 1;
  }

  /** Deletes final deliveries made before `beforeMs`, oldest first, at most `max`; how many. */
  async deleteOld(beforeMs: number, max: number): Promise<number> {
    const { rowCount } = await this.#db.query(DELETE_OLD_SQL, [new Date(beforeMs), max]);
    return rowCount ?? 0;
  }
}
