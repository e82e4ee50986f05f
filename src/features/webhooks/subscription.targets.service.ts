import type { Clock } from '../../kernel/clock.ts';
import type { Cipher, Db, Tx } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import type { DeliveryTargets, Target } from './delivery.targets.type.ts';
import { admit, afterAttempt } from './endpoint.rules.ts';
import type { AttemptOutcome, EndpointStatus } from './endpoint.rules.ts';
import { subscriptionPolicy } from './subscription.policy.rules.ts';
import { EndpointsStore } from './subscriptions.store.ts';
import type { PendingDelivery } from './webhooks.store.ts';

/** Those that wait for the probe look again after this time: the probe has its answer, or its time-out, within 5 s. */
const PROBE_WAIT_MS = 1_000;

/** What binds a stored signing secret to its row. */
export const signingSecretContext = (subscriptionId: string): string => `webhook:${subscriptionId}`;

/** An endpoint changed its status. */
export interface EndpointObservation {
  from: EndpointStatus;
  to: EndpointStatus;
}

export interface SubscriptionTargetsOptions {
  db: Db;
  cipher: Cipher;
  clock: Clock;
  logger: Logger;
  observe?: ((observation: EndpointObservation) => void) | undefined;
}

/**
 * Deliveries of subscriptions. States of an endpoint and how it changes (supplement 4, Retries):
 *
 *   active   → paused     the tenth failed attempt in a row; for 5 minutes
 *   active   → disabled   an answer 410
 *   paused   → active     the probe succeeds: the first delivery that is due after the pause
 *   paused   → paused     the probe fails: for another 5 minutes
 *   paused   → disabled   any attempt is answered 410
 *   any      → active     its owner gives the address again (PUT hook_url)
 *
 * While it is paused, due deliveries are dropped (they stay for a replay); while the probe is under way they wait.
 * An owner's replay is sent once even in a pause. Disabled: everything due is dropped, nothing new is recorded.
 */
export class SubscriptionTargets implements DeliveryTargets {
  readonly policy = subscriptionPolicy;
  readonly #options: SubscriptionTargetsOptions;
  readonly #store: EndpointsStore;

  constructor(options: SubscriptionTargetsOptions) {
    this.#options = options;
    this.#store = new EndpointsStore(options.db);
  }

  async target(delivery: PendingDelivery): Promise<Target> {
    const { clock, cipher } = this.#options;
    const key = keyOf(delivery);
    const found = await this.#store.find(key);
    if (!found) return { kind: 'drop' };
    const { deliveryId } = delivery;
    const isAsked = delivery.replayOf !== null && delivery.attempts === 0;
    const nowMs = clock.nowMs();
    const admission = admit(found.state, { deliveryId, isAsked }, nowMs);
    if (admission === 'drop') return { kind: 'drop' };
    // Opened anew for each attempt: a rotated secret signs from now on, retries too. Before a place as the probe is taken,
    // which one that does not open would hold for good.
    const secret = cipher.decrypt(found.secretCiphertext, signingSecretContext(key.subscriptionId));
    const mayGo = admission === 'send' || (admission === 'probe' && (await this.#claim(delivery, nowMs)));
    if (!mayGo) return { kind: 'wait', untilMs: nowMs + PROBE_WAIT_MS };
    return { kind: 'send', url: found.hookUrl, headers: {}, key: secret };
  }

  async settle(tx: Tx, delivery: PendingDelivery, outcome: AttemptOutcome): Promise<(() => void) | void> {
    const key = keyOf(delivery);
    const attempt = { deliveryId: delivery.deliveryId, outcome, nowMs: this.#options.clock.nowMs() };
    // Nearly every attempt leaves its endpoint as it is, and then no lock is taken.
    const seen = await this.#store.read(tx, key, { isLocked: false });
    if (!seen || afterAttempt(seen, attempt) === seen) return;
    const state = await this.#store.read(tx, key, { isLocked: true });
    if (!state) return;
    const next = afterAttempt(state, attempt);
    if (next === state) return;
    await this.#store.write(tx, key, next);
    if (next.status === state.status) return;
    return () => this.#tell(key, { from: state.status, to: next.status });
  }

  #tell({ teamId, subscriptionId }: ReturnType<typeof keyOf>, change: EndpointObservation): void {
    this.#options.observe?.(change);
    this.#options.logger.info({ teamId, subscriptionId, ...change }, 'a webhook endpoint changed its status');
  }

  #claim(delivery: PendingDelivery, nowMs: number): Promise<boolean> {
    return this.#store.claimProbe(keyOf(delivery), delivery.deliveryId, nowMs);
  }
}

const keyOf = ({ teamId, sourceId }: PendingDelivery) => ({ teamId, subscriptionId: sourceId });
