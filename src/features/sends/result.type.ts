import type { SendChannel } from '../delivery-rules/index.ts';
import type { CarrierResult } from '../carriers/index.ts';
import type { NewStep } from './dispatch.steps.store.ts';
import type { Particulars, SendKey } from './dispatch.type.ts';
import type { SendState } from './send.type.ts';

/** The end of a send, in the words of the outcome table. */
export interface Ending extends SendKey {
  /** It ends only from one of these; from another it has ended, or another works on it. */
  readonly from: readonly SendState[];
  /** It ends only during this attempt; null: none was made, or any. */
  readonly attempt: number | null;
  readonly result: CarrierResult;
  /** Filled in where the send has none yet. */
  readonly particulars?: Particulars;
  /** What happened just before. */
  readonly steps?: readonly NewStep[];
  /** A simulated number: it counts as attempted. */
  readonly isSimulated?: boolean;
  /** The contact opted out during the call. */
  readonly hasOptedOut?: boolean;
  /** Of the call that listened. */
  readonly sessionId?: string | null;
  /** callback_url itself was refused: it is not called. */
  readonly isCallbackRefused?: boolean;
}

/** A send that has just ended. */
export interface EndedSend extends SendKey, Particulars {
  readonly channel: SendChannel;
  readonly version: 1 | 2;
  readonly foreignId: string | null;
  readonly callbackUrl: string | null;
  readonly campaignId: string | null;
  readonly sessionId: string | null;
  readonly outcomeCode: number;
  readonly reason: string;
  readonly detail: string | null;
  /** Units that are paid; 0 when it cost nothing. */
  readonly quantity: number;
  readonly segments: number | null;
  readonly productMicros: bigint;
  readonly complianceMicros: bigint;
  readonly speechMicros: bigint;
  /** Do-not-contact kept it back, or the contact opted out. */
  readonly dnc: boolean;
  readonly attemptedAtMs: number;
  readonly finishedAtMs: number;
  /** The page that proves delivery; null: there is none. */
  readonly proofUrl: string | null;
}
