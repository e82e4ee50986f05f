import { requireOperator, requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import { HeldSendsStore } from './held-sends.store.ts';
import type { Ending } from './result.type.ts';
import { TOPICS } from './send.type.ts';
import type { SendsQueryService } from './sends.query.service.ts';
import type { SendListed } from './sends.query.store.ts';

/** Of a held send that an operator ended: calling hours kept it back, and `reason` says who ended the wait. */
const CANCELLED = {
  ...{ outcomeCode: 4011, reason: 'cancelled', detail: 'Cancelled by an operator while it was held.' },
} as const;

export interface HeldSendsOptions {
  readonly outbox: Pick<Outbox, 'tx' | 'add' | 'cancel'>;
  readonly clock: Clock;
  readonly sendsQuery: Pick<SendsQueryService, 'get'>;
  /** Gives a send its one result within a transaction; the ids of those that ended. */
  readonly results: { endIn(tx: Tx, endings: readonly Ending[]): Promise<ReadonlySet<string>> };
}

/** What operators do with sends that wait (admin-graphql.md): held → looked at now, or held → finished. */
export class HeldSendsService {
  readonly #options: HeldSendsOptions;
  readonly #store = new HeldSendsStore();

  constructor(options: HeldSendsOptions) {
    this.#options = options;
  }

  /** The rules decide again, now; it may be held again. @throws Problem forbidden, insufficient-scope, not-found, conflict */
  async retry(caller: Caller, messageId: string): Promise<SendListed> {
    const { clock, outbox } = this.#options;
    return this.#change(caller, messageId, async (tx, { sendId, channel }) => {
      const { teamId } = caller;
      await outbox.cancel(tx, TOPICS.dispatch, sendId);
      const lane = `${teamId}:${channel}`;
      await outbox.add(tx, [{ topic: TOPICS.dispatch, key: sendId, lane, payload: {} }]);
      await this.#store.setHeldUntil(tx, { teamId, sendId, atMs: clock.nowMs() });
    });
  }

  /** Its result says so. @throws Problem as `retry` */
  async cancel(caller: Caller, messageId: string): Promise<SendListed> {
    const { outbox, results } = this.#options;
    return this.#change(caller, messageId, async (tx, { sendId }) => {
      await outbox.cancel(tx, TOPICS.dispatch, sendId);
      const ending = {
        teamId: caller.teamId,
        sendId,
        from: ['held' as const],
        attempt: null,
        result: CANCELLED,
      };
      const ended = await results.endIn(tx, [ending]);
      if (!ended.has(sendId)) throw notHeld();
    });
  }

  async #change(
    caller: Caller,
    messageId: string,
    work: (tx: Tx, of: { sendId: string; channel: SendChannel }) => Promise<void>,
  ): Promise<SendListed> {
    requireOperator(caller);
    requireScope(caller, 'account:write');
    const sendId = messageId.toLowerCase();
    if (!isUuid(sendId)) throw new Problem('not-found', 'There is no such send.');
    await this.#options.sendsQuery.get(caller, sendId);
    await this.#options.outbox.tx(async (tx) => {
      const channel = await this.#store.lock(tx, { teamId: caller.teamId, sendId });
      if (channel === null) throw notHeld();
      await work(tx, { sendId, channel });
    });
    return this.#options.sendsQuery.get(caller, sendId);
  }
}

const notHeld = (): Problem => new Problem('conflict', 'The send is not held.');
