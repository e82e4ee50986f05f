import type { SendChannel } from '../delivery-rules/index.ts';
import type { SendState } from './send.type.ts';

/** Names a send; the account is in every `where`. */
export interface SendKey {
  readonly teamId: string;
  readonly sendId: string;
}

/** A stored send as the dispatcher sees it. */
export interface OpenSend extends SendKey {
  readonly channel: SendChannel;
  readonly version: 1 | 2;
  readonly state: SendState;
  /** The body as it came. */
  readonly request: unknown;
  /** 3027 or 3028, found when it was accepted. */
  readonly acceptCode: number | null;
  readonly attempt: number;
  readonly carrierId: string | null;
  readonly attemptedAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly createdAtMs: number;
}

/** What a send turned out to be about; kept with it. */
export interface Particulars {
  readonly contactId: string | null;
  /** E.164. */
  readonly phoneNumber: string | null;
  readonly callerId: string | null;
  readonly phoneLineId: string | null;
  readonly brandId: string | null;
}

export const NO_PARTICULARS: Particulars = {
  ...{ contactId: null, phoneNumber: null, callerId: null, phoneLineId: null, brandId: null },
};

/** What an attempt costs when it succeeds, micro-units. */
export interface Price {
  /** Units of the product: segments of a text, else 1. */
  readonly quantity: number;
  readonly productMicros: bigint;
  readonly speechMicros: bigint;
}

export const FREE: Price = { quantity: 1, productMicros: 0n, speechMicros: 0n };

export const totalMicros = (price: Price): bigint => price.productMicros + price.speechMicros;
