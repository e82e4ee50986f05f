import type { Handler, OutboxMessage } from '../../platform/outbox/index.ts';
import type { Cipher } from '../../platform/db/index.ts';
import { DeliveryService } from './delivery.service.ts';
import type { DeliveryOptions } from './delivery.service.ts';
import { DetectionTargets } from './detection.targets.service.ts';
import { SubscriptionTargets } from './subscription.targets.service.ts';
import type { EndpointObservation } from './subscription.targets.service.ts';
import type { NewDelivery } from './webhooks.store.ts';

export const TOPIC = 'webhook.deliver';
/** Deliveries in flight in one process. */
const CONCURRENCY_MAX = 256;
/** Of these to one receiver of one account, so that a slow one delays nobody else. */
const PER_RECEIVER_MAX = 16;
/** The answer's 10 s and the recording, with room for a database that is away for a moment. */
const LEASE_MS = 30_000;

/** The outbox messages of new deliveries: a lane for each account and receiver, in order within the session or subscription. */
export function deliveryMessages(rows: readonly NewDelivery[]): OutboxMessage[] {
  return rows.map((row) => ({
    topic: TOPIC,
    key: row.deliveryId,
    lane: `${row.teamId}:${new URL(row.url).origin}`,
    orderKey: row.sourceId,
    payload: { delivery_id: row.deliveryId },
    availableAtMs: row.createdAtMs,
  }));
}

export interface DeliveryHandlerOptions extends Omit<DeliveryOptions, 'targets'> {
  /** Opens the secrets of subscriptions. */
  cipher: Cipher;
  /** The secret of a Detection key's id, null when there is no such key. */
  signingKey: (keyId: string) => Promise<string | null>;
  /** Told after an endpoint changed its status. */
  observeEndpoint?: (observation: EndpointObservation) => void;
}

/** Takes `webhook.deliver` off the outbox. */
export function createDeliveryHandler(options: DeliveryHandlerOptions): Handler {
  const { signingKey, observeEndpoint, ...rest } = options;
  const service = new DeliveryService({
    ...rest,
    targets: {
      detection: new DetectionTargets(signingKey),
      subscription: new SubscriptionTargets({ ...rest, observe: observeEndpoint }),
    },
  });
  return {
    topic: TOPIC,
    concurrencyMax: CONCURRENCY_MAX,
    laneConcurrencyMax: PER_RECEIVER_MAX,
    leaseMs: LEASE_MS,
    // At least once is the promise, with constant ids.
    mayRepeat: true,
    async handle(row, finish, signal) {
      // The key is the delivery's id; the payload repeats it for readers of the table.
      await service.deliver(row.key, finish, signal);
    },
  };
}
