import type { Db } from '../../platform/db/index.ts';
import type { SessionEventView } from './sessions.store.ts';

/** An event with the session it belongs to. */
export type FeedEvent = SessionEventView & {
  readonly sessionId: string;
  readonly teamId: string;
  readonly keyId: string;
  readonly callId: string | null;
};

/** Events that one commit of the journal added to a session. */
export interface AddedEvents {
  readonly sessionId: string;
  readonly from: number;
  readonly to: number;
}

const COLUMNS = `e.session_id, e.team_id, e.sequence, e.event, e.timestamp_ms, e.payload, e.created_at, s.key_id, s.call_id`;

const ADDED_SQL = `
select ${COLUMNS}
from unnest($1::uuid[], $2::int[], $3::int[]) as w (session_id, first, last)
join detection_events e on e.session_id = w.session_id and e.sequence between w.first and w.last
join detection_sessions s on s.id = e.session_id
where e.team_id = any($4::uuid[])
order by e.created_at, e.session_id, e.sequence`;

/** Of sessions that may still be running, what was written since. */
const SINCE_SQL = `
select ${COLUMNS}
from detection_sessions s join detection_events e on e.session_id = s.id
where s.team_id = any($1::uuid[]) and s.started_at > $2::timestamptz - interval '15 minutes' and e.created_at >= $2
order by e.created_at, e.session_id, e.sequence limit $3`;

const HAS_SESSION_SQL = 'select 1 from detection_sessions where team_id = $1 and id = $2';

interface Row {
  session_id: string;
  team_id: string;
  sequence: number;
  event: string;
  timestamp_ms: bigint;
  payload: Record<string, unknown>;
  created_at: Date;
  key_id: string;
  call_id: string | null;
}

/** What the feed of events reads. */
export class DetectionFeedStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async added(added: readonly AddedEvents[], teamIds: readonly string[]): Promise<FeedEvent[]> {
    const { rows } = await this.#db.query<Row>(ADDED_SQL, [
      added.map((one) => one.sessionId),
      added.map((one) => one.from),
      added.map((one) => one.to),
      teamIds,
    ]);
    return rows.map(eventOf);
  }

  async since(teamIds: readonly string[], sinceMs: number, limit: number): Promise<FeedEvent[]> {
    return (await this.#db.query<Row>(SINCE_SQL, [teamIds, new Date(sinceMs), limit])).rows.map(eventOf);
  }

  async hasSession(teamId: string, sessionId: string): Promise<boolean> {
    return (await this.#db.query(HAS_SESSION_SQL, [teamId, sessionId])).rowCount === 1;
  }
}

const eventOf = (row: Row): FeedEvent => ({
  ...{ sessionId: row.session_id, teamId: row.team_id, keyId: row.key_id, callId: row.call_id },
  ...{ sequence: row.sequence, event: row.event, timestampMs: Number(row.timestamp_ms) },
  ...{ payload: row.payload, createdAtMs: row.created_at.getTime() },
});
