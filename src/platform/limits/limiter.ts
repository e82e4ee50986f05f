/** A token bucket: `perSecond` tokens come back a second, at most `burst` are there at once. */
export interface Limit {
  readonly perSecond: number;
  readonly burst: number;
}

/**
 * Token buckets by key. A bucket that was never used is full. Answers are at once where the driver is in process,
 * and promises that never reject where it is not.
 */
export interface Limiter {
  readonly name: string;
  /** Takes a token; false: there is none, and nothing was taken. */
  take(key: string, limit: Limit): boolean | Promise<boolean>;
  /** Whether there is a token; takes none. */
  has(key: string, limit: Limit): boolean | Promise<boolean>;
  close(): Promise<void>;
}
