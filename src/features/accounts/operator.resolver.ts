import { Arg, Ctx, given, mutate, Mutation, Resolver } from '../../platform/graphql/index.ts';
import type { GraphContext, Payload } from '../../platform/graphql/index.ts';
import type { Account, AccountFlags } from './accounts.service.ts';
import type { OperatorService } from './operator.service.ts';
import {
  AddFundsInput,
  AddFundsPayload,
  CreateUserInput,
  CreateUserPayload,
  SetPriceInput,
  SetPricePayload,
  UpdateTeamInput,
  UpdateTeamPayload,
  UpdateUserInput,
  UpdateUserPayload,
} from './operator.type.ts';
import type { PriceView } from './teams.query.store.ts';
import type { User, UsersService } from './users.service.ts';

/** What operators change of accounts, and accounts of their users. */
@Resolver()
export class OperatorResolver {
  readonly #operator: OperatorService;
  readonly #users: UsersService;

  constructor(options: { operator: OperatorService; users: UsersService }) {
    this.#operator = options.operator;
    this.#users = options.users;
  }

  @Mutation(() => UpdateTeamPayload, {
    nullable: true,
    description: 'Plan, gates, dunning, verification, suspension and limits. Operators with account:write.',
  })
  async updateTeam(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateTeamInput) input: UpdateTeamInput,
  ): Promise<Payload<'team', Account>> {
    return mutate(context, { name: 'updateTeam', field: 'team', input }, (caller) =>
      this.#operator.change(caller, input.teamId, flagsOf(input)),
    );
  }

  @Mutation(() => AddFundsPayload, { nullable: true, description: 'Operators with account:write.' })
  async addFunds(
    @Ctx() context: GraphContext,
    @Arg('input', () => AddFundsInput) input: AddFundsInput,
  ): Promise<Payload<'team', Account>> {
    return mutate(context, { name: 'addFunds', field: 'team', input }, (caller) =>
      this.#operator.addFunds(caller, input.teamId, input.amount),
    );
  }

  @Mutation(() => SetPricePayload, {
    nullable: true,
    description: "An account's own price, or the default of all. Operators with account:write.",
  })
  async setPrice(
    @Ctx() context: GraphContext,
    @Arg('input', () => SetPriceInput) input: SetPriceInput,
  ): Promise<Payload<'price', PriceView>> {
    const { productCode, price: priceMicros, teamId = null } = input;
    return mutate(context, { name: 'setPrice', field: 'price', input }, async (caller) => {
      await this.#operator.setPrice(caller, { productCode, teamId, priceMicros });
      return { productCode, priceMicros, isDefault: teamId === null };
    });
  }

  @Mutation(() => CreateUserPayload, { nullable: true, description: 'Scope account:write.' })
  async createUser(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateUserInput) input: CreateUserInput,
  ): Promise<Payload<'user', User>> {
    const { email, password, role, aiAccess, displayName } = input;
    const user = { email, password, role, aiAccess, ...given({ displayName }) };
    return mutate(context, { name: 'createUser', field: 'user', input }, (caller) =>
      this.#users.invite(caller, user),
    );
  }

  @Mutation(() => UpdateUserPayload, { nullable: true, description: 'Scope account:write.' })
  async updateUser(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateUserInput) input: UpdateUserInput,
  ): Promise<Payload<'user', User>> {
    const { displayName, role, aiAccess } = input;
    return mutate(context, { name: 'updateUser', field: 'user', input }, (caller) =>
      this.#users.update(caller, input.id, given({ displayName, role, aiAccess })),
    );
  }
}

/** Null means something for two of them: paid, and the default rate. */
function flagsOf(input: UpdateTeamInput): AccountFlags {
  const { plan, features, verified, suspended, testMode, detection, buildingBlocks } = input;
  const { keepTranscripts, concurrentSessions, dunningTier, sendRate } = input;
  return {
    ...given({ plan, features, verified, suspended, testMode, detection, buildingBlocks }),
    ...given({ keepTranscripts, concurrentSessions }),
    ...(dunningTier === undefined ? {} : { dunningTier }),
    ...(sendRate === undefined ? {} : { sendRate }),
  };
}
