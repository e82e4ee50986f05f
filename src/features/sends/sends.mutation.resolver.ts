import { Arg, Ctx, mutate, Mutation, Resolver } from '../../platform/graphql/index.ts';
import type { GraphContext, Payload } from '../../platform/graphql/index.ts';
import type { HeldSendsService } from './held-sends.service.ts';
import { CancelHeldSendPayload, HeldSendInput, RetryHeldSendPayload } from './send.input.type.ts';
import type { SendListed } from './sends.query.store.ts';

@Resolver()
export class SendsMutationResolver {
  readonly #held: HeldSendsService;

  constructor(options: { heldSends: HeldSendsService }) {
    this.#held = options.heldSends;
  }

  @Mutation(() => RetryHeldSendPayload, {
    nullable: true,
    description: 'Lets the rules decide now. Operators with account:write.',
  })
  async retryHeldSend(
    @Ctx() context: GraphContext,
    @Arg('input', () => HeldSendInput) input: HeldSendInput,
  ): Promise<Payload<'send', SendListed>> {
    return mutate(context, { name: 'retryHeldSend', field: 'send', input }, (caller) =>
      this.#held.retry(caller, input.id),
    );
  }

  @Mutation(() => CancelHeldSendPayload, {
    nullable: true,
    description: 'Ends the wait with a result whose reason is `cancelled`. Operators with account:write.',
  })
  async cancelHeldSend(
    @Ctx() context: GraphContext,
    @Arg('input', () => HeldSendInput) input: HeldSendInput,
  ): Promise<Payload<'send', SendListed>> {
    return mutate(context, { name: 'cancelHeldSend', field: 'send', input }, (caller) =>
      this.#held.cancel(caller, input.id),
    );
  }
}
