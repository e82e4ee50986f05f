import { pageOf, timeKeyOf } from '../../kernel/keyset.ts';
import {
  actIn,
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  given,
  ID,
  keysetOf,
  mutate,
  Mutation,
  Query,
  Resolver,
  TeamPageArgs,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext, Payload } from '../../platform/graphql/index.ts';
import type { DncEntry, DncService, RemovedDncEntries } from './dnc.service.ts';
import {
  AddDncInput,
  AddDncPayload,
  DncConnection,
  DncEntryType,
  RemoveDncInput,
  RemoveDncPayload,
} from './dnc.type.ts';
import type { DncAdditionType } from './dnc.type.ts';

@ArgsType()
class DncLookupArgs {
  @Field(() => [String], { nullable: true, description: 'E.164.' })
  phoneNumbers?: string[] | null;

  @Field(() => [String], { nullable: true })
  emails?: string[] | null;

  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Field(() => ID, { nullable: true, description: 'For operators: the account; omitted, the own.' })
  teamId?: string | null;
}

@Resolver()
export class DncResolver {
  readonly #dnc: DncService;

  constructor(options: { dnc: DncService }) {
    this.#dnc = options.dnc;
  }

  @Query(() => DncConnection, {
    nullable: true,
    description: 'Entries, most recently updated first. Scope dnc:read.',
  })
  async dnc(
    @Ctx() context: GraphContext,
    @Args(() => TeamPageArgs) args: TeamPageArgs,
  ): Promise<ConnectionShape<DncEntry>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const { atUs, id } = timeKeyOf(keyset.after);
    const after = atUs === null || id === null ? undefined : { updatedAtMs: Number(atUs), entryId: id };
    return new DncConnection({
      keyset,
      page: pageOf(await this.#dnc.list(caller, { limit: keyset.first + 1, after }), keyset.first),
      keyOf: (entry) => [String(entry.updatedAtMs), entry.entryId],
      count: () => this.#dnc.count(caller),
    });
  }

  @Query(() => [DncEntryType], {
    nullable: true,
    description: 'Entries of numbers and emails; empty: OK to send. Scope dnc:read.',
  })
  async dncEntries(
    @Ctx() context: GraphContext,
    @Args(() => DncLookupArgs) args: DncLookupArgs,
  ): Promise<DncEntry[]> {
    const caller = await actIn(context, args.teamId);
    const { brandId } = args;
    const [phoneNumbers, emails] = [args.phoneNumbers?.join(','), args.emails?.join(',')];
    return (await this.#dnc.lookUp(caller, given({ phoneNumbers, emails, brandId }))).entries;
  }

  @Mutation(() => AddDncPayload, { nullable: true, description: 'Scope dnc:write.' })
  async addDnc(
    @Ctx() context: GraphContext,
    @Arg('input', () => AddDncInput) input: AddDncInput,
  ): Promise<Payload<'addition', DncAdditionType>> {
    const { phoneNumbers: phoneNumber, emails: email, brandId, reason, method } = input;
    return mutate(context, { name: 'addDnc', field: 'addition', input }, async (caller) => {
      const added = await this.#dnc.add(caller, given({ phoneNumber, email, brandId, reason, method }));
      return {
        entries: added.results.length,
        alreadyListed: added.alreadyListed,
        contacts: added.results.reduce((sum, one) => sum + one.modified, 0),
      };
    });
  }

  @Mutation(() => RemoveDncPayload, {
    nullable: true,
    description: 'What contacts added themselves is skipped. Scope dnc:write.',
  })
  async removeDnc(
    @Ctx() context: GraphContext,
    @Arg('input', () => RemoveDncInput) input: RemoveDncInput,
  ): Promise<Payload<'removal', RemovedDncEntries>> {
    const { phoneNumbers, emails, brandId } = input;
    return mutate(context, { name: 'removeDnc', field: 'removal', input }, (caller) =>
      this.#dnc.bulkRemove(caller, given({ phoneNumbers, emails, brandId })),
    );
  }
}
