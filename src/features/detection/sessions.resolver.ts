import type { Clock } from '../../kernel/clock.ts';
import { invalidField } from '../../kernel/text.ts';
import {
  actIn,
  Arg,
  Args,
  ArgsType,
  Ctx,
  DateTime,
  Field,
  FieldResolver,
  ID,
  Int,
  Json,
  keysetOf,
  Query,
  Resolver,
  Root,
  TeamPageArgs,
  within,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext } from '../../platform/graphql/index.ts';
import {
  DetectionEventType,
  DetectionLatencyType,
  DetectionSessionConnection,
  DetectionSessionType,
  DetectionStatsType,
  SessionFilterInput,
} from './session.graph.type.ts';
import { EVENTS_SHOWN_MAX } from './sessions.query.service.ts';
import type { SessionsQueryService } from './sessions.query.service.ts';
import type { SessionLatency, SessionListed, SessionQuery } from './sessions.query.store.ts';
import type { SessionEventView } from './sessions.store.ts';

const EVENTS_DEFAULT = 20;
const STATS_RANGE_DEFAULT_MS = 86_400_000;

@ArgsType()
class SessionsArgs extends TeamPageArgs {
  @Field(() => SessionFilterInput, { nullable: true })
  filter?: SessionFilterInput | null;
}

@ArgsType()
class StatsArgs {
  @Field(() => ID, { nullable: true, description: 'For operators: the account; omitted, the own.' })
  teamId?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Omitted: a day before `to`.' })
  from?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Omitted: now.' })
  to?: number | null;

  @Field(() => ID, { nullable: true })
  keyId?: string | null;
}

@Resolver(() => DetectionSessionType)
export class SessionsResolver {
  readonly #sessions: SessionsQueryService;
  readonly #clock: Clock;

  constructor(options: { sessions: SessionsQueryService; clock: Clock }) {
    this.#sessions = options.sessions;
    this.#clock = options.clock;
  }

  @Query(() => DetectionSessionConnection, {
    nullable: true,
    description: 'Sessions of the last 7 days, newest first. Scope balance:read.',
  })
  async detectionSessions(
    @Ctx() context: GraphContext,
    @Args(() => SessionsArgs) args: SessionsArgs,
  ): Promise<ConnectionShape<SessionListed>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const query = queryOf(args.filter ?? {});
    return new DetectionSessionConnection({
      keyset,
      page: await this.#sessions.list(caller, query, keyset),
      keyOf: (session) => [session.atUs, session.sessionId],
      count: () => this.#sessions.count(caller, query),
    });
  }

  @Query(() => DetectionSessionType, { nullable: true, description: 'Scope balance:read.' })
  async detectionSession(
    @Ctx() context: GraphContext,
    @Arg('id', () => ID) id: string,
    @Arg('teamId', () => ID, { nullable: true }) teamId?: string | null,
  ): Promise<SessionListed> {
    return this.#sessions.get(await actIn(context, teamId), id);
  }

  @Query(() => DetectionStatsType, {
    nullable: true,
    description:
      'Verdicts, beeps and the time to a verdict, by key and hour; at most 8 days. Scope balance:read.',
  })
  async detectionStats(
    @Ctx() context: GraphContext,
    @Args(() => StatsArgs) args: StatsArgs,
  ): Promise<DetectionStatsType> {
    const caller = await actIn(context, args.teamId);
    const toMs = args.to ?? this.#clock.nowMs();
    const fromMs = args.from ?? toMs - STATS_RANGE_DEFAULT_MS;
    const stats = await this.#sessions.stats(caller, { fromMs, toMs, keyId: args.keyId ?? null });
    const { teamId } = caller;
    return { fromMs, toMs, ...stats, byKey: stats.byKey.map((figures) => ({ ...figures, teamId })) };
  }

  @FieldResolver(() => [DetectionEventType], {
    nullable: true,
    description: `In order; at most ${EVENTS_SHOWN_MAX}.`,
  })
  async events(
    @Root() session: SessionListed,
    @Ctx() context: GraphContext,
    @Arg('first', () => Int, { defaultValue: EVENTS_DEFAULT }) first: number,
  ): Promise<SessionEventView[] | null> {
    if (first < 1 || first > EVENTS_SHOWN_MAX) {
      throw invalidField('first', `first must be 1 to ${EVENTS_SHOWN_MAX}.`);
    }
    const { teamId, sessionId } = session;
    const loader = context.loaders.of(`session.events ${teamId} ${first}`, (ids) =>
      this.#sessions.eventsOf(within(context, teamId), ids, first),
    );
    return loader.load(sessionId);
  }

  @FieldResolver(() => DetectionLatencyType, { nullable: true, description: 'Null without a verdict.' })
  async latency(
    @Root() session: SessionListed,
    @Ctx() context: GraphContext,
  ): Promise<SessionLatency | null> {
    return this.#latency(session, context);
  }

  @FieldResolver(() => Json, {
    nullable: true,
    description: 'Measured values that the last verdict was founded on.',
  })
  async evidence(@Root() session: SessionListed, @Ctx() context: GraphContext): Promise<unknown> {
    return (await this.#latency(session, context))?.evidence ?? null;
  }

  #latency({ teamId, sessionId }: SessionListed, context: GraphContext): Promise<SessionLatency | null> {
    const loader = context.loaders.of(`session.latency ${teamId}`, (ids) =>
      this.#sessions.latenciesOf(within(context, teamId), ids),
    );
    return loader.load(sessionId);
  }
}

const queryOf = (filter: SessionFilterInput): SessionQuery => ({
  state: filter.state ?? null,
  keyId: filter.keyId ?? null,
  callId: filter.callId ?? null,
  verdict: filter.verdict ?? null,
  fromMs: filter.from ?? null,
  toMs: filter.to ?? null,
});
