import type { Tx } from '../../platform/db/index.ts';
import type { AttemptOutcome } from './endpoint.rules.ts';
import type { DeliveryPolicy } from './delivery.policy.rules.ts';
import type { PendingDelivery } from './webhooks.store.ts';

/** What becomes of a delivery that is due. */
export type Target =
  /** `key` null: it is gone, and no attempt can be made. */
  | { kind: 'send'; url: string; headers: Record<string, string>; key: string | null }
  /** Not now: asked again at `untilMs`, in its place. */
  | { kind: 'wait'; untilMs: number }
  /** Never sent; it stays in the log. */
  | { kind: 'drop' };

/** One kind of delivery, as the engine needs it: how it is made, where it goes, and what its attempts mean. */
export interface DeliveryTargets {
  readonly policy: DeliveryPolicy;
  /** Asked right before each attempt, so that a new address and a new secret hold for retries too. */
  target(delivery: PendingDelivery): Promise<Target>;
  /**
   * Told of each attempt in the transaction that records it. What it answers is called after the commit; the
   * transaction may be run again.
   */
  settle(tx: Tx, delivery: PendingDelivery, outcome: AttemptOutcome): Promise<(() => void) | void>;
}
