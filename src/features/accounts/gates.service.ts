import type { Caller } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import type { DunningTier, Feature } from './accounts.rules.ts';
import { AccountsStore } from './accounts.store.ts';
import type { StandingRow } from './accounts.store.ts';

/**
 * What an account's plan, subscription and funds allow (supplement 11, Plan gates; contract, Status codes, 402 and 403).
 * Read for each request: an operator's change counts at once.
 */
export class AccountGates {
  readonly #store: AccountsStore;

  constructor(db: Db) {
    this.#store = new AccountsStore(db);
  }

  /** @throws Problem forbidden (inactive account) */
  async requireActive(caller: Caller): Promise<void> {
    checkActive(await this.#standing(caller));
  }

  /** @throws Problem forbidden (inactive account), payment-required with details.dunning_tier, or without: no funds */
  async requirePaid(caller: Caller): Promise<void> {
    const standing = await this.#standing(caller);
    checkActive(standing);
    const { dunningTier } = standing;
    if (dunningTier !== null) throw unpaid(dunningTier);
    if (!standing.hasFunds) throw new Problem('payment-required', 'The account is out of funds.');
  }

  /** @throws Problem forbidden (inactive account), trial_feature_blocked (the plan lacks it) */
  async requireFeature(caller: Caller, feature: Feature): Promise<void> {
    const standing = await this.#standing(caller);
    checkActive(standing);
    if (standing.features.includes(feature)) return;
    throw new Problem('trial_feature_blocked', `The account's plan does not include ${feature}.`);
  }

  async #standing(caller: Caller): Promise<StandingRow> {
    const standing = await this.#store.findStanding(caller.teamId);
    if (!standing) throw new Problem('not-found', 'There is no such account.');
    return standing;
  }
}

function checkActive(standing: StandingRow): void {
  if (standing.plan === 'inactive') throw new Problem('forbidden', 'The account is inactive.');
}

const unpaid = (tier: DunningTier): Problem =>
  new Problem('payment-required', 'The subscription payment failed.', { dunning_tier: tier });
