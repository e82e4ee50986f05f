import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { Announce, News, Outbox } from '../../platform/outbox/index.ts';
import { deliveryMessages } from './delivery.jobs.ts';
import { isPausedAt } from './endpoint.rules.ts';
import { matchesAny, patternsOf } from './event-types.rules.ts';
import { publisherStore } from './publisher.store.ts';
import type { Listener } from './publisher.store.ts';
import { insertDeliveries } from './webhooks.store.ts';
import type { NewDelivery } from './webhooks.store.ts';

/** Deliveries of one pair of inserts; an import of 10,000 contacts makes that many for each subscription. */
const ROWS_PER_INSERT = 1_000;

export interface PublisherOptions {
  outbox: Outbox;
  clock: Clock;
  ids: Ids;
}

/** An event as every subscription to it gets it. */
interface Event extends News {
  readonly eventId: string;
}

/** Makes deliveries out of news, for the subscriptions that ask for them. */
export class SubscriptionPublisher {
  readonly #options: PublisherOptions;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /**
   * Records the deliveries of `news` and their messages in `tx`: one cheap statement when nobody listens, two inserts for
   * each thousand deliveries otherwise. Until the transaction ends it holds the account's listening subscriptions, so
   * call it last. Events of a pause are recorded as dropped; disabled subscriptions get none.
   */
  readonly announce: Announce = async (tx, news) => {
    if (news.length === 0) return;
    const names = [...new Set(news.map(({ event }) => event))];
    const listeners = await publisherStore.holdListeners(tx, {
      teamIds: [...new Set(news.map(({ teamId }) => teamId))],
      patterns: [...new Set(names.flatMap(patternsOf))],
    });
    if (listeners.length === 0) return;
    const events = news.map((item): Event => ({ ...item, eventId: this.#options.ids.uuid() }));
    let rows: NewDelivery[] = [];
    for (const listener of listeners) {
      const heard = new Set(names.filter((name) => matchesAny(listener.eventTypes, name)));
      for (const event of events) {
        if (event.teamId !== listener.teamId || !heard.has(event.event)) continue;
        rows.push(this.#delivery(listener, event));
        listener.nextSequence += 1;
        if (rows.length < ROWS_PER_INSERT) continue;
        await this.#insert(tx, rows);
        rows = [];
      }
    }
    await this.#insert(tx, rows);
    await publisherStore.advance(tx, listeners);
  };

  #delivery(listener: Listener, event: Event): NewDelivery {
    const { clock, ids } = this.#options;
    const { subscriptionId, nextSequence: sequence } = listener;
    const nowMs = clock.nowMs();
    return {
      ...{ deliveryId: ids.uuid(), teamId: event.teamId, kind: 'subscription' },
      ...{ sourceId: subscriptionId, signingKeyId: subscriptionId, url: listener.hookUrl, headers: {} },
      ...{ eventId: event.eventId, event: event.event, sequence },
      body: eventBody({ ...event, sequence }),
      isDropped: isPausedAt(listener, nowMs),
      // A replay sends what was sent.
      keepTranscripts: true,
      createdAtMs: nowMs,
    };
  }

  async #insert(tx: Tx, rows: readonly NewDelivery[]): Promise<void> {
    await insertDeliveries(tx, rows);
    await this.#options.outbox.add(tx, deliveryMessages(rows.filter((row) => !row.isDropped)));
  }
}

/** The exact text that is signed and sent (supplement 12, Webhooks). */
export const eventBody = (event: Omit<News, 'teamId'> & { eventId: string; sequence: number }): string =>
  JSON.stringify({
    event_id: event.eventId,
    event: event.event,
    event_at: event.atMs,
    data: event.data,
    sequence: event.sequence,
  });
