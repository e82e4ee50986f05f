import type { Caller, Scope } from '../../kernel/caller.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import type { SendState, StepKind } from './send.type.ts';

export const SEND_STATES: readonly SendState[] = ['queued', 'held', 'sending', 'sent', 'finished'];
export const STEP_KINDS: readonly StepKind[] = [
  ...(['accepted', 'decided', 'held', 'carrier_request', 'carrier_answer', 'result', 'callback'] as const),
];

/** The scope that a channel's sends take, to make them and to read them (contract, Single sends; supplement 1). */
export const SCOPE_OF: Readonly<Record<SendChannel, Scope>> = {
  rvm: 'rvm:send',
  sms: 'sms:send',
  voice_broadcast: 'voice:send',
  ai_broadcast: 'voice:send',
};

export const CHANNELS = Object.keys(SCOPE_OF) as SendChannel[];

/** Each once, in the contract's order. */
export const SEND_SCOPES: readonly Scope[] = [...new Set(Object.values(SCOPE_OF))];

/** The channels whose sends a caller may read. */
export const channelsOf = ({ scopes }: Caller): SendChannel[] =>
  CHANNELS.filter((channel) => scopes.has(SCOPE_OF[channel]));
