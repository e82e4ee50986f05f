import {
  actIn,
  Arg,
  Ctx,
  EventStream,
  FeedKey,
  ID,
  mutate,
  Mutation,
  Query,
  Resolver,
  Root,
  Subscription,
} from '../../platform/graphql/index.ts';
import type { GraphContext, Payload } from '../../platform/graphql/index.ts';
import type { SystemService, SystemView } from './system.service.ts';
import type { QueueView } from './system.store.ts';
import {
  PauseQueuePayload,
  QueueNameInput,
  QueueType,
  ResumeQueuePayload,
  SystemType,
} from './system.type.ts';

export const SYSTEM_FEED = new FeedKey<SystemService>('system health');

@Resolver()
export class SystemResolver {
  readonly #system: SystemService;

  constructor(options: { system: SystemService }) {
    this.#system = options.system;
  }

  @Query(() => SystemType, {
    nullable: true,
    description: 'Processes, versions and readiness. Scope balance:read; hosts and details for operators.',
  })
  async system(@Ctx() { caller }: GraphContext): Promise<SystemView> {
    return this.#system.system(caller);
  }

  @Query(() => [QueueType], {
    nullable: true,
    description:
      "Work that waits: the account's, for operators that of all accounts or of one. Scope balance:read.",
  })
  async queues(
    @Ctx() context: GraphContext,
    @Arg('teamId', () => ID, { nullable: true }) teamId?: string | null,
  ): Promise<QueueView[]> {
    const caller = await actIn(context, teamId);
    const isOfAll = caller.operator && teamId == null;
    return this.#system.queues(caller, isOfAll ? null : caller.teamId);
  }

  @Mutation(() => PauseQueuePayload, {
    nullable: true,
    description: 'Drains it: what runs ends, nothing further is taken. Operators with account:write.',
  })
  async pauseQueue(
    @Ctx() context: GraphContext,
    @Arg('input', () => QueueNameInput) input: QueueNameInput,
  ): Promise<Payload<'queue', QueueView>> {
    return mutate(context, { name: 'pauseQueue', field: 'queue', input }, (caller) =>
      this.#system.pauseQueue(caller, input.name),
    );
  }

  @Mutation(() => ResumeQueuePayload, { nullable: true, description: 'Operators with account:write.' })
  async resumeQueue(
    @Ctx() context: GraphContext,
    @Arg('input', () => QueueNameInput) input: QueueNameInput,
  ): Promise<Payload<'queue', QueueView>> {
    return mutate(context, { name: 'resumeQueue', field: 'queue', input }, (caller) =>
      this.#system.resumeQueue(caller, input.name),
    );
  }

  @Subscription(() => SystemType, {
    description: 'How the installation is, now and every few seconds. Scope balance:read.',
    subscribe: async ({ context }) => {
      const { caller, feeds } = context as GraphContext;
      let stop: () => void = () => undefined;
      const stream = new EventStream<SystemView>(() => stop());
      stop = await feeds.of(SYSTEM_FEED).watch(caller, stream);
      return stream;
    },
  })
  systemHealth(@Root() system: SystemView): SystemView {
    return system;
  }
}
