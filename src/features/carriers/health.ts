import type { Clock } from '../../kernel/clock.ts';

/** Requests are counted in parts of this length. */
const PART_MS = 10_000;
/** So many parts make the window: a minute. */
const PARTS = 6;
const WINDOW_MS = PART_MS * PARTS;

interface Part {
  number: number;
  requests: number;
  faults: number;
}

/** What came of the requests of one connection in this process, over the last minute. */
export class Health {
  readonly #clock: Clock;
  readonly #parts: Part[] = [];
  #lastFault: string | null = null;
  #lastFaultAtMs: number | null = null;

  constructor(options: { clock: Clock }) {
    this.#clock = options.clock;
  }

  /** `fault`: what was wrong with the carrier's answer, or null. */
  count(fault: string | null): void {
    const part = this.#current();
    part.requests += 1;
    if (fault === null) return;
    part.faults += 1;
    this.#lastFault = fault;
    this.#lastFaultAtMs = this.#clock.nowMs();
  }

  /** Counts of the last minute. */
  view(): { requests: number; faults: number; lastFault: string | null; lastFaultAtMs: number | null } {
    this.#forget();
    const sum = (pick: (part: Part) => number): number =>
      this.#parts.reduce((total, part) => total + pick(part), 0);
    return {
      requests: sum(({ requests }) => requests),
      faults: sum(({ faults }) => faults),
      lastFault: this.#lastFault,
      lastFaultAtMs: this.#lastFaultAtMs,
    };
  }

  #current(): Part {
    this.#forget();
    const number = this.#number();
    const last = this.#parts.at(-1);
    if (last?.number === number) return last;
    const part = { number, requests: 0, faults: 0 };
    this.#parts.push(part);
    return part;
  }

  #number(): number {
    return Math.floor(this.#clock.monotonicMs() / PART_MS);
  }

  #forget(): void {
    const oldest = this.#number() - PARTS;
    while (this.#parts[0] && this.#parts[0].number <= oldest) this.#parts.shift();
  }
}

/** Requests a second over the window of the counts. */
export const rateOf = (requests: number): number => requests / (WINDOW_MS / 1_000);
