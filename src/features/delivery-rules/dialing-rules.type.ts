import {
  DateTime,
  enumOf,
  Field,
  InputType,
  Int,
  ObjectType,
  payloadOf,
  TeamMutationInput,
} from '../../platform/graphql/index.ts';
import { NO_VERDICT_ACTIONS } from './dialing-rules.rules.ts';
import type { DialingRulesView } from './dialing-rules.service.ts';
import type { NoVerdictAction } from './facts.type.ts';

const NoVerdictActionEnum = enumOf(
  'NoVerdictAction',
  NO_VERDICT_ACTIONS,
  'What a call does that hears nobody, or cannot tell whom.',
);

@ObjectType('DialingRules', { description: 'The rules that sends of an account keep.' })
export class DialingRulesType implements DialingRulesView {
  @Field(() => Boolean)
  hoursEnabled!: boolean;

  @Field(() => Int, { description: "Minutes since the contact's midnight." })
  hoursStartMinute!: number;

  @Field(() => Int, { description: 'The first minute outside.' })
  hoursEndMinute!: number;

  @Field(() => Int)
  phoneAttemptsMax!: number;

  @Field(() => Int)
  phoneWindowHours!: number;

  @Field(() => Int)
  bulkEmailsMax!: number;

  @Field(() => Int)
  bulkWindowHours!: number;

  @Field(() => Int)
  transactionalEmailsMax!: number;

  @Field(() => Int)
  transactionalWindowHours!: number;

  @Field(() => [String], { description: 'E.164; these skip the frequency limit.' })
  testNumbers!: string[];

  @Field(() => [String], { description: 'These skip the frequency limits.' })
  testEmails!: string[];

  @Field(() => Boolean)
  textsNeedConsent!: boolean;

  @Field(() => Boolean)
  callsNeedConsent!: boolean;

  @Field(() => NoVerdictActionEnum)
  noVerdictAction!: NoVerdictAction;

  @Field(() => String, { nullable: true, description: 'Null: no key opts out.' })
  optOutDigit!: string | null;

  @Field(() => DateTime, { name: 'updatedAt', nullable: true, description: 'Null: the defaults hold.' })
  updatedAtMs!: number | null;
}

@InputType('UpdateDialingRulesInput', { description: 'What is omitted stays.' })
export class UpdateDialingRulesInput extends TeamMutationInput {
  @Field(() => Boolean, { nullable: true })
  hoursEnabled?: boolean | null;

  @Field(() => Int, { nullable: true, description: "Minutes since the contact's midnight." })
  hoursStartMinute?: number | null;

  @Field(() => Int, { nullable: true, description: 'The first minute outside.' })
  hoursEndMinute?: number | null;

  @Field(() => Int, { nullable: true })
  phoneAttemptsMax?: number | null;

  @Field(() => Int, { nullable: true })
  phoneWindowHours?: number | null;

  @Field(() => Int, { nullable: true })
  bulkEmailsMax?: number | null;

  @Field(() => Int, { nullable: true })
  bulkWindowHours?: number | null;

  @Field(() => Int, { nullable: true })
  transactionalEmailsMax?: number | null;

  @Field(() => Int, { nullable: true })
  transactionalWindowHours?: number | null;

  @Field(() => [String], { nullable: true, description: 'E.164.' })
  testNumbers?: string[] | null;

  @Field(() => [String], { nullable: true })
  testEmails?: string[] | null;

  @Field(() => Boolean, { nullable: true })
  textsNeedConsent?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  callsNeedConsent?: boolean | null;

  @Field(() => NoVerdictActionEnum, { nullable: true })
  noVerdictAction?: NoVerdictAction | null;

  @Field(() => String, { nullable: true, description: 'One of 0 to 9, * and #; null: none.' })
  optOutDigit?: string | null;
}

export const UpdateDialingRulesPayload = payloadOf(
  'UpdateDialingRulesPayload',
  'dialingRules',
  () => DialingRulesType,
);
