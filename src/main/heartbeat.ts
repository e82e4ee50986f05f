import type { Clock } from '../kernel/clock.ts';
import type { PeriodicJob } from './periodic.ts';

const INTERVAL_MS = 1_000;
/** The heartbeats of all processes are fresh again this long after an outage of the database. */
const STEADY_AFTER_MS = 15_000;
/** A beat that is later than this is an outage. */
const GAP_MS = 5_000;

/** Says once a second that this process lives, and knows whether it has been heard lately. */
export class Heartbeat implements PeriodicJob {
  readonly name = 'heartbeat';
  readonly intervalMs = INTERVAL_MS;
  readonly #beat: () => Promise<void>;
  readonly #clock: Clock;
  #lastMs: number;
  #steadySinceMs: number;

  /** `beat` writes the heartbeat; it rejects while the database is away. */
  constructor(beat: () => Promise<void>, clock: Clock) {
    this.#beat = beat;
    this.#clock = clock;
    this.#lastMs = clock.monotonicMs();
    this.#steadySinceMs = this.#lastMs;
  }

  async run(): Promise<void> {
    await this.#beat();
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lastMs > GAP_MS) this.#steadySinceMs = nowMs;
    this.#lastMs = nowMs;
  }

  /** Whether every living process had time to be heard since the last outage. */
  isSteady(): boolean {
    const nowMs = this.#clock.monotonicMs();
    return nowMs - this.#lastMs <= GAP_MS && nowMs - this.#steadySinceMs >= STEADY_AFTER_MS;
  }
}
