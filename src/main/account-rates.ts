import type { Clock } from '../kernel/clock.ts';

/** A rate that an operator changed is in force within this time. */
const FRESH_MS = 5_000;
const ACCOUNTS_MAX = 10_000;

/** Rates of accounts, asked for once in a while and not for each request. */
export class AccountRates {
  readonly #read: (teamId: string) => Promise<number>;
  readonly #clock: Clock;
  readonly #known = new Map<string, { rate: Promise<number>; atMs: number }>();

  constructor(options: { read: (teamId: string) => Promise<number>; clock: Clock }) {
    this.#read = options.read;
    this.#clock = options.clock;
  }

  of(teamId: string): Promise<number> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#known.get(teamId);
    if (known && nowMs - known.atMs < FRESH_MS) return known.rate;
    const rate = this.#read(teamId).catch((error: unknown) => {
      this.#known.delete(teamId);
      throw error;
    });
    if (this.#known.size >= ACCOUNTS_MAX) this.#known.clear();
    this.#known.set(teamId, { rate, atMs: nowMs });
    return rate;
  }
}
