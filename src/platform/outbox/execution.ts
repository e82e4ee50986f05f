import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../db/index.ts';
import type { Logger } from '../logger/index.ts';
import { NEAR_FUTURE_MS } from './outbox.ts';
import type { Gather } from './gather.ts';
import type { Claim, OutboxStore } from './outbox.store.ts';
import type { Finish, Handler, OutboxRow } from './outbox.type.ts';
import { backoffMs, isTransientDbError } from './transient.rules.ts';

/** Tries of a row's last transaction while the database is away; then its lease runs out. */
const FINISH_TRIES_MAX = 8;
const FINISH_PAUSE = { minMs: 25, maxMs: 2_000 };
/** Pause before a row whose handler failed is started again. */
const FAILURE_PAUSE = { minMs: 1_000, maxMs: 300_000 };

export interface ExecutionContext {
  db: Db;
  store: OutboxStore;
  clock: Clock;
  logger: Logger;
}

export type Outcome =
  { kind: 'done' } | { kind: 'retry'; atMs: number } | { kind: 'lost' } | { kind: 'open' };

/**
 * One start of one row. States: open → done (deleted) | retry (put off) | lost (another holds it).
 * It stays open when it was aborted before its handler ended it: the relay then hands the lease back.
 */
export class Execution {
  readonly claim: Claim;
  readonly row: OutboxRow;
  readonly #context: ExecutionContext;
  readonly #handler: Handler;
  /** Of the rows of the topic; false: the claim was lost. */
  readonly #removals: Gather<Claim, boolean>;
  readonly #abort = new AbortController();
  #outcome: Outcome = { kind: 'open' };

  constructor(
    context: ExecutionContext,
    work: { handler: Handler; row: OutboxRow; owner: string; removals: Gather<Claim, boolean> },
  ) {
    this.#context = context;
    this.#handler = work.handler;
    this.#removals = work.removals;
    this.row = work.row;
    this.claim = { id: work.row.id, owner: work.owner, attempts: work.row.attempts };
  }

  abort(): void {
    this.#abort.abort();
  }

  /** Never rejects. */
  async run(): Promise<Outcome> {
    const lease = setTimeout(() => this.abort(), this.#handler.leaseMs);
    try {
      await this.#handler.handle(this.row, this.#finish, this.#abort.signal);
      if (this.#outcome.kind === 'open' && !this.#abort.signal.aborted) {
        await this.#fail(new Error('the handler returned without ending the row'));
      }
    } catch (error) {
      if (this.#outcome.kind === 'open' && !this.#abort.signal.aborted) await this.#fail(error);
    } finally {
      clearTimeout(lease);
    }
    return this.#outcome;
  }

  readonly #finish: Finish = async (work) => {
    if (!work) {
      const isRemoved = await this.#removals.run(this.claim);
      this.#outcome = { kind: isRemoved ? 'done' : 'lost' };
      return isRemoved;
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#outcome = await this.#end(work);
        return this.#outcome.kind !== 'lost';
      } catch (error) {
        if (!isTransientDbError(error) || attempt >= FINISH_TRIES_MAX || this.#abort.signal.aborted)
          throw error;
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, FINISH_PAUSE)));
      }
    }
  };

  async #end(work: NonNullable<Parameters<Finish>[0]>): Promise<Outcome> {
    const { db, store, clock } = this.#context;
    return db.tx<Outcome>(async (tx) => {
      if (!(await store.hold(tx, this.claim, { isDurable: !this.#handler.mayRepeat })))
        return { kind: 'lost' };
      const { retryAtMs: atMs, keepsTurn } = (await work(tx)) ?? {};
      if (atMs === undefined) {
        await store.remove(tx, this.row.id);
        return { kind: 'done' };
      }
      if (keepsTurn) await store.keepTurn(tx, this.row.id, atMs);
      else if (atMs > clock.nowMs() + NEAR_FUTURE_MS) await store.putOff(tx, this.row.id, atMs);
      else await store.retryAt(tx, this.row.id, atMs);
      return { kind: 'retry', atMs };
    });
  }

  async #fail(error: unknown): Promise<void> {
    const { clock, logger } = this.#context;
    const { topic, key, attempts } = this.row;
    const retryAtMs = clock.nowMs() + backoffMs(attempts, FAILURE_PAUSE);
    logger.error(
      { err: error, topic, outboxKey: key, attempts },
      'a handler failed: its row is tried again later',
    );
    try {
      await this.#finish(async () => ({ retryAtMs }));
    } catch (finishError) {
      logger.error(
        { err: finishError, topic, outboxKey: key },
        'the row could not be put off: its lease runs out',
      );
    }
  }
}
