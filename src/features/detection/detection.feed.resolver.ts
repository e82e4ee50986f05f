import {
  actIn,
  Args,
  ArgsType,
  EventStream,
  FeedKey,
  Field,
  ID,
  ObjectType,
  Resolver,
  Root,
  Subscription,
} from '../../platform/graphql/index.ts';
import type { GraphContext } from '../../platform/graphql/index.ts';
import type { DetectionFeed } from './detection.feed.service.ts';
import type { FeedEvent } from './detection.feed.store.ts';
import { DetectionEventType } from './session.graph.type.ts';

export const DETECTION_FEED = new FeedKey<DetectionFeed>('detection events');

@ObjectType('LiveDetectionEvent', { description: 'An event with the session it belongs to.' })
export class LiveDetectionEventType extends DetectionEventType implements Omit<FeedEvent, 'teamId'> {
  @Field(() => ID)
  sessionId!: string;

  @Field(() => ID)
  keyId!: string;

  @Field(() => String, { nullable: true })
  callId!: string | null;
}

@ArgsType()
class FeedArgs {
  @Field(() => ID, { nullable: true })
  sessionId?: string | null;

  @Field(() => ID, { nullable: true })
  keyId?: string | null;

  @Field(() => ID, { nullable: true, description: 'For operators: the account; omitted, the own.' })
  teamId?: string | null;
}

/** Nobody takes from it before its watcher is known: the feed delivers later. */
async function openStream(context: GraphContext, args: FeedArgs): Promise<EventStream<FeedEvent>> {
  const caller = await actIn(context, args.teamId);
  let stop: () => void = () => undefined;
  const stream = new EventStream<FeedEvent>(() => stop());
  const filter = { sessionId: args.sessionId ?? null, keyId: args.keyId ?? null };
  stop = await context.feeds.of(DETECTION_FEED).watch(caller, filter, stream);
  return stream;
}

@Resolver()
export class DetectionFeedResolver {
  @Subscription(() => LiveDetectionEventType, {
    description: 'Events of detection sessions as they come; without arguments of all. Scope balance:read.',
    subscribe: ({ context, args }) => openStream(context as GraphContext, args as FeedArgs),
  })
  detectionEvents(@Root() event: FeedEvent, @Args(() => FeedArgs) _args: FeedArgs): FeedEvent {
    return event;
  }
}
