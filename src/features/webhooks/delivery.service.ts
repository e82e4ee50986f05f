import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { PostTimeout, TargetRefused } from '../../platform/net/index.ts';
import type { Net, PostAnswer } from '../../platform/net/index.ts';
import type { Finish } from '../../platform/outbox/index.ts';
import { detectionPolicy } from './delivery.policy.rules.ts';
import type { AttemptResult, Decision, DeliveryPolicy } from './delivery.policy.rules.ts';
import { classifyFault, excerptOf, mergeHeaders } from './delivery.rules.ts';
import { SigningKeys } from './signing-keys.ts';
import { withoutTranscript } from './transcript.rules.ts';
import { WebhooksStore } from './webhooks.store.ts';
import type { AttemptRow, DeliveryKind, PendingDelivery } from './webhooks.store.ts';

const POLICIES: Record<DeliveryKind, DeliveryPolicy> = { detection: detectionPolicy };

/** One attempt as metrics see it. */
export interface DeliveryObservation {
  attempt: number;
  state: Decision['state'];
  /** From the delivery's creation to the start of this attempt. */
  sinceCreatedMs: number;
  durationMs: number;
}

export interface DeliveryOptions {
  db: Db;
  net: Net;
  clock: Clock;
  logger: Logger;
  /** The secret of a key id, null when there is no such key. */
  signingKey: (keyId: string) => Promise<string | null>;
  /** Uniform in 0..1, for jitter. */
  random?: () => number;
  observe?: (observation: DeliveryObservation) => void;
}

interface Attempt {
  row: AttemptRow;
  result: AttemptResult;
}

/**
 * Makes deliveries, one attempt a call. States of a delivery: pending → delivered | failed; between its attempts
 * it is pending and its outbox row lies in the future. An attempt whose process died before it was recorded is
 * made again with the same delivery id: at least once.
 */
export class DeliveryService {
  readonly #options: DeliveryOptions;
  readonly #store: WebhooksStore;
  readonly #signingKeys: SigningKeys;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#signingKeys = new SigningKeys(options.signingKey);
    this.#store = new WebhooksStore(options.db);
  }

  /** Makes the next attempt and records it in the transaction that ends or puts off the outbox row. */
  async deliver(deliveryId: string, finish: Finish, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const delivery = await this.#store.findPending(deliveryId);
    if (!delivery) {
      await finish(async () => undefined);
      return;
    }
    const policy = POLICIES[delivery.kind];
    const { row, result } = await this.#attempt({ deliveryId, delivery, policy, signal });
    const firstStartedMs = delivery.firstStartedMs ?? row.startedAtMs;
    const end = { attempt: row.attempt, firstStartedMs, nowMs: clock.nowMs(), result };
    const decision = policy.decide(end, (this.#options.random ?? Math.random)());
    await this.#record(finish, { row, decision, delivery });
    this.#options.observe?.({
      attempt: row.attempt,
      state: decision.state,
      sinceCreatedMs: row.startedAtMs - delivery.createdAtMs,
      durationMs: row.durationMs,
    });
    if (decision.state === 'failed') {
      const { teamId, event } = delivery;
      const { attempt, statusCode, error } = row;
      logger.warn(
        { deliveryId, teamId, event, attempt, statusCode, error },
        'a webhook delivery failed for good',
      );
    }
  }

  async #attempt(of: {
    deliveryId: string;
    delivery: PendingDelivery;
    policy: DeliveryPolicy;
    signal: AbortSignal;
  }): Promise<Attempt> {
    const { deliveryId, delivery, policy, signal } = of;
    const { clock } = this.#options;
    const startedAtMs = clock.nowMs();
    const startedMonotonicMs = clock.monotonicMs();
    const base = { deliveryId, teamId: delivery.teamId, attempt: delivery.attempts + 1, startedAtMs };
    const fault = (error: string, retryable: boolean): Attempt => {
      const durationMs = clock.monotonicMs() - startedMonotonicMs;
      const row = { ...base, durationMs, statusCode: null, error, responseExcerpt: null };
      return { row, result: { kind: 'fault', retryable } };
    };
    const key = await this.#signingKeys.get(delivery.signingKeyId);
    if (key === null) return fault('signing_key', false);
    try {
      const answer = await this.#post({ deliveryId, delivery, policy, signal, key, nowMs: startedAtMs });
      const responseExcerpt = excerptOf(answer.body);
      const { status, durationMs } = answer;
      const row = { ...base, durationMs, statusCode: status, error: null, responseExcerpt };
      return { row, result: { kind: 'answer', status, retryAfter: answer.headers['retry-after'] } };
    } catch (error) {
      // The process is ending: nothing is recorded, the lease goes back and another makes this attempt.
      if (signal.aborted) throw error;
      if (error instanceof PostTimeout) return fault('timeout', true);
      if (error instanceof TargetRefused) return fault(`target_refused_${error.reason}`, false);
      const { word, retryable } = classifyFault(error);
      return fault(word, retryable);
    }
  }

  #post(of: {
    deliveryId: string;
    delivery: PendingDelivery;
    policy: DeliveryPolicy;
    signal: AbortSignal;
    key: string;
    nowMs: number;
  }): Promise<PostAnswer> {
    const { deliveryId, delivery, policy, signal, key, nowMs } = of;
    const { url, event, body } = delivery;
    const own = { ...policy.describe({ deliveryId, event, body }), ...policy.sign({ body, key, nowMs }) };
    const headers = mergeHeaders(delivery.headers, own);
    return this.#options.net.post({ url, headers, body, timeoutMs: policy.timeoutMs, signal });
  }

  async #record(
    finish: Finish,
    of: { row: AttemptRow; decision: Decision; delivery: PendingDelivery },
  ): Promise<void> {
    const { row, decision, delivery } = of;
    const isFinal = decision.state !== 'pending';
    const end = {
      state: decision.state,
      finishedAtMs: isFinal ? this.#options.clock.nowMs() : null,
      strippedBody: isFinal && !delivery.keepTranscripts ? withoutTranscript(delivery.body) : null,
    };
    await finish(async (tx) => {
      await this.#store.record(tx, row, end);
      return decision.state === 'pending' ? { retryAtMs: decision.retryAtMs } : undefined;
    });
  }
}
