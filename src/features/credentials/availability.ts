import { Problem } from '../../kernel/problem.ts';
import { isTransientDbError } from '../../platform/outbox/index.ts';

/** Turns a database that is away into the contract's 503. @throws Problem service-unavailable */
export async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isTransientDbError(error)) throw error;
    throw new Problem('service-unavailable', 'The service cannot reach its database; try again soon.');
  }
}
