import {
  connectionOf,
  DateTime,
  enumOf,
  Field,
  Float,
  ID,
  InputType,
  Int,
  Json,
  ObjectType,
} from '../../platform/graphql/index.ts';
import { EVENT_NAMES } from './event.type.ts';
import type { SessionLatency, SessionListed, StatsRow } from './sessions.query.store.ts';
import type { SessionEventView } from './sessions.store.ts';

export const SessionStateEnum = enumOf('DetectionSessionState', ['live', 'ended', 'lost']);
export const VerdictEnum = enumOf('DetectionVerdict', ['live_person', 'voicemail', 'silence', 'unknown']);
const SourceEnum = enumOf('DetectionSource', ['ws', 'platform']);
const StrategyEnum = enumOf('DetectionStrategy', ['standard', 'beep_only', 'live_check']);
const EncodingEnum = enumOf('AudioEncoding', ['pcm16', 'mulaw', 'alaw']);
export const EventNameEnum = enumOf('DetectionEventName', EVENT_NAMES);

@ObjectType('DetectionEvent')
export class DetectionEventType implements SessionEventView {
  @Field(() => Int, { description: 'From 1 within the session.' })
  sequence!: number;

  @Field(() => EventNameEnum)
  event!: string;

  @Field(() => Float, { description: "Media time: milliseconds since the session's first audio." })
  timestampMs!: number;

  @Field(() => Json, { description: 'As the socket says it.' })
  payload!: Readonly<Record<string, unknown>>;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('DetectionLatency')
export class DetectionLatencyType implements Omit<SessionLatency, 'evidence'> {
  @Field(() => Float, { nullable: true, description: 'Media time of the first verdict.' })
  timeToVerdictMs!: number | null;

  @Field(() => Float, { nullable: true, description: 'Media time of the final verdict.' })
  timeToFinalMs!: number | null;

  @Field(() => Float, {
    nullable: true,
    description: "From the session's start to the first verdict, by the clock.",
  })
  wallToVerdictMs!: number | null;
}

@ObjectType('DetectionSession')
export class DetectionSessionType implements Omit<SessionListed, 'atUs' | 'teamId' | 'encoding'> {
  @Field(() => ID, { name: 'id' })
  sessionId!: string;

  @Field(() => ID)
  keyId!: string;

  @Field(() => String, { nullable: true })
  callId!: string | null;

  @Field(() => SourceEnum)
  source!: 'ws' | 'platform';

  @Field(() => StrategyEnum)
  strategy!: string;

  @Field(() => EncodingEnum, { name: 'audioEncoding' })
  encoding!: string;

  @Field(() => Int)
  sampleRateHz!: number;

  @Field(() => SessionStateEnum)
  state!: 'live' | 'ended' | 'lost';

  @Field(() => VerdictEnum, { nullable: true })
  verdict!: string | null;

  @Field(() => Boolean)
  verdictFinal!: boolean;

  @Field(() => Float, { nullable: true })
  confidence!: number | null;

  @Field(() => String, { nullable: true })
  reason!: string | null;

  @Field(() => Float, { nullable: true, description: 'Media time at which the beep ended.' })
  beepAtMs!: number | null;

  @Field(() => Float, { nullable: true })
  beepFrequencyHz!: number | null;

  @Field(() => EventNameEnum, { nullable: true })
  lastEvent!: string | null;

  @Field(() => DateTime, { name: 'lastEventAt', nullable: true })
  lastEventAtMs!: number | null;

  @Field(() => Float, { name: 'audioSeconds' })
  audioSeconds(): number {
    return this.audioMs / 1_000;
  }

  audioMs!: number;

  @Field(() => DateTime, { name: 'startedAt' })
  startedAtMs!: number;

  @Field(() => DateTime, { name: 'endedAt', nullable: true })
  endedAtMs!: number | null;

  @Field(() => String, { nullable: true })
  endReason!: string | null;
}

@ObjectType('DetectionFigures', { description: 'Counts of sessions, and the time to their first verdict.' })
export class DetectionFiguresType implements Omit<StatsRow, 'keyId' | 'hourMs'> {
  @Field(() => Int)
  sessions!: number;

  @Field(() => Int)
  livePerson!: number;

  @Field(() => Int)
  voicemail!: number;

  @Field(() => Int)
  silence!: number;

  @Field(() => Int)
  unknown!: number;

  @Field(() => Int, { description: 'Sessions without a verdict.' })
  none!: number;

  @Field(() => Int)
  beeps!: number;

  @Field(() => Float)
  audioSeconds(): number {
    return this.audioMs / 1_000;
  }

  audioMs!: number;

  @Field(() => Float, { nullable: true, description: 'Media milliseconds.' })
  timeToVerdictP50Ms!: number | null;

  @Field(() => Float, { nullable: true, description: 'Media milliseconds.' })
  timeToVerdictP95Ms!: number | null;
}

@ObjectType('DetectionKeyFigures')
export class DetectionKeyFiguresType extends DetectionFiguresType {
  @Field(() => ID)
  keyId!: string;
}

@ObjectType('DetectionHourFigures')
export class DetectionHourFiguresType extends DetectionFiguresType {
  @Field(() => DateTime, { name: 'hour', description: 'Its beginning, in UTC.' })
  hourMs!: number;
}

@ObjectType('DetectionStats')
export class DetectionStatsType {
  @Field(() => DateTime, { name: 'from' })
  fromMs!: number;

  @Field(() => DateTime, { name: 'to' })
  toMs!: number;

  @Field(() => DetectionFiguresType)
  all!: StatsRow;

  @Field(() => [DetectionKeyFiguresType])
  byKey!: readonly StatsRow[];

  @Field(() => [DetectionHourFiguresType])
  byHour!: readonly StatsRow[];
}

@InputType('DetectionSessionFilter')
export class SessionFilterInput {
  @Field(() => SessionStateEnum, { nullable: true })
  state?: 'live' | 'ended' | 'lost' | null;

  @Field(() => ID, { nullable: true })
  keyId?: string | null;

  @Field(() => String, { nullable: true })
  callId?: string | null;

  @Field(() => VerdictEnum, { nullable: true })
  verdict?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Sessions that started at or after.' })
  from?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Sessions that started before.' })
  to?: number | null;
}

export const DetectionSessionConnection = connectionOf<SessionListed>(
  'DetectionSession',
  () => DetectionSessionType,
);
