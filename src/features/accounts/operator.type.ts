import {
  Decimal,
  Field,
  ID,
  InputType,
  Int,
  MutationInput,
  payloadOf,
} from '../../platform/graphql/index.ts';
import type { AiAccess, DunningTier, Feature, Plan, Role } from './accounts.rules.ts';
import {
  AiAccessEnum,
  DunningTierEnum,
  FeatureEnum,
  PlanEnum,
  PriceType,
  RoleEnum,
  TeamType,
  UserType,
} from './team.type.ts';

@InputType('UpdateTeamInput', {
  description: 'What an operator changes of an account; what is omitted stays.',
})
export class UpdateTeamInput extends MutationInput {
  @Field(() => ID)
  teamId!: string;

  @Field(() => PlanEnum, { nullable: true })
  plan?: Plan | null;

  @Field(() => [FeatureEnum], { nullable: true, description: 'Gates: the parts of the plan.' })
  features?: Feature[] | null;

  @Field(() => DunningTierEnum, { nullable: true, description: 'Null: the subscription is paid.' })
  dunningTier?: DunningTier | null;

  @Field(() => Boolean, { nullable: true })
  verified?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  suspended?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  testMode?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  detection?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  buildingBlocks?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  keepTranscripts?: boolean | null;

  @Field(() => Int, { nullable: true })
  concurrentSessions?: number | null;

  @Field(() => Int, { nullable: true, description: 'Sends a second; null: SEND_RATE_PER_ACCOUNT.' })
  sendRate?: number | null;
}

@InputType('AddFundsInput')
export class AddFundsInput extends MutationInput {
  @Field(() => ID)
  teamId!: string;

  @Field(() => Decimal)
  amount!: bigint;
}

@InputType('SetPriceInput')
export class SetPriceInput extends MutationInput {
  @Field(() => ID, { nullable: true, description: 'Omitted: the default of all accounts.' })
  teamId?: string | null;

  @Field(() => String)
  productCode!: string;

  @Field(() => Decimal)
  price!: bigint;
}

@InputType('CreateUserInput')
export class CreateUserInput extends MutationInput {
  @Field(() => ID, { nullable: true, description: 'For operators: the account; omitted, the own.' })
  teamId?: string | null;

  @Field(() => String)
  email!: string;

  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Field(() => String)
  password!: string;

  @Field(() => RoleEnum)
  role!: Role;

  @Field(() => AiAccessEnum)
  aiAccess!: AiAccess;
}

@InputType('UpdateUserInput')
export class UpdateUserInput extends MutationInput {
  @Field(() => ID, { nullable: true, description: 'For operators: the account; omitted, the own.' })
  teamId?: string | null;

  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Field(() => RoleEnum, { nullable: true })
  role?: Role | null;

  @Field(() => AiAccessEnum, { nullable: true })
  aiAccess?: AiAccess | null;
}

export const UpdateTeamPayload = payloadOf('UpdateTeamPayload', 'team', () => TeamType);
export const AddFundsPayload = payloadOf('AddFundsPayload', 'team', () => TeamType);
export const SetPricePayload = payloadOf('SetPricePayload', 'price', () => PriceType);
export const CreateUserPayload = payloadOf('CreateUserPayload', 'user', () => UserType);
export const UpdateUserPayload = payloadOf('UpdateUserPayload', 'user', () => UserType);
