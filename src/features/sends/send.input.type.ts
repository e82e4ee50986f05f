import { Field, ID, InputType, payloadOf, TeamMutationInput } from '../../platform/graphql/index.ts';
import { SendType } from './send.graph.type.ts';

@InputType('HeldSendInput')
export class HeldSendInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;
}

export const RetryHeldSendPayload = payloadOf('RetryHeldSendPayload', 'send', () => SendType);
export const CancelHeldSendPayload = payloadOf('CancelHeldSendPayload', 'send', () => SendType);
