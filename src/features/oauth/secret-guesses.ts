import { networkOf } from '../../platform/http/index.ts';
import type { Limit, Limiter } from '../../platform/limits/index.ts';

/**
 * Wrong secrets before no more are judged: of one client from one address, and of all clients from one address. One
 * comes back every 30 s.
 */
export const GUESSES_PER_CLIENT: Limit = { burst: 10, perSecond: 1 / 30 };
export const GUESSES_PER_ADDRESS: Limit = { burst: 20, perSecond: 1 / 30 };

/**
 * Bounds the guessing of client secrets. A client is shut out only for the address that guesses: nobody can shut out
 * the client of another.
 */
export class SecretGuesses {
  readonly #limiter: Limiter;

  constructor(limiter: Limiter) {
    this.#limiter = limiter;
  }

  /** Whether a secret from there may not be judged now. Without a client: whatever the client. */
  async isShutOut(address: string, clientId?: string): Promise<boolean> {
    for (const [bucket, limit] of bucketsOf(address, clientId)) {
      if (!(await this.#limiter.has(bucket, limit))) return true;
    }
    return false;
  }

  /** A wrong secret of a client, or without one: there is no such client. */
  async wasWrong(address: string, clientId?: string): Promise<void> {
    for (const [bucket, limit] of bucketsOf(address, clientId)) await this.#limiter.take(bucket, limit);
  }
}

function bucketsOf(address: string, clientId?: string): (readonly [string, Limit])[] {
  const network = networkOf(address);
  const byAddress = [`client-secret:address:${network}`, GUESSES_PER_ADDRESS] as const;
  if (clientId === undefined) return [byAddress];
  return [byAddress, [`client-secret:client:${clientId}:${network}`, GUESSES_PER_CLIENT]];
}
