import type { Caller } from '../../kernel/caller.ts';
import type { SendChannel } from '../delivery-rules/index.ts';

export type SendState = 'queued' | 'held' | 'sending' | 'sent' | 'finished';

export type StepKind =
  'accepted' | 'decided' | 'held' | 'carrier_request' | 'carrier_answer' | 'result' | 'callback';

/** Outbox topics of this slice; keys are ids of sends. */
export const TOPICS = {
  /** Look at a queued or held send, lane `<teamId>:<channel>`. */
  dispatch: 'send.dispatch',
  /** The end of waiting for a carrier's result. */
  await: 'send.await',
  /** What a call heard, written by the gateway. */
  heard: 'send.heard',
  /** The one POST to callback_url. */
  callback: 'send.callback',
} as const;

/** A send as it is asked for, whoever asks: the REST routes, version 1, a reply in a thread. */
export interface NewSend {
  readonly caller: Caller;
  readonly channel: SendChannel;
  readonly version: 1 | 2;
  /** The body as it came. */
  readonly request: unknown;
  readonly idempotencyKey?: string;
}

/** Takes a send; answers its message_id after the commit. */
export interface AcceptSends {
  accept(send: NewSend): Promise<string>;
}
