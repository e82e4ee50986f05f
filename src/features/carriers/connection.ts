import type { Clock } from '../../kernel/clock.ts';
import type { Limiter } from '../../platform/limits/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { Breaker } from './breaker.ts';
import type { HealthRow } from './carriers.store.ts';
import type { CarrierRequests, Driver } from './driver.type.ts';
import { Health } from './health.ts';
import type { CarrierAnswer, CarrierWait, CarrierWork } from './port.type.ts';
import type { Said } from './said.rules.ts';

/** The longest that a request is sent away for because of the connection's own rate. */
const RATE_WAIT_MAX_MS = 60_000;

export interface ConnectionOptions {
  readonly carrierId: string;
  readonly teamId: string;
  readonly driver: Driver;
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * A driver with what stands around it: the carrier's own wish to be left alone (Retry-After), the connection's rate, and
 * the breaker. What is not let through is told to come again; nothing was sent then.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #breaker: Breaker;
  readonly #health: Health;
  #quietUntilMs = -Infinity;
  /** When the next request that exceeds the rate may come again; they come one by one, not all at once. */
  #nextTurnMs = -Infinity;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#breaker = new Breaker(options);
    this.#health = new Health(options);
  }

  /** Takes a turn within the connection's rate; `ratePerSecond` null: no limit. Not null: it is used up. */
  async turn(ratePerSecond: number | null): Promise<CarrierWait | null> {
    if (ratePerSecond === null) return null;
    const { carrierId, limiter } = this.#options;
    const limit = { perSecond: ratePerSecond, burst: ratePerSecond };
    if (await limiter.take(`carrier:${carrierId}`, limit)) return null;
    return { afterMs: this.#turnMs(ratePerSecond), detail: "The connection's rate is used up." };
  }

  /** Never rejects. */
  async send<W extends CarrierWork>(
    work: W,
    request: CarrierRequests[W],
    signal: AbortSignal,
  ): Promise<CarrierAnswer> {
    const wait = this.#admit();
    if (wait !== null) return { kind: 'retry', ...wait };
    const said = await this.#ask(work, request, signal);
    this.#health.count(said.fault);
    if (said.fault === null) this.#breaker.answered();
    else this.#breaker.failed();
    if (said.quietMs !== undefined) this.#quietUntilMs = this.#options.clock.monotonicMs() + said.quietMs;
    return said.answer;
  }

  view(): HealthRow {
    const { carrierId, teamId } = this.#options;
    return { carrierId, teamId, circuit: this.#breaker.circuit, ...this.#health.view() };
  }

  close(): Promise<void> {
    return this.#options.driver.close();
  }

  #admit(): CarrierWait | null {
    const quietMs = this.#quietUntilMs - this.#options.clock.monotonicMs();
    if (quietMs > 0) return { afterMs: Math.ceil(quietMs), detail: 'The carrier asked to be left alone.' };
    const openMs = this.#breaker.admit();
    return openMs === null ? null : { afterMs: openMs, detail: 'The carrier does not answer.' };
  }

  #turnMs(ratePerSecond: number): number {
    const nowMs = this.#options.clock.monotonicMs();
    const atMs = Math.max(this.#nextTurnMs, nowMs) + 1_000 / ratePerSecond;
    this.#nextTurnMs = Math.min(atMs, nowMs + RATE_WAIT_MAX_MS);
    return Math.ceil(this.#nextTurnMs - nowMs);
  }

  async #ask<W extends CarrierWork>(
    work: W,
    request: CarrierRequests[W],
    signal: AbortSignal,
  ): Promise<Said> {
    try {
      return await this.#options.driver.send(work, request, signal);
    } catch (error) {
      // A bug of ours, and the request may have left: nothing says that it did not.
      const { carrierId, logger } = this.#options;
      logger.error({ err: error, carrier_id: carrierId, work }, 'A carrier could not be asked.');
      const detail = 'The request failed.';
      return { answer: { kind: 'unknown', detail }, fault: detail };
    }
  }
}
