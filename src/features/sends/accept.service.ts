import { requireScope } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { Limiter } from '../../platform/limits/index.ts';
import { isTransientDbError } from '../../platform/outbox/index.ts';
import type { Outbox, OutboxMessage } from '../../platform/outbox/index.ts';
import { draftOf, IDEMPOTENCY_CONFLICT } from './accept.rules.ts';
import type { Draft } from './accept.rules.ts';
import { AcceptStore } from './accept.store.ts';
import { SCOPE_OF } from './channels.rules.ts';
import { claimsOf, KEY_LIFETIME_MS, keyNameOf, standingOf } from './idempotency.rules.ts';
import type { Keyed, KeyOwner } from './idempotency.rules.ts';
import { MicroBatches } from './micro-batches.ts';
import { TOPICS } from './send.type.ts';
import type { AcceptSends, NewSend } from './send.type.ts';

/** Requests of 2 ms share one insert and one commit: 13,000 rows a second with 64 callers, against 7,700 one by one. */
const BATCH_WAIT_MS = 2;
const BATCH_ROWS_MAX = 200;
/** Characters of bodies in one insert, and in all that waits for one. */
const BATCH_CHARACTERS_MAX = 4_194_304;
const WAITING_MAX = 10_000;
const WAITING_CHARACTERS_MAX = 67_108_864;
const WRITERS_MAX = 3;

export interface AcceptOptions {
  readonly outbox: Pick<Outbox, 'tx' | 'add'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limiter: Limiter;
  /** Sends a second that an account may make: its own rate, or SEND_RATE_PER_ACCOUNT. */
  readonly rateOf: (teamId: string) => Promise<number>;
  /** Sends waiting to be written before further ones are refused; omitted: 10,000. */
  readonly waitingMax?: number;
}

/**
 * Takes sends: none → queued. What is answered is committed, with the message that has it dispatched; twins of one
 * Idempotency-Key are one send, whichever process or batch they reach.
 */
export class AcceptService implements AcceptSends {
  readonly #options: AcceptOptions;
  readonly #store = new AcceptStore();
  readonly #batches: MicroBatches<Draft, string>;

  constructor(options: AcceptOptions) {
    this.#options = options;
    this.#batches = new MicroBatches({
      ...{ waitMs: BATCH_WAIT_MS, itemsMax: BATCH_ROWS_MAX, sizeMax: BATCH_CHARACTERS_MAX },
      ...{ waitingMax: options.waitingMax ?? WAITING_MAX, waitingSizeMax: WAITING_CHARACTERS_MAX },
      writersMax: WRITERS_MAX,
      sizeOf: (draft) => draft.request.length,
      write: (drafts) => this.#write(drafts),
      isOfItem: (error) => !isTransientDbError(error),
    });
  }

  /** @throws Problem insufficient-scope, too-many-requests, service-unavailable */
  async accept(send: NewSend): Promise<string> {
    requireScope(send.caller, SCOPE_OF[send.channel]);
    await this.#throttle(send.caller.teamId);
    const { clock, ids } = this.#options;
    const nowMs = clock.nowMs();
    try {
      return await this.#batches.add(draftOf(send, { sendId: ids.timed(nowMs), nowMs }));
    } catch (error) {
      if (!isTransientDbError(error)) throw error;
      throw new Problem('service-unavailable', 'The service cannot reach its database; try again soon.');
    }
  }

  async #throttle(teamId: string): Promise<void> {
    const { limiter, rateOf } = this.#options;
    const rate = await rateOf(teamId);
    if (!(await limiter.take(`sends:${teamId}`, { perSecond: rate, burst: rate })))
      throw new Problem('too-many-requests', 'Too many sends.');
  }

  /** Ids of the sends that the drafts became, in their order. */
  async #write(drafts: readonly Draft[]): Promise<string[]> {
    return this.#options.outbox.tx(async (tx) => {
      const settled = await this.#settle(tx, drafts);
      const fresh = settled
        .flatMap(({ draft }) => (draft === null ? [] : [draft]))
        .sort((one, other) => (one.sendId < other.sendId ? -1 : 1));
      if (fresh.length > 0) {
        await this.#store.insert(tx, fresh);
        await this.#options.outbox.add(tx, fresh.map(dispatchOf));
      }
      return settled.map(({ sendId }) => sendId);
    });
  }

  /** What is to be written of each draft, and the id that it is answered with; null: it is the twin of a send. */
  async #settle(tx: Tx, drafts: readonly Draft[]): Promise<{ sendId: string; draft: Draft | null }[]> {
    const claims = claimsOf(drafts.flatMap(keyedOf));
    const lifetime = { nowMs: this.#options.clock.nowMs(), lifetimeMs: KEY_LIFETIME_MS };
    const owners =
      claims.length === 0 ? new Map<string, KeyOwner>() : await this.#store.claim(tx, claims, lifetime);
    return drafts.map((draft) => {
      const [keyed] = keyedOf(draft);
      const owner = keyed && owners.get(keyNameOf(keyed));
      const standing = keyed && owner ? standingOf(keyed, owner) : 'own';
      if (owner && standing === 'twin') return { sendId: owner.sendId, draft: null };
      const isConflict = standing === 'conflict';
      const written = isConflict ? ({ ...draft, acceptCode: IDEMPOTENCY_CONFLICT } as const) : draft;
      return { sendId: draft.sendId, draft: written };
    });
  }
}

const keyedOf = ({ teamId, sendId, idempotency }: Draft): Keyed[] =>
  idempotency === null ? [] : [{ teamId, sendId, ...idempotency }];

const dispatchOf = ({ sendId, teamId, channel }: Draft): OutboxMessage => ({
  topic: TOPICS.dispatch,
  key: sendId,
  lane: `${teamId}:${channel}`,
  payload: {},
});
