import type { Db } from '../../platform/db/index.ts';

/** A session as it is listed; times are epoch milliseconds. */
export interface SessionView {
  readonly sessionId: string;
  readonly keyId: string;
  readonly callId: string | null;
  readonly source: 'ws' | 'platform';
  readonly strategy: string;
  readonly state: 'live' | 'ended' | 'lost';
  readonly verdict: string | null;
  readonly verdictFinal: boolean;
  readonly confidence: number | null;
  readonly reason: string | null;
  readonly beepAtMs: number | null;
  readonly beepFrequencyHz: number | null;
  readonly lastEvent: string | null;
  readonly lastEventAtMs: number | null;
  readonly audioMs: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly endReason: string | null;
}

/** One line of a session's log. */
export interface SessionEventView {
  readonly sequence: number;
  readonly event: string;
  readonly timestampMs: number;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}

export interface SessionFilter {
  readonly limit: number;
  readonly state: 'live' | 'ended' | 'lost' | null;
  /** Only sessions that started before this one of the list; null: from the newest. */
  readonly after: string | null;
}

const COLUMNS = `id, key_id, call_id, source, strategy, state, verdict, verdict_final, confidence, reason, beep_at_ms,
  beep_frequency_hz, last_event, last_event_at, audio_ms, started_at, ended_at, end_reason`;

const LIST_SQL = `
select ${COLUMNS} from detection_sessions
where team_id = $1 and ($2::text is null or state = $2)
  and ($3::uuid is null
    or (started_at, id) < (select started_at, id from detection_sessions where team_id = $1 and id = $3))
order by started_at desc, id desc limit $4`;

const FIND_SQL = `select ${COLUMNS} from detection_sessions where team_id = $1 and id = $2`;

const EVENTS_SQL = `
select sequence, event, timestamp_ms, payload, created_at from detection_events
where team_id = $1 and session_id = $2 order by sequence`;

const LOSE_OF_SQL = `
update detection_sessions set state = 'lost', ended_at = now(), end_reason = 'lost'
where process_id = $1 and state = 'live'`;

/** Sessions of processes that ended or whose heartbeat stopped; one that comes back says so with its next event. */
const LOSE_OF_DEAD_SQL = `
update detection_sessions s set state = 'lost', ended_at = now(), end_reason = 'lost'
where s.state = 'live' and not exists (
  select from processes p
  where p.id = s.process_id and p.ended_at is null and p.heartbeat_at > now() - make_interval(secs => $1))
and s.started_at < now() - make_interval(secs => $1)`;

const DELETE_OLD_SQL = `
delete from detection_sessions where id in (
  select id from detection_sessions where started_at < $1 order by started_at limit $2)`;

interface Row {
  id: string;
  key_id: string;
  call_id: string | null;
  source: 'ws' | 'platform';
  strategy: string;
  state: 'live' | 'ended' | 'lost';
  verdict: string | null;
  verdict_final: boolean;
  confidence: number | null;
  reason: string | null;
  beep_at_ms: number | null;
  beep_frequency_hz: number | null;
  last_event: string | null;
  last_event_at: Date | null;
  audio_ms: bigint;
  started_at: Date;
  ended_at: Date | null;
  end_reason: string | null;
}

const viewOf = (row: Row): SessionView => ({
  sessionId: row.id,
  keyId: row.key_id,
  callId: row.call_id,
  source: row.source,
  strategy: row.strategy,
  state: row.state,
  verdict: row.verdict,
  verdictFinal: row.verdict_final,
  confidence: row.confidence,
  reason: row.reason,
  beepAtMs: row.beep_at_ms,
  beepFrequencyHz: row.beep_frequency_hz,
  lastEvent: row.last_event,
  lastEventAtMs: row.last_event_at?.getTime() ?? null,
  audioMs: Number(row.audio_ms),
  startedAtMs: row.started_at.getTime(),
  endedAtMs: row.ended_at?.getTime() ?? null,
  endReason: row.end_reason,
});

/** Reads the session log, and keeps it. */
export class SessionsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async list(teamId: string, { limit, state, after }: SessionFilter): Promise<SessionView[]> {
    const { rows } = await this.#db.query<Row>(LIST_SQL, [teamId, state, after, limit]);
    return rows.map(viewOf);
  }

  async find(teamId: string, sessionId: string): Promise<SessionView | null> {
    const { rows } = await this.#db.query<Row>(FIND_SQL, [teamId, sessionId]);
    return rows[0] ? viewOf(rows[0]) : null;
  }

  async events(teamId: string, sessionId: string): Promise<SessionEventView[]> {
    const { rows } = await this.#db.query<{
      sequence: number;
      event: string;
      timestamp_ms: bigint;
      payload: Record<string, unknown>;
      created_at: Date;
    }>(EVENTS_SQL, [teamId, sessionId]);
    return rows.map((row) => ({
      sequence: row.sequence,
      event: row.event,
      timestampMs: Number(row.timestamp_ms),
      payload: row.payload,
      createdAtMs: row.created_at.getTime(),
    }));
  }

  async loseOfProcess(processId: string): Promise<number> {
    return (await this.#db.query(LOSE_OF_SQL, [processId])).rowCount ?? 0;
  }

  async loseOfDeadProcesses(staleSec: number): Promise<number> {
    return (await this.#db.query(LOSE_OF_DEAD_SQL, [staleSec])).rowCount ?? 0;
  }

  /** Deletes up to `limit` sessions that started before; how many went. Their events go with them. */
  async deleteOlderThan(startedBefore: Date, limit: number): Promise<number> {
    return (await this.#db.query(DELETE_OLD_SQL, [startedBefore, limit])).rowCount ?? 0;
  }
}
