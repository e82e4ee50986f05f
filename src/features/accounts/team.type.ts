import type { CallerKind, CallerRole } from '../../kernel/caller.ts';
import {
  connectionOf,
  DateTime,
  Decimal,
  enumOf,
  Field,
  ID,
  Int,
  ObjectType,
  ScopeEnum,
} from '../../platform/graphql/index.ts';
import { AI_ACCESS, DUNNING_TIERS, FEATURES, PLANS, ROLES } from './accounts.rules.ts';
import type { AiAccess, DunningTier, Feature, Plan, Role } from './accounts.rules.ts';
import type { LedgerKind } from './ledger.rules.ts';
import type { BalanceView } from './ledger.service.ts';
import type { LedgerEntryView, PriceView, TeamView, UserView } from './teams.query.store.ts';

export const PlanEnum = enumOf('Plan', PLANS);
export const FeatureEnum = enumOf('Feature', FEATURES, 'A part of the plan.');
export const DunningTierEnum = enumOf('DunningTier', DUNNING_TIERS, 'How far the subscription is unpaid.');
export const RoleEnum = enumOf('Role', ROLES);
export const AiAccessEnum = enumOf('AiAccess', AI_ACCESS);
export const LedgerKindEnum = enumOf('LedgerKind', [
  'funds_added',
  'reserved',
  'captured',
  'released',
  'refunded',
]);
const CallerKindEnum = enumOf('CredentialKind', ['api_key', 'machine', 'user', 'site_token', 'session']);

@ObjectType('Team', { description: 'An account.' })
export class TeamType implements Omit<TeamView, 'atUs'> {
  @Field(() => ID, { name: 'id' })
  teamId!: string;

  @Field(() => String)
  name!: string;

  @Field(() => Boolean)
  verified!: boolean;

  @Field(() => Boolean, { description: 'Whether its credentials see all accounts.' })
  operator!: boolean;

  @Field(() => Boolean)
  testMode!: boolean;

  @Field(() => PlanEnum)
  plan!: Plan;

  @Field(() => [FeatureEnum])
  features!: Feature[];

  @Field(() => DunningTierEnum, { nullable: true, description: 'Null while the subscription is paid.' })
  dunningTier!: DunningTier | null;

  @Field(() => Boolean)
  suspended!: boolean;

  @Field(() => Boolean)
  detection!: boolean;

  @Field(() => Boolean)
  buildingBlocks!: boolean;

  @Field(() => Boolean)
  keepTranscripts!: boolean;

  @Field(() => Int)
  concurrentSessions!: number;

  @Field(() => Int, { nullable: true, description: 'Sends a second; null: SEND_RATE_PER_ACCOUNT.' })
  sendRate!: number | null;

  @Field(() => String)
  region!: string;

  @Field(() => Boolean)
  hasPlatformToken!: boolean;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('Balance')
export class BalanceType implements BalanceView {
  @Field(() => Decimal, { name: 'balance' })
  balanceMicros!: bigint;

  @Field(() => Decimal, { name: 'reserved' })
  reservedMicros!: bigint;

  @Field(() => Decimal, { name: 'available', description: 'What may be spent.' })
  availableMicros!: bigint;
}

@ObjectType('LedgerEntry', { description: 'An immutable movement of money.' })
export class LedgerEntryType implements Omit<LedgerEntryView, 'teamId'> {
  @Field(() => ID, { name: 'id' })
  entryId!: string;

  @Field(() => LedgerKindEnum)
  kind!: LedgerKind;

  @Field(() => Decimal, { name: 'amount', description: 'Added to the balance.' })
  amountMicros!: bigint;

  @Field(() => Decimal, { name: 'reserved', description: 'Added to what is reserved.' })
  reservedMicros!: bigint;

  @Field(() => String)
  causeType!: string;

  @Field(() => String)
  causeId!: string;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('Price')
export class PriceType implements PriceView {
  @Field(() => String)
  productCode!: string;

  @Field(() => Decimal, { name: 'price' })
  priceMicros!: bigint;

  @Field(() => Boolean, { description: 'The default of all accounts, not one of its own.' })
  isDefault!: boolean;
}

@ObjectType('User')
export class UserType implements Omit<UserView, 'atUs' | 'teamId'> {
  @Field(() => ID, { name: 'id' })
  userId!: string;

  @Field(() => String, { nullable: true, description: 'Null: cannot sign in.' })
  email!: string | null;

  @Field(() => String)
  displayName!: string;

  @Field(() => RoleEnum)
  role!: Role;

  @Field(() => AiAccessEnum)
  aiAccess!: AiAccess;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('Me', { description: 'Who asks.' })
export class MeType {
  @Field(() => CallerKindEnum)
  kind!: CallerKind;

  @Field(() => ID)
  teamId!: string;

  @Field(() => ID, { description: 'The user the credential acts under.' })
  userId!: string;

  @Field(() => RoleEnum, { nullable: true, description: 'Of a signed-in user; null for other credentials.' })
  role!: CallerRole | null;

  @Field(() => [ScopeEnum])
  scopes!: string[];

  @Field(() => Boolean, { description: 'Sees all accounts.' })
  operator!: boolean;
}

export const TeamConnection = connectionOf<TeamView>('Team', () => TeamType);
export const LedgerConnection = connectionOf<LedgerEntryView>('LedgerEntry', () => LedgerEntryType);
export const UserConnection = connectionOf<UserView>('User', () => UserType);
