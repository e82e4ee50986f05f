import { OUTCOMES } from '../../kernel/outcome.ts';
import type { Outcome } from '../../kernel/outcome.ts';
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
  PageArgs,
  Query,
  Resolver,
  Root,
  TeamPageArgs,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext } from '../../platform/graphql/index.ts';
import { OutcomeType } from './outcome.type.ts';
import type { LedgerKind } from './ledger.rules.ts';
import type { BalanceView } from './ledger.service.ts';
import type { TeamsQueryService } from './teams.query.service.ts';
import type { LedgerEntryView, PriceView, TeamView, UserView } from './teams.query.store.ts';
import {
  BalanceType,
  LedgerConnection,
  LedgerKindEnum,
  MeType,
  PriceType,
  TeamConnection,
  TeamType,
  UserConnection,
  UserType,
} from './team.type.ts';

@ArgsType()
class TeamsArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: 'A part of the name.' })
  searchTerm?: string | null;
}

@ArgsType()
class LedgerArgs extends TeamPageArgs {
  @Field(() => LedgerKindEnum, { nullable: true })
  kind?: LedgerKind | null;
}

@ArgsType()
class UsersArgs extends TeamPageArgs {
  @Field(() => String, { nullable: true, description: 'A part of the name or the email.' })
  searchTerm?: string | null;
}

@Resolver(() => TeamType)
export class TeamsResolver {
  readonly #teams: TeamsQueryService;

  constructor(options: { teams: TeamsQueryService }) {
    this.#teams = options.teams;
  }

  @Query(() => MeType, { nullable: true, description: 'Who asks. Any credential.' })
  me(@Ctx() { caller }: GraphContext): MeType {
    const { kind, teamId, userId, role, operator } = caller;
    return { kind, teamId, userId, role, operator, scopes: [...caller.scopes] };
  }

  @Query(() => TeamType, { nullable: true, description: 'An account, by default the own. Any credential.' })
  async team(
    @Ctx() context: GraphContext,
    @Arg('id', () => ID, { nullable: true }) id?: string | null,
  ): Promise<TeamView> {
    return this.#teams.get(context.caller, id ?? context.caller.teamId);
  }

  @Query(() => TeamConnection, { nullable: true, description: 'All accounts, newest first. Operators only.' })
  async teams(
    @Ctx() { caller }: GraphContext,
    @Args(() => TeamsArgs) args: TeamsArgs,
  ): Promise<ConnectionShape<TeamView>> {
    const keyset = keysetOf(args);
    const searchTerm = args.searchTerm ?? null;
    return new TeamConnection({
      keyset,
      page: await this.#teams.list(caller, keyset, searchTerm),
      keyOf: (team) => [team.atUs, team.teamId],
      count: () => this.#teams.count(caller, searchTerm),
    });
  }

  @Query(() => BalanceType, { nullable: true, description: 'Scope balance:read.' })
  async balance(
    @Ctx() context: GraphContext,
    @Arg('teamId', () => ID, { nullable: true }) teamId?: string | null,
  ): Promise<BalanceView | null> {
    const caller = await actIn(context, teamId);
    return (await this.#teams.balances(caller, [caller.teamId])).get(caller.teamId) ?? null;
  }

  @Query(() => LedgerConnection, {
    nullable: true,
    description: 'Movements of money, newest first. Scope balance:read.',
  })
  async ledger(
    @Ctx() context: GraphContext,
    @Args(() => LedgerArgs) args: LedgerArgs,
  ): Promise<ConnectionShape<LedgerEntryView>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const kind = args.kind ?? null;
    return new LedgerConnection({
      keyset,
      page: await this.#teams.ledger(caller, keyset, kind),
      keyOf: (entry) => [entry.entryId],
      count: () => this.#teams.countLedger(caller, kind),
    });
  }

  @Query(() => [PriceType], {
    nullable: true,
    description: 'What each product costs the account. Scope balance:read.',
  })
  async prices(
    @Ctx() context: GraphContext,
    @Arg('teamId', () => ID, { nullable: true }) teamId?: string | null,
  ): Promise<PriceView[]> {
    return this.#teams.prices(await actIn(context, teamId));
  }

  @Query(() => UserConnection, {
    nullable: true,
    description: 'Users of the account, newest first. Scope contacts:read.',
  })
  async users(
    @Ctx() context: GraphContext,
    @Args(() => UsersArgs) args: UsersArgs,
  ): Promise<ConnectionShape<UserView>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const searchTerm = args.searchTerm ?? null;
    return new UserConnection({
      keyset,
      page: await this.#teams.users(caller, keyset, searchTerm),
      keyOf: (user) => [user.atUs, user.userId],
      count: () => this.#teams.countUsers(caller, searchTerm),
    });
  }

  @Query(() => [OutcomeType], {
    nullable: true,
    description: 'All outcome codes of callbacks and status webhooks. Any credential.',
  })
  outcomeCodes(): readonly Outcome[] {
    return OUTCOMES;
  }

  @FieldResolver(() => BalanceType, { nullable: true, name: 'balance', description: 'Scope balance:read.' })
  async balanceOfTeam(@Root() team: TeamView, @Ctx() context: GraphContext): Promise<BalanceView | null> {
    const loader = context.loaders.of('team.balance', (ids) => this.#teams.balances(context.caller, ids));
    return loader.load(team.teamId);
  }

  @FieldResolver(() => [UserType], {
    nullable: true,
    name: 'users',
    description: 'Its first users, at most 20. Scope contacts:read.',
  })
  async usersOfTeam(@Root() team: TeamView, @Ctx() context: GraphContext): Promise<UserView[] | null> {
    const loader = context.loaders.of('team.users', (ids) => this.#teams.usersOf(context.caller, ids));
    return loader.load(team.teamId);
  }
}

@Resolver(() => MeType)
export class MeResolver {
  readonly #teams: TeamsQueryService;

  constructor(options: { teams: TeamsQueryService }) {
    this.#teams = options.teams;
  }

  @FieldResolver(() => TeamType, { nullable: true })
  async team(@Root() me: MeType, @Ctx() { caller }: GraphContext): Promise<TeamView> {
    return this.#teams.get(caller, me.teamId);
  }

  @FieldResolver(() => UserType, { nullable: true, description: 'Scope contacts:read.' })
  async user(@Root() me: MeType, @Ctx() context: GraphContext): Promise<UserView | null> {
    const loader = context.loaders.of(`user ${me.teamId}`, (ids) =>
      this.#teams.usersById(context.caller, ids),
    );
    return loader.load(me.userId);
  }
}
