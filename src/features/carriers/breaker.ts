import type { Clock } from '../../kernel/clock.ts';

/** Faults in a row that open the circuit. */
export const FAULTS_MAX = 5;
/** How long an open circuit lets nothing through. */
export const OPEN_MS = 30_000;
/** A probe that has not answered by then counts as lost, and another may go: drivers answer sooner. */
const PROBE_MAX_MS = 120_000;

export const CIRCUITS = ['closed', 'open', 'half_open'] as const;
export type Circuit = (typeof CIRCUITS)[number];

/**
 * Keeps work away from a connection that does not answer. States: closed → open after FAULTS_MAX faults in a row; open →
 * half_open OPEN_MS later; half_open lets one request through, the probe: answered, the circuit closes; a fault opens it
 * again.
 */
export class Breaker {
  readonly #clock: Clock;
  #faults = 0;
  #openedAtMs: number | null = null;
  #probeAtMs: number | null = null;

  constructor(options: { clock: Clock }) {
    this.#clock = options.clock;
  }

  get circuit(): Circuit {
    if (this.#openedAtMs === null) return 'closed';
    return this.#clock.monotonicMs() - this.#openedAtMs < OPEN_MS ? 'open' : 'half_open';
  }

  /** Milliseconds to wait, or null: the request may go, and what came of it must be told. */
  admit(): number | null {
    if (this.#openedAtMs === null) return null;
    const nowMs = this.#clock.monotonicMs();
    const openMs = this.#openedAtMs + OPEN_MS - nowMs;
    if (openMs > 0) return Math.ceil(openMs);
    if (this.#probeAtMs !== null && nowMs - this.#probeAtMs < PROBE_MAX_MS) return FAULT_PAUSE_MS;
    this.#probeAtMs = nowMs;
    return null;
  }

  /** The carrier answered, whatever it said. */
  answered(): void {
    this.#faults = 0;
    this.#openedAtMs = null;
    this.#probeAtMs = null;
  }

  /** It did not, or said that it cannot. */
  failed(): void {
    this.#faults += 1;
    if (this.#probeAtMs === null && this.#faults < FAULTS_MAX) return;
    this.#openedAtMs = this.#clock.monotonicMs();
    this.#probeAtMs = null;
  }
}

/** How long a request waits while another probes. */
const FAULT_PAUSE_MS = 1_000;
