import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { PostTimeout, TargetRefused } from '../../platform/net/index.ts';
import type { Net, PostAnswer } from '../../platform/net/index.ts';
import type { Finish } from '../../platform/outbox/index.ts';
import type { AttemptResult, Decision, DeliveryPolicy } from './delivery.policy.rules.ts';
import { classifyFault, excerptOf, mergeHeaders } from './delivery.rules.ts';
import type { DeliveryTargets, Target } from './delivery.targets.type.ts';
import type { AttemptOutcome } from './endpoint.rules.ts';
import { withoutTranscript } from './transcript.rules.ts';
import { WebhooksStore } from './webhooks.store.ts';
import type { AttemptRow, DeliveryKind, PendingDelivery } from './webhooks.store.ts';

/** One attempt as metrics see it. */
export interface DeliveryObservation {
  kind: DeliveryKind;
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
  targets: Record<DeliveryKind, DeliveryTargets>;
  /** Uniform in 0..1, for jitter. */
  random?: () => number;
  observe?: (observation: DeliveryObservation) => void;
  /** Told of each delivery that is kept instead of sent. */
  observeDropped?: () => void;
}

interface Attempt {
  row: AttemptRow;
  result: AttemptResult;
}

/** A delivery with what its next attempt needs. */
interface Sending {
  delivery: PendingDelivery;
  target: Target & { kind: 'send' };
  policy: DeliveryPolicy;
  signal: AbortSignal;
}

/**
 * Makes deliveries, one attempt a call. States of a delivery: pending → delivered | failed | dropped; between its
 * attempts it is pending and its outbox row lies in the future. An attempt whose process died before it was recorded
 * is made again with the same ids: at least once. What differs between kinds is behind `DeliveryTargets`.
 */
export class DeliveryService {
  readonly #options: DeliveryOptions;
  readonly #store: WebhooksStore;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#store = new WebhooksStore(options.db);
  }

  /** Makes the next attempt and records it in the transaction that ends or puts off the outbox row. */
  async deliver(deliveryId: string, finish: Finish, signal: AbortSignal): Promise<void> {
    const delivery = await this.#store.findPending(deliveryId);
    if (!delivery) {
      await finish();
      return;
    }
    const targets = this.#options.targets[delivery.kind];
    const target = await targets.target(delivery);
    if (target.kind === 'wait') {
      await finish(async () => ({ retryAtMs: target.untilMs, keepsTurn: true }));
      return;
    }
    if (target.kind === 'drop') return this.#drop(finish, delivery);
    const { row, result } = await this.#attempt({ delivery, target, policy: targets.policy, signal });
    const firstStartedMs = delivery.firstStartedMs ?? row.startedAtMs;
    const end = { attempt: row.attempt, firstStartedMs, nowMs: this.#options.clock.nowMs(), result };
    const decision = targets.policy.decide(end, (this.#options.random ?? Math.random)());
    await this.#record(finish, { row, result, decision, delivery });
    this.#tell(delivery, row, decision);
  }

  async #drop(finish: Finish, { deliveryId, teamId }: PendingDelivery): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    const isDone = await finish(
      async (tx) => void (await this.#store.drop(tx, { deliveryId, teamId, nowMs })),
    );
    if (isDone) this.#options.observeDropped?.();
  }

  #tell(
    { deliveryId, kind, teamId, event, createdAtMs }: PendingDelivery,
    row: AttemptRow,
    decision: Decision,
  ) {
    const { attempt, statusCode, error, durationMs } = row;
    const sinceCreatedMs = row.startedAtMs - createdAtMs;
    this.#options.observe?.({ kind, attempt, state: decision.state, sinceCreatedMs, durationMs });
    if (decision.state !== 'failed') return;
    this.#options.logger.warn(
      { deliveryId, teamId, event, attempt, statusCode, error },
      'a webhook delivery failed for good',
    );
  }

  async #attempt(sending: Sending): Promise<Attempt> {
    const { delivery, target, signal } = sending;
    const { deliveryId, teamId } = delivery;
    const { clock } = this.#options;
    const startedAtMs = clock.nowMs();
    const startedMonotonicMs = clock.monotonicMs();
    const base = { deliveryId, teamId, attempt: delivery.attempts + 1, startedAtMs };
    const fault = (error: string, retryable: boolean): Attempt => {
      const durationMs = clock.monotonicMs() - startedMonotonicMs;
      const row = { ...base, durationMs, statusCode: null, error, responseExcerpt: null };
      return { row, result: { kind: 'fault', retryable } };
    };
    if (target.key === null) return fault('signing_key', false);
    try {
      const answer = await this.#post(sending, { key: target.key, nowMs: startedAtMs });
      const responseExcerpt = excerptOf(answer.body);
      const { status, durationMs } = answer;
      const row = { ...base, durationMs, statusCode: status, error: null, responseExcerpt };
      return { row, result: { kind: 'answer', status, retryAfter: answer.headers['retry-after'] } };
    } catch (error) {
      // The process is ending: nothing is recorded, the lease goes back and another makes this attempt.
      if (signal.aborted) throw error;
      const { word, retryable } = faultOf(error);
      return fault(word, retryable);
    }
  }

  #post(sending: Sending, at: { key: string; nowMs: number }): Promise<PostAnswer> {
    const { delivery, target, policy, signal } = sending;
    const { deliveryId, event, body } = delivery;
    const eventId = delivery.eventId ?? deliveryId;
    const own = {
      ...policy.describe({ deliveryId, eventId, event, body, attempt: delivery.attempts + 1 }),
      ...policy.sign({ body, eventId, ...at }),
    };
    const headers = mergeHeaders(target.headers, own);
    return this.#options.net.post({ url: target.url, headers, body, timeoutMs: policy.timeoutMs, signal });
  }

  async #record(
    finish: Finish,
    of: { row: AttemptRow; result: AttemptResult; decision: Decision; delivery: PendingDelivery },
  ): Promise<void> {
    const { row, result, decision, delivery } = of;
    const isFinal = decision.state !== 'pending';
    const end = {
      state: decision.state,
      finishedAtMs: isFinal ? this.#options.clock.nowMs() : null,
      strippedBody: isFinal && !delivery.keepTranscripts ? withoutTranscript(delivery.body) : null,
    };
    const outcome = outcomeOf(result, decision);
    const targets = this.#options.targets[delivery.kind];
    let afterCommit: (() => void) | void = undefined;
    const isDone = await finish(async (tx) => {
      // An attempt that another recorded already has been settled by it.
      const isMine = await this.#store.record(tx, row, end);
      afterCommit = isMine ? await targets.settle(tx, delivery, outcome) : undefined;
      return decision.state === 'pending' ? { retryAtMs: decision.retryAtMs } : undefined;
    });
    if (isDone) (afterCommit as (() => void) | undefined)?.();
  }
}

/** Why there was no answer, in a word; only what another attempt cannot mend is not retryable. */
export function faultOf(error: unknown): { word: string; retryable: boolean } {
  if (error instanceof PostTimeout) return { word: 'timeout', retryable: true };
  if (error instanceof TargetRefused) return { word: `target_refused_${error.reason}`, retryable: false };
  return classifyFault(error);
}

const GONE = 410;

function outcomeOf(result: AttemptResult, decision: Decision): AttemptOutcome {
  if (decision.state === 'delivered') return 'success';
  return result.kind === 'answer' && result.status === GONE ? 'gone' : 'failure';
}
