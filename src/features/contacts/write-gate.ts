/** unique_violation, deadlock_detected, serialization_failure: another transaction was in the way, none of them is wrong. */
const COLLISIONS: ReadonlySet<string> = new Set(['23505', '40P01', '40001']);
/** Shared, and then alone with the account's contacts: the second cannot collide with another writer. Some room above. */
const ATTEMPTS_MAX = 4;

export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === '23505';

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/**
 * Runs a transaction that writes identifiers of contacts beside others, and when it collided with one of them again, alone.
 * The work enters the gate (`ImportStore.enter`) as it is told.
 */
export async function retryAlone<T>(work: (isAlone: boolean) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt > 1);
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !COLLISIONS.has(codeOf(error) ?? '')) throw error;
    }
  }
}
