import { actIn, Arg, Ctx, ID, mutate, Mutation, Query, Resolver } from '../../platform/graphql/index.ts';
import type { GraphContext, Payload } from '../../platform/graphql/index.ts';
import type { DialingRulesService, DialingRulesView } from './dialing-rules.service.ts';
import {
  DialingRulesType,
  UpdateDialingRulesInput,
  UpdateDialingRulesPayload,
} from './dialing-rules.type.ts';

@Resolver()
export class DialingRulesResolver {
  readonly #rules: DialingRulesService;

  constructor(options: { dialingRules: DialingRulesService }) {
    this.#rules = options.dialingRules;
  }

  @Query(() => DialingRulesType, {
    nullable: true,
    description: 'The rules that sends keep. Scope balance:read or account:write.',
  })
  async dialingRules(
    @Ctx() context: GraphContext,
    @Arg('teamId', () => ID, {
      nullable: true,
      description: 'For operators: the account; omitted, the own.',
    })
    teamId?: string | null,
  ): Promise<DialingRulesView> {
    return this.#rules.get(await actIn(context, teamId));
  }

  @Mutation(() => UpdateDialingRulesPayload, {
    nullable: true,
    description: 'What is omitted stays. Scope account:write; of users owners and managers.',
  })
  async updateDialingRules(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateDialingRulesInput) input: UpdateDialingRulesInput,
  ): Promise<Payload<'dialingRules', DialingRulesView>> {
    return mutate(context, { name: 'updateDialingRules', field: 'dialingRules', input }, (caller) =>
      this.#rules.update(caller, input),
    );
  }
}
