/** Nothing more is taken: `waitingMax` wait already. */
export class SlotsFullError extends Error {
  constructor() {
    super('too much work waits already');
    this.name = 'SlotsFullError';
  }
}

/** Runs at most `max` works at once, the others in turn; bounded in what waits. */
export class Slots {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: { readonly max: number; readonly waitingMax: number }) {
    this.#max = options.max;
    this.#waitingMax = options.waitingMax;
  }

  /** @throws SlotsFullError */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#max) this.#running += 1;
    else if (this.#waiting.length >= this.#waitingMax) throw new SlotsFullError();
    // Whoever ends hands its place over, so it is not counted anew.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
