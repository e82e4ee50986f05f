import { Problem } from '../../kernel/problem.ts';

/** Sizes are in units of the caller's own, such as characters. */
export interface MicroBatchesOptions<T, R> {
  /** How long the first item of a batch waits for others. */
  readonly waitMs: number;
  /** Bounds of one batch; an item above `sizeMax` goes alone. */
  readonly itemsMax: number;
  readonly sizeMax: number;
  /** Bounds of what waits for a writer; beyond them items are refused. */
  readonly waitingMax: number;
  readonly waitingSizeMax: number;
  /** Batches written at once. */
  readonly writersMax: number;
  readonly sizeOf: (item: T) => number;
  /** All or none; a result for each item, in their order. */
  readonly write: (items: readonly T[]) => Promise<readonly R[]>;
  /** Whether a failure may lie in one item, so that the others succeed without it. */
  readonly isOfItem: (error: unknown) => boolean;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly size: number;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers items of a few milliseconds into one write. A batch that fails is split in halves until the item that it failed for
 * stands alone.
 */
export class MicroBatches<T, R> {
  readonly #options: MicroBatchesOptions<T, R>;
  #waiting: Waiting<T, R>[] = [];
  #waitingSize = 0;
  #writers = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: MicroBatchesOptions<T, R>) {
    this.#options = options;
  }

  /** @throws Problem service-unavailable (too much waits), and what `write` throws for the item */
  add(item: T): Promise<R> {
    const { waitingMax, waitingSizeMax, sizeOf } = this.#options;
    const size = sizeOf(item);
    const isFull = this.#waiting.length >= waitingMax || this.#waitingSize + size > waitingSizeMax;
    if (isFull) throw new Problem('service-unavailable', 'Too much waits to be taken; try again soon.');
    this.#waitingSize += size;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, size, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#waiting.length >= this.#options.itemsMax) return this.#start();
    this.#timer ??= setTimeout(() => this.#start(), this.#options.waitMs);
  }

  #start(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    // With every writer busy the first that ends takes what waits.
    if (this.#writers >= this.#options.writersMax || this.#waiting.length === 0) return;
    const batch = this.#take();
    this.#writers += 1;
    void this.#run(batch).finally(() => {
      this.#writers -= 1;
      this.#start();
    });
    if (this.#waiting.length > 0) this.#schedule();
  }

  #take(): Waiting<T, R>[] {
    const { itemsMax, sizeMax } = this.#options;
    let size = 0;
    let count = 0;
    for (const one of this.#waiting) {
      if (count > 0 && (count >= itemsMax || size + one.size > sizeMax)) break;
      count += 1;
      size += one.size;
    }
    this.#waitingSize -= size;
    return this.#waiting.splice(0, count);
  }

  async #run(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#options.write(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R);
    } catch (error) {
      if (batch.length === 1 || !this.#options.isOfItem(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      const half = Math.ceil(batch.length / 2);
      await this.#run(batch.slice(0, half));
      await this.#run(batch.slice(half));
    }
  }
}
