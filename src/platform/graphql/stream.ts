import { Problem } from '../../kernel/problem.ts';

/** Events that wait for one subscriber; beyond it the subscription ends with an error. */
export const BUFFERED_EVENTS_MAX = 1_000;

/**
 * The events of one subscription: pushed by a feed, taken by the connection at its own pace. Open → ended, by the
 * subscriber, by the feed, or because the subscriber fell behind; `onEnd` is called once.
 */
export class EventStream<T> implements AsyncIterableIterator<T> {
  readonly #onEnd: () => void;
  #waiting: T[] = [];
  #takers: ((result: IteratorResult<T>) => void)[] = [];
  #fault: Problem | null = null;
  #isEnded = false;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  push(event: T): void {
    if (this.#isEnded) return;
    const taker = this.#takers.shift();
    if (taker) return taker({ value: event, done: false });
    if (this.#waiting.length >= BUFFERED_EVENTS_MAX) {
      this.#fault = new Problem('too-many-requests', 'The subscription fell behind its events.');
      return this.end();
    }
    this.#waiting.push(event);
  }

  /** What waits is still taken, unless the subscriber fell behind. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const taker of this.#takers.splice(0)) taker({ value: undefined, done: true });
    this.#onEnd();
  }

  async next(): Promise<IteratorResult<T>> {
    if (this.#fault) {
      const fault = this.#fault;
      this.#fault = null;
      this.#waiting = [];
      throw fault;
    }
    const event = this.#waiting.shift();
    if (event !== undefined) return { value: event, done: false };
    if (this.#isEnded) return { value: undefined, done: true };
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  async return(): Promise<IteratorResult<T>> {
    this.#waiting = [];
    this.end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Names a feed that resolvers of subscriptions find in their context. */
export class FeedKey<T> {
  readonly name: string;
  /** Only tells the compiler what is found by it. */
  declare readonly feed: T;

  constructor(name: string) {
    this.name = name;
  }
}

/** The feeds that subscriptions open, composed in `main`. */
export class Feeds {
  readonly #byKey = new Map<FeedKey<unknown>, unknown>();

  add<T>(key: FeedKey<T>, feed: T): this {
    this.#byKey.set(key, feed);
    return this;
  }

  of<T>(key: FeedKey<T>): T {
    const feed = this.#byKey.get(key);
    if (feed === undefined) throw new Error(`no feed ${key.name}`);
    return feed as T;
  }
}
