import {
  actIn,
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  given,
  keysetOf,
  mutate,
  Mutation,
  Query,
  Resolver,
  TeamPageArgs,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext, Payload } from '../../platform/graphql/index.ts';
import {
  EmailConnection,
  EmailFilterInput,
  RotateMailWebhookSecretInput,
  RotateMailWebhookSecretPayload,
} from './email.type.ts';
import type { EmailHistory, PlacedEmail } from './history.service.ts';
import type { HookAddresses, MailHooks } from './hooks.service.ts';

@ArgsType()
class EmailsArgs extends TeamPageArgs {
  @Field(() => EmailFilterInput, { nullable: true })
  filter?: EmailFilterInput | null;
}

@Resolver()
export class EmailResolver {
  readonly #history: EmailHistory;
  readonly #hooks: MailHooks;

  constructor(options: { history: EmailHistory; hooks: MailHooks }) {
    this.#history = options.history;
    this.#hooks = options.hooks;
  }

  @Query(() => EmailConnection, {
    nullable: true,
    description: 'Both ways, blocked ones too, newest first. Scope contacts:read.',
  })
  async emails(
    @Ctx() context: GraphContext,
    @Args(() => EmailsArgs) args: EmailsArgs,
  ): Promise<ConnectionShape<PlacedEmail>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const wish = given(args.filter ?? {});
    return new EmailConnection({
      keyset,
      page: await this.#history.page(caller, wish, keyset),
      keyOf: ({ at }) => [at.atUs, at.id],
      count: () => this.#history.count(caller, wish),
    });
  }

  @Mutation(() => RotateMailWebhookSecretPayload, {
    nullable: true,
    description:
      'A new secret for the mail webhooks of a connection; the former one stops. Scope account:write.',
  })
  async rotateMailWebhookSecret(
    @Ctx() context: GraphContext,
    @Arg('input', () => RotateMailWebhookSecretInput) input: RotateMailWebhookSecretInput,
  ): Promise<Payload<'mailWebhook', HookAddresses>> {
    return mutate(context, { name: 'rotateMailWebhookSecret', field: 'mailWebhook', input }, (caller) =>
      this.#hooks.rotate(caller, input.carrierId),
    );
  }
}
