import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidField } from '../../kernel/text.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import { DeliveriesLogStore } from './deliveries-log.store.ts';
import type { LoggedDelivery, ReplayedDelivery } from './deliveries-log.store.ts';
import { deliveryMessages } from './delivery.jobs.ts';
import { noSubscription } from './subscriptions.service.ts';
import { SubscriptionsStore } from './subscriptions.store.ts';
import type { SubscriptionRow } from './subscriptions.store.ts';
import { insertDeliveries } from './webhooks.store.ts';
import type { NewDelivery } from './webhooks.store.ts';

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 200;
/** Deliveries of one replay of a time range; a longer range is replayed in parts. */
export const REPLAY_MAX = 10_000;
const ROWS_PER_INSERT = 1_000;
/** The last moment that JavaScript and PostgreSQL both know as a date. */
const TIME_MAX_MS = 8_640_000_000_000_000;

export interface DeliveriesLogOptions {
  db: Db;
  outbox: Outbox;
  clock: Clock;
  ids: Ids;
}

/** What was delivered to the caller's subscriptions, and delivering it again (supplement 4). */
export class DeliveriesLogService {
  readonly #options: DeliveriesLogOptions;
  readonly #store: DeliveriesLogStore;
  readonly #subscriptions: SubscriptionsStore;

  constructor(options: DeliveriesLogOptions) {
    this.#options = options;
    this.#store = new DeliveriesLogStore(options.db);
    this.#subscriptions = new SubscriptionsStore(options.db);
  }

  /** Newest first, with all attempts. @throws Problem insufficient-scope, not-found */
  async list(
    caller: Caller,
    subscriptionId: string,
    page: { limit?: number | undefined; skip?: number | undefined },
  ): Promise<LoggedDelivery[]> {
    requireScope(caller, 'webhooks:read');
    await this.#subscription(caller, subscriptionId);
    const { limit = PAGE_DEFAULT, skip = 0 } = page;
    const key = { teamId: caller.teamId, subscriptionId };
    return this.#store.page(key, { limit: Math.min(limit, PAGE_MAX), skip });
  }

  /**
   * Delivers an event again, with its event_id and body, as a delivery of its own; once even in a pause.
   * @throws Problem insufficient-scope, not-found, conflict (it is still under way, or the endpoint is disabled)
   */
  async replay(
    caller: Caller,
    subscriptionId: string,
    deliveryId: string,
  ): Promise<{ deliveryId: string; eventId: string }> {
    requireScope(caller, 'webhooks:write');
    const subscription = await this.#replayable(caller, subscriptionId);
    const key = { teamId: caller.teamId, subscriptionId };
    return this.#options.outbox.tx(async (tx) => {
      const found = isUuid(deliveryId) ? await this.#store.find(tx, key, deliveryId) : null;
      if (!found) throw new Problem('not-found', 'There is no such delivery.');
      if (found.state === 'pending')
        throw new Problem('conflict', 'The delivery is still under way: it is tried again by itself.');
      const again = this.#again(subscription, found);
      await this.#send(tx, [again]);
      return { deliveryId: again.deliveryId, eventId: found.eventId };
    });
  }

  /**
   * Delivers again, in their order, what was recorded in a time range (both ends included) and is not under way; replays
   * are not repeated. @throws Problem insufficient-scope, validation-error, not-found, conflict
   */
  async replayRange(
    caller: Caller,
    subscriptionId: string,
    range: { fromMs: number; toMs: number },
  ): Promise<{ replayed: number }> {
    requireScope(caller, 'webhooks:write');
    checkRange(range);
    const subscription = await this.#replayable(caller, subscriptionId);
    const key = { teamId: caller.teamId, subscriptionId };
    return this.#options.outbox.tx(async (tx) => {
      if ((await this.#store.countRange(tx, key, { ...range, max: REPLAY_MAX + 1 })) > REPLAY_MAX)
        throw invalidField('from', `The range holds more than ${REPLAY_MAX} deliveries: replay it in parts.`);
      let replayed = 0;
      let afterSequence = 0;
      while (replayed < REPLAY_MAX) {
        const part = { ...range, afterSequence, limit: Math.min(ROWS_PER_INSERT, REPLAY_MAX - replayed) };
        const found = await this.#store.range(tx, key, part);
        if (found.length === 0) break;
        await this.#send(
          tx,
          found.map((delivery) => this.#again(subscription, delivery)),
        );
        replayed += found.length;
        afterSequence = found.at(-1)?.sequence ?? afterSequence;
      }
      return { replayed };
    });
  }

  async #subscription(caller: Caller, subscriptionId: string): Promise<SubscriptionRow> {
    const key = { teamId: caller.teamId, subscriptionId };
    const found = isUuid(subscriptionId) ? await this.#subscriptions.find(key) : null;
    if (!found) throw noSubscription();
    return found;
  }

  async #replayable(caller: Caller, subscriptionId: string): Promise<SubscriptionRow> {
    const found = await this.#subscription(caller, subscriptionId);
    if (found.status === 'disabled')
      throw new Problem('conflict', 'The endpoint is disabled: give its hook_url again first.');
    return found;
  }

  #again(subscription: SubscriptionRow, delivery: ReplayedDelivery): NewDelivery {
    const { clock, ids } = this.#options;
    const { subscriptionId, teamId, hookUrl } = subscription;
    const { eventId, event, sequence, body } = delivery;
    return {
      ...{ deliveryId: ids.uuid(), teamId, kind: 'subscription', sourceId: subscriptionId },
      ...{ signingKeyId: subscriptionId, url: hookUrl, headers: {}, eventId, event, sequence, body },
      replayOf: delivery.replayOf ?? delivery.deliveryId,
      keepTranscripts: true,
      createdAtMs: clock.nowMs(),
    };
  }

  async #send(tx: Tx, rows: readonly NewDelivery[]): Promise<void> {
    await insertDeliveries(tx, rows);
    await this.#options.outbox.add(tx, deliveryMessages(rows));
  }
}

/** @throws Problem validation-error */
function checkRange({ fromMs, toMs }: { fromMs: number; toMs: number }): void {
  for (const [field, value] of Object.entries({ from: fromMs, to: toMs }))
    if (!Number.isInteger(value) || value < 0 || value > TIME_MAX_MS)
      throw invalidField(field, `${field} must be a time in epoch milliseconds.`);
  if (fromMs > toMs) throw invalidField('to', 'to must not lie before from.');
}
