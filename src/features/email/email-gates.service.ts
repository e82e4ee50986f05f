import type { Caller } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import { Refusal } from '../../kernel/refusal.ts';
import type { AccountGates, AccountsService } from '../accounts/index.ts';

const FEATURE = 'email';

export interface EmailGatesOptions {
  readonly gates: Pick<AccountGates, 'requireFeature' | 'requirePaid'>;
  readonly accounts: Pick<AccountsService, 'get'>;
}

/** What an account must have to send email, in the shapes that the contract shows (Errors, Format). */
export class EmailGates {
  readonly #options: EmailGatesOptions;

  constructor(options: EmailGatesOptions) {
    this.#options = options;
  }

  /** @throws Refusal (inactive account, plan without email, not verified), Problem payment-required */
  async require(caller: Caller): Promise<void> {
    const { gates, accounts } = this.#options;
    try {
      await gates.requireFeature(caller, FEATURE);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 403) throw error;
      const isOfPlan = error.code === 'trial_feature_blocked';
      throw new Refusal(error.code, error.detail, isOfPlan ? FEATURE : undefined);
    }
    const { verified } = await accounts.get(caller.teamId);
    if (!verified) throw new Refusal('team-not-verified', 'The account is not verified.');
    await gates.requirePaid(caller);
  }
}
