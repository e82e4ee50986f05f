/** Time as a parameter: nothing below `main` reads the machine's clock by itself. */
export interface Clock {
  /** Wall time, epoch milliseconds. */
  nowMs(): number;
  /** Monotonic milliseconds with fractions; only differences mean something. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** A clock that moves only when told to; for tests on virtual time. */
export class ManualClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;

  constructor(wallMs: number) {
    this.#wallMs = wallMs;
  }

  nowMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  advance(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }
}
