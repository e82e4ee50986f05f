import type { Db } from '../../platform/db/index.ts';
import type { DeliveryKind, DeliveryState } from './webhooks.store.ts';
import type { LoggedAttempt } from './deliveries-log.store.ts';

/** A delivery of either kind in a console's list; `atUs` is what the list is sorted by. */
export interface DeliveryListed {
  readonly deliveryId: string;
  readonly teamId: string;
  readonly kind: DeliveryKind;
  /** The subscription, or the detection session. */
  readonly sourceId: string;
  readonly sequence: number;
  readonly event: string;
  readonly eventId: string | null;
  readonly url: string;
  readonly body: string;
  readonly state: DeliveryState;
  readonly attemptCount: number;
  readonly statusCode: number | null;
  readonly replayOf: string | null;
  readonly createdAtMs: number;
  readonly finishedAtMs: number | null;
  readonly atUs: string;
}

export interface DeliveryQuery {
  readonly kind: DeliveryKind | null;
  readonly sourceId: string | null;
  readonly state: DeliveryState | null;
  readonly event: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

const MATCHES = `
  and ($2::text is null or kind = $2) and ($3::uuid is null or source_id = $3)
  and ($4::text is null or state = $4) and ($5::text is null or event = $5)
  and ($6::timestamptz is null or created_at >= $6) and ($7::timestamptz is null or created_at < $7)`;

const COLUMNS = `id, team_id, kind, source_id, sequence, event, event_id, url, body, state, attempts, status_code,
  replay_of, created_at, finished_at, (extract(epoch from created_at) * 1000000)::bigint as at_us`;

const LIST_SQL = `
select ${COLUMNS} from webhook_deliveries
where team_id = $1 ${MATCHES}
  and ($8::bigint is null
    or (created_at, id) < (timestamptz 'epoch' + $8 * interval '1 microsecond', $9::uuid))
order by created_at desc, id desc limit $10`;

const COUNT_SQL = `select count(*) as n from webhook_deliveries where team_id = $1 ${MATCHES}`;

const FIND_SQL = `select ${COLUMNS} from webhook_deliveries where team_id = $1 and id = any($2::uuid[])`;

const ATTEMPTS_SQL = `
select delivery_id, attempt, started_at, duration_ms, status_code, error, response_excerpt from webhook_attempts
where team_id = $1 and delivery_id = any($2::uuid[]) order by delivery_id, attempt`;

/** Deliveries as consoles read them. */
export class DeliveriesQueryStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async list(
    teamId: string,
    query: DeliveryQuery,
    page: { atUs: string | null; id: string | null; limit: number },
  ): Promise<DeliveryListed[]> {
    const values = [teamId, ...valuesOf(query), page.atUs, page.id, page.limit];
    return (await this.#db.query<DeliveryRow>(LIST_SQL, values)).rows.map(listedOf);
  }

  async count(teamId: string, query: DeliveryQuery): Promise<number> {
    const { rows } = await this.#db.query<{ n: bigint }>(COUNT_SQL, [teamId, ...valuesOf(query)]);
    return Number(rows[0]?.n ?? 0);
  }

  async find(teamId: string, deliveryIds: readonly string[]): Promise<DeliveryListed[]> {
    return (await this.#db.query<DeliveryRow>(FIND_SQL, [teamId, deliveryIds])).rows.map(listedOf);
  }

  async attempts(teamId: string, deliveryIds: readonly string[]): Promise<Map<string, LoggedAttempt[]>> {
    const byDelivery = new Map<string, LoggedAttempt[]>(deliveryIds.map((id) => [id, []]));
    const { rows } = await this.#db.query<AttemptSqlRow>(ATTEMPTS_SQL, [teamId, deliveryIds]);
    for (const row of rows) {
      byDelivery.get(row.delivery_id)?.push({
        ...{ attempt: row.attempt, startedAtMs: row.started_at.getTime(), durationMs: row.duration_ms },
        ...{ statusCode: row.status_code, error: row.error, responseExcerpt: row.response_excerpt },
      });
    }
    return byDelivery;
  }
}

const valuesOf = (query: DeliveryQuery): unknown[] => [
  ...[query.kind, query.sourceId, query.state, query.event],
  query.fromMs === null ? null : new Date(query.fromMs),
  query.toMs === null ? null : new Date(query.toMs),
];

interface DeliveryRow {
  id: string;
  team_id: string;
  kind: DeliveryKind;
  source_id: string;
  sequence: bigint;
  event: string;
  event_id: string | null;
  url: string;
  body: string;
  state: DeliveryState;
  attempts: number;
  status_code: number | null;
  replay_of: string | null;
  created_at: Date;
  finished_at: Date | null;
  at_us: bigint;
}

interface AttemptSqlRow {
  delivery_id: string;
  attempt: number;
  started_at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  response_excerpt: string | null;
}

const listedOf = (row: DeliveryRow): DeliveryListed => ({
  ...{ deliveryId: row.id, teamId: row.team_id, kind: row.kind, sourceId: row.source_id },
  ...{ sequence: Number(row.sequence), event: row.event, eventId: row.event_id, url: row.url },
  ...{ body: row.body, state: row.state, attemptCount: row.attempts, statusCode: row.status_code },
  ...{ replayOf: row.replay_of, createdAtMs: row.created_at.getTime() },
  ...{ finishedAtMs: row.finished_at?.getTime() ?? null, atUs: String(row.at_us) },
});
