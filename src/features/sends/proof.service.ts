import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import { PROOF_TOKEN_LENGTH_MAX, proofTokenHash } from './proof.rules.ts';
import { ProofStore } from './proof.store.ts';
import type { Proof } from './proof.store.ts';

export type { Proof } from './proof.store.ts';

/** Proofs of delivery, opened by their token alone (contract, Response envelope; supplement 4). */
export class ProofService {
  readonly #clock: Clock;
  readonly #store: ProofStore;

  constructor(options: { db: Db; clock: Clock }) {
    this.#clock = options.clock;
    this.#store = new ProofStore(options.db);
  }

  /** @throws Problem not-found (unknown, or older than 7 days) */
  async open(token: string): Promise<Proof> {
    const isToken = token.length <= PROOF_TOKEN_LENGTH_MAX;
    const proof = isToken ? await this.#store.find(proofTokenHash(token), this.#clock.nowMs()) : null;
    if (!proof) throw new Problem('not-found', 'There is no such proof of delivery, or its 7 days are over.');
    return proof;
  }
}
