import type { Tx } from '../../platform/db/index.ts';
import type { LoggedEvent, SessionRecord } from './session-record.type.ts';

/** NOTIFY channel of committed events; payload: account, session, first and last sequence number. */
export const DETECTION_EVENTS_CHANNEL = 'detection_events';

/** A later state of a session replaces an earlier one; what it was begun with stays. */
const UPSERT_SESSIONS_SQL = `
insert into detection_sessions as s (
  id, team_id, key_id, process_id, call_id, source, strategy, audio_encoding, sample_rate_hz, state, verdict,
  verdict_final, confidence, reason, beep_at_ms, beep_frequency_hz, last_event, last_event_at, audio_ms, started_at,
  ended_at, end_reason)
select id, team_id, key_id, $1, call_id, source, strategy, audio_encoding, sample_rate_hz, state, verdict,
  verdict_final, confidence, reason, beep_at_ms, beep_frequency_hz, last_event, last_event_at, audio_ms, started_at,
  ended_at, end_reason
from unnest(
  $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::text[],
  $11::text[], $12::boolean[], $13::real[], $14::text[], $15::int[], $16::real[], $17::text[], $18::timestamptz[],
  $19::bigint[], $20::timestamptz[], $21::timestamptz[], $22::text[]
) as n (
  id, team_id, key_id, call_id, source, strategy, audio_encoding, sample_rate_hz, state, verdict, verdict_final,
  confidence, reason, beep_at_ms, beep_frequency_hz, last_event, last_event_at, audio_ms, started_at, ended_at,
  end_reason)
order by id
on conflict (id) do update set
  state = excluded.state, verdict = excluded.verdict, verdict_final = excluded.verdict_final,
  confidence = excluded.confidence, reason = excluded.reason, beep_at_ms = excluded.beep_at_ms,
  beep_frequency_hz = excluded.beep_frequency_hz, last_event = excluded.last_event,
  last_event_at = excluded.last_event_at, audio_ms = excluded.audio_ms, ended_at = excluded.ended_at,
  end_reason = excluded.end_reason
where s.team_id = excluded.team_id`;

/**
 * Answers the events that were not there yet: a batch whose commit was not confirmed may come again. Who watches sessions
 * live is told of them by NOTIFY, in the same statement: the loop that hears the calls pays nothing for it.
 */
const INSERT_EVENTS_SQL = `
with added as (
  insert into detection_events (session_id, sequence, team_id, event, timestamp_ms, payload, created_at)
  select * from unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[], $5::bigint[], $6::jsonb[], $7::timestamptz[])
  on conflict (session_id, sequence) do nothing
  returning session_id, sequence, team_id
), told as (
  select pg_notify('${DETECTION_EVENTS_CHANNEL}',
    team_id || ' ' || session_id || ' ' || min(sequence) || ' ' || max(sequence))
  from added group by team_id, session_id
)
select session_id, sequence from added where (select count(*) from told) > 0`;

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

/** The journal's statements on detection_sessions and detection_events. */
export class JournalStore {
  readonly #processId: string;

  constructor(processId: string) {
    this.#processId = processId;
  }

  async upsertSessions(tx: Tx, records: readonly SessionRecord[]): Promise<void> {
    const column = <T>(read: (record: SessionRecord) => T): T[] => records.map(read);
    await tx.query(UPSERT_SESSIONS_SQL, [
      this.#processId,
      column((r) => r.sessionId),
      column((r) => r.teamId),
      column((r) => r.keyId),
      column((r) => r.callId),
      column((r) => r.source),
      column((r) => r.strategy),
      column((r) => r.encoding),
      column((r) => r.sampleRateHz),
      column((r) => r.state),
      column((r) => r.verdict),
      column((r) => r.verdictFinal),
      column((r) => r.confidence),
      column((r) => r.reason),
      column((r) => r.beepAtMs),
      column((r) => r.beepFrequencyHz),
      column((r) => r.lastEvent),
      column((r) => dateOf(r.lastEventAtMs)),
      column((r) => Math.round(r.audioMs)),
      column((r) => dateOf(r.startedAtMs)),
      column((r) => dateOf(r.endedAtMs)),
      column((r) => r.endReason),
    ]);
  }

  /** The events that are new, as `session_id sequence`. */
  async insertEvents(tx: Tx, events: readonly LoggedEvent[]): Promise<Set<string>> {
    if (events.length === 0) return new Set();
    const { rows } = await tx.query<{ session_id: string; sequence: number }>(INSERT_EVENTS_SQL, [
      events.map((e) => e.record.sessionId),
      events.map((e) => e.sequence),
      events.map((e) => e.record.teamId),
      events.map((e) => e.event),
      events.map((e) => e.payload.timestamp_ms),
      events.map((e) => JSON.stringify(e.payload)),
      events.map((e) => new Date(e.atMs)),
    ]);
    return new Set(rows.map((row) => `${row.session_id} ${row.sequence}`));
  }
}

export const eventId = (event: LoggedEvent): string => `${event.record.sessionId} ${event.sequence}`;
