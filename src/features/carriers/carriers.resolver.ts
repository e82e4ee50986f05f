import { newestFirst } from '../../kernel/keyset.ts';
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
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext, Payload } from '../../platform/graphql/index.ts';
import {
  CarrierConnection,
  ConnectCarrierInput,
  ConnectCarrierPayload,
  DisconnectCarrierInput,
  DisconnectCarrierPayload,
  UpdateCarrierInput,
  UpdateCarrierPayload,
} from './carrier.type.ts';
import type { Carrier, CarriersService } from './carriers.service.ts';

@Resolver()
export class CarriersResolver {
  readonly #carriers: CarriersService;

  constructor(options: { carriers: CarriersService }) {
    this.#carriers = options.carriers;
  }

  @Query(() => CarrierConnection, { nullable: true, description: 'Newest first. Scope balance:read.' })
  async carriers(
    @Ctx() context: GraphContext,
    @Args(() => TeamPageArgs) args: TeamPageArgs,
  ): Promise<ConnectionShape<Carrier>> {
    const keyset = keysetOf(args);
    const carriers = await this.#carriers.list(await actIn(context, args.teamId));
    const page = newestFirst(carriers, keyset, (one) => ({ atMs: one.createdAtMs, id: one.carrierId }));
    return new CarrierConnection({ keyset, ...page, count: async () => carriers.length });
  }

  @Mutation(() => ConnectCarrierPayload, { nullable: true, description: 'Scope account:write.' })
  async connectCarrier(
    @Ctx() context: GraphContext,
    @Arg('input', () => ConnectCarrierInput) input: ConnectCarrierInput,
  ): Promise<Payload<'carrier', Carrier>> {
    const { kind, name, settings, ratePerSecond } = input;
    return mutate(context, { name: 'connectCarrier', field: 'carrier', input }, (caller) =>
      this.#carriers.connect(caller, { kind, name, ...given({ settings, ratePerSecond }) }),
    );
  }

  @Mutation(() => UpdateCarrierPayload, {
    nullable: true,
    description: 'Also pauses it, drains it, or lets it go on. Scope account:write.',
  })
  async updateCarrier(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateCarrierInput) input: UpdateCarrierInput,
  ): Promise<Payload<'carrier', Carrier>> {
    const { name, settings, state, ratePerSecond } = input;
    return mutate(context, { name: 'updateCarrier', field: 'carrier', input }, (caller) =>
      this.#carriers.update(caller, input.id, given({ name, settings, state, ratePerSecond })),
    );
  }

  @Mutation(() => DisconnectCarrierPayload, { nullable: true, description: 'Scope account:write.' })
  async disconnectCarrier(
    @Ctx() context: GraphContext,
    @Arg('input', () => DisconnectCarrierInput) input: DisconnectCarrierInput,
  ): Promise<Payload<'carrier', { id: string }>> {
    return mutate(context, { name: 'disconnectCarrier', field: 'carrier', input }, async (caller) => {
      await this.#carriers.remove(caller, input.id);
      return { id: input.id };
    });
  }
}
