import { requireOperator, requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Micros } from '../../kernel/money.ts';
import type { Account, AccountFlags, AccountsService } from './accounts.service.ts';
import type { LedgerService } from './ledger.service.ts';

/**
 * What operators do to any account over the network: the command line's own doings, behind a caller that is an operator.
 * Every method throws forbidden for everybody else.
 */
export class OperatorService {
  readonly #accounts: AccountsService;
  readonly #ledger: LedgerService;

  constructor(options: { accounts: AccountsService; ledger: LedgerService }) {
    this.#accounts = options.accounts;
    this.#ledger = options.ledger;
  }

  /** Plan, features, dunning, verification, suspension, test mode and limits. @throws Problem validation-error, not-found */
  async change(caller: Caller, teamId: string, flags: AccountFlags): Promise<Account> {
    requireChanges(caller);
    await this.#accounts.setFlags(teamId, flags);
    return this.#accounts.get(teamId);
  }

  /** @throws Problem validation-error, not-found */
  async addFunds(caller: Caller, teamId: string, amountMicros: Micros): Promise<Account> {
    requireChanges(caller);
    await this.#accounts.addFunds(teamId, amountMicros);
    return this.#accounts.get(teamId);
  }

  /** An account's own price, or with null the default of all. @throws Problem validation-error, not-found */
  async setPrice(
    caller: Caller,
    price: { productCode: string; teamId: string | null; priceMicros: Micros },
  ): Promise<void> {
    requireChanges(caller);
    if (price.teamId !== null) await this.#accounts.get(price.teamId);
    await this.#ledger.setPrice(price);
  }
}

function requireChanges(caller: Caller): void {
  requireOperator(caller);
  requireScope(caller, 'account:write');
}
