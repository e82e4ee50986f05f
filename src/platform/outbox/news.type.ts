import type { Tx } from '../db/index.ts';

/** Something that happened in an account, named as webhooks name it (`contact.created`). */
export interface News {
  readonly teamId: string;
  readonly event: string;
  /** The wire form of the event's `data`. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly atMs: number;
}

/**
 * Tells news within the transaction that made them: who hears them is composed in `main`, so that a slice that has news
 * knows none of those who listen. Call it inside `Outbox.tx`.
 */
export type Announce = (tx: Tx, news: readonly News[]) => Promise<void>;
