import { newestFirst } from '../../../kernel/keyset.ts';
import {
  actIn,
  Arg,
  Args,
  Ctx,
  given,
  keysetOf,
  mutate,
  Mutation,
  Query,
  Resolver,
  TeamPageArgs,
} from '../../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext, Payload } from '../../../platform/graphql/index.ts';
import {
  CreateDomainInput,
  CreateDomainPayload,
  CreateMailboxInput,
  CreateMailboxPayload,
  MailboxConnection,
  SendingDomainConnection,
  VerifyDomainInput,
  VerifyDomainPayload,
} from './domain.type.ts';
import type { DomainsService, DomainWithRecords } from './domains.service.ts';
import type { MailboxesService } from './mailboxes.service.ts';
import type { Mailbox } from './mailboxes.store.ts';

/** Sending domains and mailboxes. */
@Resolver()
export class DomainsResolver {
  readonly #domains: DomainsService;
  readonly #mailboxes: MailboxesService;

  constructor(options: { domains: DomainsService; mailboxes: MailboxesService }) {
    this.#domains = options.domains;
    this.#mailboxes = options.mailboxes;
  }

  @Query(() => SendingDomainConnection, { nullable: true, description: 'Newest first. Scope email:read.' })
  async sendingDomains(
    @Ctx() context: GraphContext,
    @Args(() => TeamPageArgs) args: TeamPageArgs,
  ): Promise<ConnectionShape<DomainWithRecords>> {
    const keyset = keysetOf(args);
    const domains = await this.#domains.list(await actIn(context, args.teamId));
    const page = newestFirst(domains, keyset, (one) => ({ atMs: one.createdAtMs, id: one.domainId }));
    return new SendingDomainConnection({ keyset, ...page, count: async () => domains.length });
  }

  @Query(() => MailboxConnection, { nullable: true, description: 'Newest first. Scope email:read.' })
  async mailboxes(
    @Ctx() context: GraphContext,
    @Args(() => TeamPageArgs) args: TeamPageArgs,
  ): Promise<ConnectionShape<Mailbox>> {
    const keyset = keysetOf(args);
    const mailboxes = await this.#mailboxes.list(await actIn(context, args.teamId));
    const page = newestFirst(mailboxes, keyset, (one) => ({ atMs: one.createdAtMs, id: one.mailboxId }));
    return new MailboxConnection({ keyset, ...page, count: async () => mailboxes.length });
  }

  @Mutation(() => CreateDomainPayload, {
    nullable: true,
    description: 'Answers the DNS records to publish. Scope account:write.',
  })
  async createSendingDomain(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateDomainInput) input: CreateDomainInput,
  ): Promise<Payload<'sendingDomain', DomainWithRecords>> {
    const { domain, purpose } = input;
    return mutate(context, { name: 'createSendingDomain', field: 'sendingDomain', input }, (caller) =>
      this.#domains.create(caller, { domain, ...given({ purpose }) }),
    );
  }

  @Mutation(() => VerifyDomainPayload, {
    nullable: true,
    description: 'Asks the DNS now. Scope account:write.',
  })
  async verifySendingDomain(
    @Ctx() context: GraphContext,
    @Arg('input', () => VerifyDomainInput) input: VerifyDomainInput,
  ): Promise<Payload<'sendingDomain', DomainWithRecords>> {
    return mutate(context, { name: 'verifySendingDomain', field: 'sendingDomain', input }, (caller) =>
      this.#domains.verify(caller, input.id),
    );
  }

  @Mutation(() => CreateMailboxPayload, { nullable: true, description: 'Scope account:write.' })
  async createMailbox(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateMailboxInput) input: CreateMailboxInput,
  ): Promise<Payload<'mailbox', Mailbox>> {
    const { title, address, displayName, isPersonal } = input;
    return mutate(context, { name: 'createMailbox', field: 'mailbox', input }, (caller) =>
      this.#mailboxes.create(caller, { title, address, displayName, ...given({ isPersonal }) }),
    );
  }
}
