import { backoffMs, isTransientDbError } from './transient.rules.ts';

/** Tries of one batch while the database is away. */
const TRIES_MAX = 8;
const PAUSE = { minMs: 25, maxMs: 2_000 };

export interface GatherOptions<T, R> {
  /** Does all of them in one go; answers in their order. */
  readonly work: (items: readonly T[]) => Promise<readonly R[]>;
  readonly itemsMax: number;
  /** Goes under way at the same time; what comes meanwhile makes up the next. */
  readonly atOnceMax: number;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes one statement of what many ask for at the same time. Nothing waits for company: what comes while others are under
 * way goes together next. A batch that fails is split, so that one bad item fails alone; while the database is away it is
 * tried again. What waits is bounded by those who ask: each of them waits for its answer.
 */
export class Gather<T, R> {
  readonly #options: GatherOptions<T, R>;
  #waiting: Waiting<T, R>[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(options: GatherOptions<T, R>) {
    this.#options = options;
  }

  run(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** At the end of this turn of the event loop, so that all who ask in it go together. */
  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || this.#underWay >= this.#options.atOnceMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const batch = this.#waiting.splice(0, this.#options.itemsMax);
      this.#underWay += 1;
      this.#schedule();
      void this.#do(batch).finally(() => {
        this.#underWay -= 1;
        this.#schedule();
      });
    });
  }

  /** Never rejects: each item hears of its own end. */
  async #do(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#try(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index] as R));
    } catch (error) {
      if (batch.length <= 1) return batch.forEach(({ reject }) => reject(error));
      const half = Math.ceil(batch.length / 2);
      await this.#do(batch.slice(0, half));
      await this.#do(batch.slice(half));
    }
  }

  async #try(items: readonly T[]): Promise<readonly R[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#options.work(items);
      } catch (error) {
        if (!isTransientDbError(error) || attempt >= TRIES_MAX) throw error;
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, PAUSE)));
      }
    }
  }
}
