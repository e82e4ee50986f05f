/** At most `max` uses of a key within any `windowMs`. */
export interface Quota {
  readonly max: number;
  readonly windowMs: number;
}

/** Keys held at once; beyond it the one that was first used longest ago is forgotten. */
const KEYS_MAX = 10_000;

/** Counts uses by key in this process, exactly: no window of this length, wherever it begins, holds more than the quota. */
export class WindowQuota {
  readonly #quota: Quota;
  readonly #uses = new Map<string, number[]>();

  constructor(quota: Quota) {
    this.#quota = quota;
  }

  has(key: string, nowMs: number): boolean {
    return this.#recent(key, nowMs).length < this.#quota.max;
  }

  /** Counts one use; asked for before by `has`. */
  use(key: string, nowMs: number): void {
    const recent = this.#recent(key, nowMs);
    recent.push(nowMs);
    this.#uses.delete(key);
    this.#uses.set(key, recent);
    if (this.#uses.size <= KEYS_MAX) return;
    const [oldest] = this.#uses.keys();
    if (oldest !== undefined) this.#uses.delete(oldest);
  }

  #recent(key: string, nowMs: number): number[] {
    return (this.#uses.get(key) ?? []).filter((atMs) => nowMs - atMs < this.#quota.windowMs);
  }
}
