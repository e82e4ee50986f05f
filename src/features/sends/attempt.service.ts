import type { Clock } from '../../kernel/clock.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { reserved } from '../accounts/index.ts';
import type { LedgerService } from '../accounts/index.ts';
import { attemptsCountFromMs, decide, lockNumbers } from '../delivery-rules/index.ts';
import type { Decision, Facts } from '../delivery-rules/index.ts';
import { attemptCause } from './attempt.rules.ts';
import { AttemptStore } from './attempt.store.ts';
import type { NewAttempt } from './attempt.store.ts';
import { insertSteps } from './dispatch.steps.store.ts';
import type { NewStep } from './dispatch.steps.store.ts';
import { totalMicros } from './dispatch.type.ts';
import { presentDecision } from './facts.present.ts';

/** An attempt that the rules let pass a moment ago. */
export interface WantedAttempt extends NewAttempt {
  readonly facts: Facts;
  /** Kept with the step that tells of the request. */
  readonly carrierKind: string;
}

export type Committed =
  | { readonly kind: 'go'; readonly attempt: number }
  /** What was read again says otherwise. */
  | { readonly kind: 'decided'; readonly decision: Decision; readonly facts: Facts }
  /** Another had it: it waits for nobody any more. */
  | { readonly kind: 'gone' };

/**
 * Commits sends to an attempt: queued | held → sending. With the numbers locked, do-not-contact, frequency and funds are
 * read again and decide, so that two workers cannot both take the last allowed attempt, and an opt-out that came a moment
 * ago counts. Nothing was asked of a carrier before this commits.
 */
export class AttemptService {
  readonly #options: { db: Db; clock: Clock; ledger: Pick<LedgerService, 'book'> };
  readonly #store = new AttemptStore();

  constructor(options: { db: Db; clock: Clock; ledger: Pick<LedgerService, 'book'> }) {
    this.#options = options;
  }

  /** Many in one transaction; answers in their order. */
  async commit(wanted: readonly WantedAttempt[]): Promise<Committed[]> {
    const byId = new Map<string, Committed>();
    await this.#options.db.tx(async (tx) => {
      byId.clear();
      await this.#commitIn(tx, wanted, byId);
    });
    return wanted.map(({ sendId }) => byId.get(sendId) ?? { kind: 'gone' });
  }

  async #commitIn(tx: Tx, wanted: readonly WantedAttempt[], byId: Map<string, Committed>): Promise<void> {
    const { clock, ledger } = this.#options;
    const numbers = wanted.map(({ teamId, particulars: { phoneNumber } }) => ({ teamId, phoneNumber }));
    await lockNumbers(tx, numbers);
    const nowMs = clock.nowMs();
    const read = await this.#store.readAgain(
      tx,
      wanted.map(({ teamId, sendId, particulars: { phoneNumber, brandId }, facts }) => ({
        ...{ teamId, sendId, phoneNumber, brandId, sinceMs: attemptsCountFromMs(facts.rules, nowMs) },
      })),
    );
    const funds = await this.#store.lockFunds(
      tx,
      wanted.map(({ teamId }) => teamId),
    );
    const taken = new Map<string, number>();
    const going: (WantedAttempt & { attempt: number })[] = [];
    for (const one of wanted) {
      const again = read.get(one.sendId);
      if (!again || (again.state !== 'queued' && again.state !== 'held')) continue;
      const number = `${one.teamId} ${one.particulars.phoneNumber}`;
      const inBatch = taken.get(number) ?? 0;
      const availableMicros = funds.get(one.teamId) ?? 0n;
      const { isListed } = again;
      const facts = { ...one.facts, nowMs, isListed, attempts: again.attempts + inBatch, availableMicros };
      const decision = decide(facts);
      if (decision.kind !== 'deliver') {
        byId.set(one.sendId, { kind: 'decided', decision, facts });
        continue;
      }
      taken.set(number, inBatch + 1);
      funds.set(one.teamId, availableMicros - totalMicros(one.price));
      const attempt = again.attempt + 1;
      byId.set(one.sendId, { kind: 'go', attempt });
      going.push({ ...one, facts, attempt });
    }
    if (going.length === 0) return;
    await this.#store.commit(tx, going, nowMs);
    await insertSteps(
      tx,
      going.flatMap((one) => stepsOf(one, nowMs)),
    );
    await ledger.book(
      tx,
      going
        .filter(({ price }) => totalMicros(price) > 0n)
        .map((one) => reserved({ ...attemptCause(one, one.attempt), amountMicros: totalMicros(one.price) })),
    );
  }
}

function stepsOf(one: WantedAttempt & { attempt: number }, atMs: number): NewStep[] {
  const { teamId, sendId, facts, attempt, carrierId, carrierKind } = one;
  return [
    { teamId, sendId, kind: 'decided', atMs, detail: presentDecision({ kind: 'deliver' }, facts) },
    {
      ...{ teamId, sendId, kind: 'carrier_request', atMs },
      detail: { attempt, carrier_id: carrierId, carrier: carrierKind },
    },
  ];
}
