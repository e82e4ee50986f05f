import type { Tx } from '../db/index.ts';

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Something to be done after the transaction that says so. */
export interface OutboxMessage {
  /** Names the handler, as `noun.verb` or `noun.past`; without '|'. */
  topic: string;
  /** What the message is about; `cancel` finds it by topic and key. */
  key: string;
  /** Share of fairness within the topic: lanes are claimed in turn. */
  lane: string;
  /** Rows of one order key are started in the order of their insertion. */
  orderKey?: string | undefined;
  payload: Json;
  /** Epoch milliseconds; omitted: now. */
  availableAtMs?: number | undefined;
}

/** A claimed row. */
export interface OutboxRow {
  id: string;
  topic: string;
  key: string;
  lane: string;
  orderKey: string | null;
  payload: Json;
  /** Starts so far, this one included. */
  attempts: number;
  availableAtMs: number;
  createdAtMs: number;
}

/**
 * Ends a row in one transaction with the effect of `work`: deleted, or with `retryAtMs` put off to that epoch
 * millisecond; with `keepsTurn`, for waits of seconds, as if it had not been started, so that it leaves before those
 * of its order key that came later. False: the lease was lost and nothing was changed. `work` may run again after a
 * database error, so it must do nothing but SQL on `tx`. Without `work` the row is only deleted, together with others.
 */
export type Finish = (
  work?: (tx: Tx) => Promise<{ retryAtMs?: number; keepsTurn?: boolean } | void>,
) => Promise<boolean>;

export interface Handler {
  topic: string;
  /** Rows of the topic in flight in one process. */
  concurrencyMax: number;
  /** Rows of one lane in flight in one process; omitted: as many as the topic. */
  laneConcurrencyMax?: number;
  /** After this time the row is handed out again; `signal` aborts then. Longer than the handler can take. */
  leaseMs: number;
  /**
   * The effect may come twice anyhow, so the row's last commit need not wait for the disk: after a crash of the
   * database (not of this process) rows ended in its last moments are handed out again. Omitted: it waits.
   */
  mayRepeat?: boolean;
  handle(row: OutboxRow, finish: Finish, signal: AbortSignal): Promise<void>;
}
