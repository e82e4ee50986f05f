import { invalidField } from '../../kernel/text.ts';
import {
  actIn,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  given,
  ID,
  keysetOf,
  Query,
  Resolver,
  Root,
  TeamPageArgs,
  within,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext } from '../../platform/graphql/index.ts';
import { SendConnection, SendFilterInput, SendStepType, SendType } from './send.graph.type.ts';
import type { SendFilter, SendsQueryService } from './sends.query.service.ts';
import type { SendListed, Step } from './sends.query.store.ts';

@ArgsType()
class SendsArgs extends TeamPageArgs {
  @Field(() => SendFilterInput, { nullable: true })
  filter?: SendFilterInput | null;
}

@ArgsType()
class SendArgs {
  @Field(() => ID, { nullable: true })
  id?: string | null;

  @Field(() => ID, { nullable: true, description: 'The same as `id`.' })
  messageId?: string | null;

  @Field(() => ID, { nullable: true, description: 'For operators: the account; omitted, the own.' })
  teamId?: string | null;
}

@Resolver(() => SendType)
export class SendsResolver {
  readonly #sends: SendsQueryService;

  constructor(options: { sendsQuery: SendsQueryService }) {
    this.#sends = options.sendsQuery;
  }

  @Query(() => SendConnection, {
    nullable: true,
    description: 'Newest first, of the channels whose scope is held. Scope rvm:send, sms:send or voice:send.',
  })
  async sends(
    @Ctx() context: GraphContext,
    @Args(() => SendsArgs) args: SendsArgs,
  ): Promise<ConnectionShape<SendListed>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const filter = filterOf(args.filter ?? {});
    return new SendConnection({
      keyset,
      page: await this.#sends.list(caller, filter, keyset),
      keyOf: ({ sendId }) => [sendId],
      count: () => this.#sends.count(caller, filter),
    });
  }

  @Query(() => SendType, {
    nullable: true,
    description:
      'By id or messageId; of a channel whose scope is held. Scope rvm:send, sms:send or voice:send.',
  })
  async send(
    @Ctx() context: GraphContext,
    @Args(() => SendArgs) { id, messageId, teamId }: SendArgs,
  ): Promise<SendListed> {
    const named = id ?? messageId;
    if (named == null || (id != null && messageId != null))
      throw invalidField('id', 'Give id or messageId, and not both.');
    return this.#sends.get(await actIn(context, teamId), named);
  }

  @FieldResolver(() => [SendStepType], { nullable: true, description: 'In the order they happened.' })
  async steps(@Root() { teamId, sendId }: SendListed, @Ctx() context: GraphContext): Promise<Step[] | null> {
    const loader = context.loaders.of(`send.steps ${teamId}`, (ids) =>
      this.#sends.stepsOf(within(context, teamId), ids),
    );
    return loader.load(sendId);
  }
}

function filterOf({ channel, from, to, ...filter }: SendFilterInput): SendFilter {
  return {
    ...given(filter),
    ...(channel == null ? {} : { channels: [channel] }),
    ...{ fromMs: from ?? null, toMs: to ?? null },
  };
}
