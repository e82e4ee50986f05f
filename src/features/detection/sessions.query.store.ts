import type { Db } from '../../platform/db/index.ts';
import type { SessionEventView, SessionView } from './sessions.store.ts';

/** A session in a console's list; `atUs` is what the list is sorted by. */
export type SessionListed = SessionView & {
  readonly teamId: string;
  readonly encoding: string;
  readonly sampleRateHz: number;
  readonly atUs: string;
};

export interface SessionQuery {
  readonly state: 'live' | 'ended' | 'lost' | null;
  readonly keyId: string | null;
  readonly callId: string | null;
  readonly verdict: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

/** When a session's verdicts came, milliseconds; media time counts from its first audio. */
export interface SessionLatency {
  readonly timeToVerdictMs: number | null;
  readonly timeToFinalMs: number | null;
  /** From the session's start by the clock. */
  readonly wallToVerdictMs: number | null;
  /** What the last verdict was founded on. */
  readonly evidence: Readonly<Record<string, unknown>> | null;
}

export interface StatsRow {
  readonly keyId: string | null;
  readonly hourMs: number | null;
  readonly sessions: number;
  readonly livePerson: number;
  readonly voicemail: number;
  readonly silence: number;
  readonly unknown: number;
  readonly none: number;
  readonly beeps: number;
  readonly audioMs: number;
  readonly timeToVerdictP50Ms: number | null;
  readonly timeToVerdictP95Ms: number | null;
}

const COLUMNS = `id, team_id, key_id, call_id, source, strategy, audio_encoding, sample_rate_hz, state, verdict,
  verdict_final, confidence, reason, beep_at_ms, beep_frequency_hz, last_event, last_event_at, audio_ms, started_at,
  ended_at, end_reason, (extract(epoch from started_at) * 1000000)::bigint as at_us`;

const MATCHES = `
  and ($2::text is null or state = $2) and ($3::uuid is null or key_id = $3)
  and ($4::text is null or call_id = $4) and ($5::text is null or verdict = $5)
  and ($6::timestamptz is null or started_at >= $6) and ($7::timestamptz is null or started_at < $7)`;

const LIST_SQL = `
select ${COLUMNS} from detection_sessions
where team_id = $1 ${MATCHES}
  and ($8::bigint is null
    or (started_at, id) < (timestamptz 'epoch' + $8 * interval '1 microsecond', $9::uuid))
order by started_at desc, id desc limit $10`;

const COUNT_SQL = `select count(*) as n from detection_sessions where team_id = $1 ${MATCHES}`;

const FIND_SQL = `select ${COLUMNS} from detection_sessions where team_id = $1 and id = any($2::uuid[])`;

/** The first $3 events of each session. */
const EVENTS_SQL = `
select e.* from unnest($2::uuid[]) as s (id)
cross join lateral (
  select session_id, sequence, event, timestamp_ms, payload, created_at from detection_events
  where team_id = $1 and session_id = s.id order by sequence limit $3
) e`;

const LATENCY_SQL = `
select e.session_id,
  min(e.timestamp_ms) as first_ms,
  min(e.timestamp_ms) filter (where (e.payload ->> 'is_final')::boolean) as final_ms,
  (extract(epoch from min(e.created_at) - s.started_at) * 1000)::bigint as wall_ms,
  (array_agg(e.payload -> 'evidence' order by e.sequence desc))[1] as evidence
from detection_events e join detection_sessions s on s.id = e.session_id and s.team_id = e.team_id
where e.team_id = $1 and e.session_id = any($2::uuid[]) and e.event = 'detection'
group by e.session_id, s.started_at`;

/** All together, by key, and by hour, in one pass. */
const STATS_SQL = `
with found as (
  select s.id, s.key_id, date_trunc('hour', s.started_at, 'UTC') as hour, s.verdict, s.beep_at_ms, s.audio_ms,
    (select e.timestamp_ms from detection_events e
     where e.team_id = $1 and e.session_id = s.id and e.event = 'detection' order by e.sequence limit 1) as first_ms
  from detection_sessions s
  where s.team_id = $1 and s.started_at >= $2 and s.started_at < $3 and ($4::uuid is null or s.key_id = $4)
)
select key_id, hour, count(*) as sessions,
  count(*) filter (where verdict = 'live_person') as live_person,
  count(*) filter (where verdict = 'voicemail') as voicemail,
  count(*) filter (where verdict = 'silence') as silence,
  count(*) filter (where verdict not in ('live_person', 'voicemail', 'silence')) as unknown,
  count(*) filter (where verdict is null) as none,
  count(beep_at_ms) as beeps, coalesce(sum(audio_ms), 0)::bigint as audio_ms,
  percentile_cont(0.5) within group (order by first_ms) as p50,
  percentile_cont(0.95) within group (order by first_ms) as p95
from found
group by grouping sets ((), (key_id), (hour))
order by key_id nulls first, hour nulls first`;

/** Sessions as consoles read them; the hot statements are the journal's. */
export class SessionsQueryStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async list(
    teamId: string,
    query: SessionQuery,
    page: { atUs: string | null; id: string | null; limit: number },
  ): Promise<SessionListed[]> {
    const values = [teamId, ...valuesOf(query), page.atUs, page.id, page.limit];
    return (await this.#db.query<SessionRow>(LIST_SQL, values)).rows.map(listedOf);
  }

  async count(teamId: string, query: SessionQuery): Promise<number> {
    const { rows } = await this.#db.query<{ n: bigint }>(COUNT_SQL, [teamId, ...valuesOf(query)]);
    return Number(rows[0]?.n ?? 0);
  }

  async find(teamId: string, sessionIds: readonly string[]): Promise<SessionListed[]> {
    return (await this.#db.query<SessionRow>(FIND_SQL, [teamId, sessionIds])).rows.map(listedOf);
  }

  async events(
    teamId: string,
    sessionIds: readonly string[],
    limit: number,
  ): Promise<(SessionEventView & { sessionId: string })[]> {
    const { rows } = await this.#db.query<EventRow>(EVENTS_SQL, [teamId, sessionIds, limit]);
    return rows.map((row) => ({
      sessionId: row.session_id,
      sequence: row.sequence,
      event: row.event,
      timestampMs: Number(row.timestamp_ms),
      payload: row.payload,
      createdAtMs: row.created_at.getTime(),
    }));
  }

  async latencies(teamId: string, sessionIds: readonly string[]): Promise<Map<string, SessionLatency>> {
    const { rows } = await this.#db.query<{
      session_id: string;
      first_ms: bigint;
      final_ms: bigint | null;
      wall_ms: bigint;
      evidence: Record<string, unknown> | null;
    }>(LATENCY_SQL, [teamId, sessionIds]);
    return new Map(
      rows.map((row) => [
        row.session_id,
        {
          timeToVerdictMs: Number(row.first_ms),
          timeToFinalMs: row.final_ms === null ? null : Number(row.final_ms),
          wallToVerdictMs: Number(row.wall_ms),
          evidence: row.evidence,
        },
      ]),
    );
  }

  async stats(
    teamId: string,
    of: { fromMs: number; toMs: number; keyId: string | null },
  ): Promise<StatsRow[]> {
    const values = [teamId, new Date(of.fromMs), new Date(of.toMs), of.keyId];
    return (await this.#db.query<StatsSqlRow>(STATS_SQL, values)).rows.map(statsOf);
  }
}

const valuesOf = (query: SessionQuery): unknown[] => [
  ...[query.state, query.keyId, query.callId, query.verdict],
  query.fromMs === null ? null : new Date(query.fromMs),
  query.toMs === null ? null : new Date(query.toMs),
];

interface SessionRow {
  id: string;
  team_id: string;
  key_id: string;
  call_id: string | null;
  source: 'ws' | 'platform';
  strategy: string;
  audio_encoding: string;
  sample_rate_hz: number;
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
  at_us: bigint;
}

interface EventRow {
  session_id: string;
  sequence: number;
  event: string;
  timestamp_ms: bigint;
  payload: Record<string, unknown>;
  created_at: Date;
}

interface StatsSqlRow {
  key_id: string | null;
  hour: Date | null;
  sessions: bigint;
  live_person: bigint;
  voicemail: bigint;
  silence: bigint;
  unknown: bigint;
  none: bigint;
  beeps: bigint;
  audio_ms: bigint;
  p50: number | null;
  p95: number | null;
}

const listedOf = (row: SessionRow): SessionListed => ({
  ...{ sessionId: row.id, teamId: row.team_id, keyId: row.key_id, callId: row.call_id, source: row.source },
  ...{ strategy: row.strategy, encoding: row.audio_encoding, sampleRateHz: row.sample_rate_hz },
  ...{ state: row.state, verdict: row.verdict, verdictFinal: row.verdict_final, confidence: row.confidence },
  ...{ reason: row.reason, beepAtMs: row.beep_at_ms, beepFrequencyHz: row.beep_frequency_hz },
  ...{ lastEvent: row.last_event, lastEventAtMs: row.last_event_at?.getTime() ?? null },
  ...{ audioMs: Number(row.audio_ms), startedAtMs: row.started_at.getTime() },
  ...{ endedAtMs: row.ended_at?.getTime() ?? null, endReason: row.end_reason, atUs: String(row.at_us) },
});

/** Interpolation leaves fractions that mean nothing. */
const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms));

const statsOf = (row: StatsSqlRow): StatsRow => ({
  ...{ keyId: row.key_id, hourMs: row.hour?.getTime() ?? null, sessions: Number(row.sessions) },
  ...{ livePerson: Number(row.live_person), voicemail: Number(row.voicemail) },
  ...{ silence: Number(row.silence), unknown: Number(row.unknown), none: Number(row.none) },
  ...{ beeps: Number(row.beeps), audioMs: Number(row.audio_ms) },
  ...{ timeToVerdictP50Ms: rounded(row.p50), timeToVerdictP95Ms: rounded(row.p95) },
});
