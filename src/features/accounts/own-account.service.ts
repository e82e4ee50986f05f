import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Account, AccountsService } from './accounts.service.ts';
import type { BalanceView, LedgerService } from './ledger.service.ts';
import { nextActions } from './readiness.rules.ts';
import type { AccountSetup, Readiness } from './readiness.rules.ts';

export interface OwnAccountOptions {
  accounts: Pick<AccountsService, 'get'>;
  ledger: Pick<LedgerService, 'balance'>;
  /** What other slices keep for the account. */
  setup: (teamId: string) => Promise<AccountSetup>;
}

/** An account as its own credentials see it. */
export class OwnAccountService {
  readonly #options: OwnAccountOptions;

  constructor(options: OwnAccountOptions) {
    this.#options = options;
  }

  /** Any credential. */
  async get(caller: Caller): Promise<Account> {
    return this.#options.accounts.get(caller.teamId);
  }

  /** @throws Problem insufficient-scope */
  async balance(caller: Caller): Promise<BalanceView> {
    requireScope(caller, 'balance:read');
    return this.#options.ledger.balance(caller.teamId);
  }

  /** What the account has for sending, and what it still lacks. @throws Problem insufficient-scope */
  async readiness(caller: Caller): Promise<Readiness> {
    requireScope(caller, 'balance:read');
    const { accounts, setup } = this.#options;
    const account = await accounts.get(caller.teamId);
    const has = await setup(account.teamId);
    const availableMicros = account.balanceMicros - account.reservedMicros;
    const actions = nextActions({ ...account, ...has, hasFunds: availableMicros > 0n });
    return { ...has, availableMicros, testMode: account.testMode, verified: account.verified, actions };
  }
}
