import { newestFirst } from '../../kernel/keyset.ts';
import { invalidField } from '../../kernel/text.ts';
import {
  actIn,
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  keysetOf,
  Query,
  Resolver,
  Root,
  TeamPageArgs,
  within,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext } from '../../platform/graphql/index.ts';
import type { DeliveriesQueryService } from './deliveries.query.service.ts';
import type { DeliveryListed, DeliveryQuery } from './deliveries.query.store.ts';
import type { LoggedAttempt } from './deliveries-log.store.ts';
import type { EventType } from './event-types.rules.ts';
import type { SubscriptionsService } from './subscriptions.service.ts';
import {
  DeliveryFilterInput,
  WebhookAttemptType,
  WebhookConnection,
  WebhookDeliveryConnection,
  WebhookDeliveryType,
  WebhookEventTypeType,
} from './webhook.graph.type.ts';
import type { WebhookView } from './webhook.graph.type.ts';

@ArgsType()
class DeliveriesArgs extends TeamPageArgs {
  @Field(() => DeliveryFilterInput, { nullable: true })
  filter?: DeliveryFilterInput | null;
}

@Resolver(() => WebhookDeliveryType)
export class WebhooksResolver {
  readonly #webhooks: SubscriptionsService;
  readonly #deliveries: DeliveriesQueryService;

  constructor(options: { webhooks: SubscriptionsService; deliveries: DeliveriesQueryService }) {
    this.#webhooks = options.webhooks;
    this.#deliveries = options.deliveries;
  }

  @Query(() => WebhookConnection, {
    nullable: true,
    description: 'Webhook subscriptions, newest first. Scope webhooks:read.',
  })
  async webhooks(
    @Ctx() context: GraphContext,
    @Args(() => TeamPageArgs) args: TeamPageArgs,
  ): Promise<ConnectionShape<WebhookView>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const all = (await this.#webhooks.list(caller)).map((one) => ({ ...one, teamId: caller.teamId }));
    const page = newestFirst(all, keyset, (one) => ({ atMs: one.createdAtMs, id: one.subscriptionId }));
    return new WebhookConnection({ keyset, ...page, count: async () => all.length });
  }

  @Query(() => [WebhookEventTypeType], {
    nullable: true,
    description: 'The catalogue of events. Scope webhooks:read.',
  })
  webhookEventTypes(@Ctx() { caller }: GraphContext): readonly EventType[] {
    return this.#webhooks.eventTypes(caller);
  }

  @Query(() => WebhookDeliveryConnection, {
    nullable: true,
    description: 'Deliveries to subscriptions and of detection sessions, newest first. Scope webhooks:read.',
  })
  async webhookDeliveries(
    @Ctx() context: GraphContext,
    @Args(() => DeliveriesArgs) args: DeliveriesArgs,
  ): Promise<ConnectionShape<DeliveryListed>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const query = queryOf(args.filter ?? {});
    return new WebhookDeliveryConnection({
      keyset,
      page: await this.#deliveries.list(caller, query, keyset),
      keyOf: (delivery) => [delivery.atUs, delivery.deliveryId],
      count: () => this.#deliveries.count(caller, query),
    });
  }

  @Query(() => WebhookDeliveryType, { nullable: true, description: 'Scope webhooks:read.' })
  async webhookDelivery(
    @Ctx() context: GraphContext,
    @Arg('id', () => ID) id: string,
    @Arg('teamId', () => ID, { nullable: true }) teamId?: string | null,
  ): Promise<DeliveryListed> {
    return this.#deliveries.get(await actIn(context, teamId), id);
  }

  @FieldResolver(() => [WebhookAttemptType], { nullable: true })
  async attempts(
    @Root() { teamId, deliveryId }: DeliveryListed,
    @Ctx() context: GraphContext,
  ): Promise<LoggedAttempt[] | null> {
    const loader = context.loaders.of(`delivery.attempts ${teamId}`, (ids) =>
      this.#deliveries.attemptsOf(within(context, teamId), ids),
    );
    return loader.load(deliveryId);
  }
}

function queryOf(filter: DeliveryFilterInput): DeliveryQuery {
  const { webhookId, sessionId } = filter;
  if (webhookId != null && sessionId != null) {
    throw invalidField('filter', 'Give webhookId or sessionId, not both.');
  }
  const isOfSession = sessionId != null;
  return {
    kind: filter.kind ?? (webhookId != null ? 'subscription' : isOfSession ? 'detection' : null),
    sourceId: webhookId ?? sessionId ?? null,
    state: filter.state ?? null,
    event: filter.event ?? null,
    fromMs: filter.from ?? null,
    toMs: filter.to ?? null,
  };
}
