import { ALL_LANES } from './queue.ts';

/** Distinct lanes that may wait for one turn of the event loop; beyond it they collapse into ALL_LANES. */
const PENDING_LANES_MAX = 10_000;

/** Collects the lanes woken in one turn of the event loop and hands each out once. */
export class WakeBuffer {
  readonly #pending = new Set<string>();
  readonly #flush: (lanes: string[]) => void;
  #scheduled = false;

  /** `flush` must not throw. */
  constructor(flush: (lanes: string[]) => void) {
    this.#flush = flush;
  }

  add(lane: string): void {
    if (this.#pending.size >= PENDING_LANES_MAX) {
      this.#pending.clear();
      this.#pending.add(ALL_LANES);
    }
    if (!this.#pending.has(ALL_LANES)) this.#pending.add(lane);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const lanes = [...this.#pending];
      this.#pending.clear();
      this.#flush(lanes);
    });
  }
}
