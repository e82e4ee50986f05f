import type { Scope } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Cipher, Db, Tx } from '../../platform/db/index.ts';
import {
  checkFlags,
  checkFunds,
  checkPlatformToken,
  completeAccount,
  DETECTION_KEYS_CHANNEL,
} from './accounts.rules.ts';
import type { NewAccount } from './accounts.rules.ts';
import { AccountsStore } from './accounts.store.ts';
import type { AccountChange, AccountRow } from './accounts.store.ts';
import { fundsAdded } from './ledger.rules.ts';
import type { LedgerService } from './ledger.service.ts';
import { platformTokenContext } from './access.service.ts';
import { UsersStore } from './users.store.ts';

/** Accounts that one `list` answers. */
const LIST_MAX = 1_000;
const FIRST_KEY_NAME = 'First key';

/** Makes an account's first keys in its transaction; given by the credentials slice. */
export interface KeyIssuer {
  /** The secret is stored only as a hash. */
  issueApiKey(
    tx: Tx,
    key: IssuedFor & { scopes: readonly Scope[] },
  ): Promise<{ key: string; secret: string }>;
  issueDetectionKey(tx: Tx, key: IssuedFor): Promise<string>;
}

export interface IssuedFor {
  teamId: string;
  /** The user the key acts under. */
  createdBy: string;
  name: string;
}

export interface CreatedAccount {
  teamId: string;
  ownerId: string;
  /** The secret is nowhere else: show it once. */
  apiKey: { key: string; secret: string };
  detectionKey: string;
}

/** An account as operators see it; never a secret. */
export type Account = Omit<AccountRow, 'platformTokenCiphertext'> & { hasPlatformToken: boolean };

/** What an operator may switch; omitted ones stay. */
export type AccountFlags = Omit<AccountChange, 'platformTokenCiphertext'>;

export interface AccountsServiceOptions {
  db: Db;
  cipher: Cipher;
  clock: Clock;
  ids: Ids;
  issuer: KeyIssuer;
  ledger: LedgerService;
}

/**
 * Accounts as operators make and change them. It takes no Caller: its adapters are the operator's own (command
 * line, first start). Changes that matter to a gateway are announced on `detection_keys` in their transaction.
 */
export class AccountsService {
  readonly #options: AccountsServiceOptions;
  readonly #store: AccountsStore;
  readonly #users: UsersStore;

  constructor(options: AccountsServiceOptions) {
    this.#options = options;
    this.#store = new AccountsStore(options.db);
    this.#users = new UsersStore(options.db);
  }

  /** Makes an account, its owner, its first API key and Detection key, and books its funds. @throws Problem validation-error */
  async create(input: NewAccount): Promise<CreatedAccount> {
    const { db, clock, ids, issuer, ledger } = this.#options;
    const account = completeAccount(input);
    const teamId = ids.uuid();
    const ownerId = ids.uuid();
    const nowMs = clock.nowMs();
    return db.tx(async (tx) => {
      await this.#store.insertTeam(tx, { ...account, teamId, nowMs });
      const owner = { displayName: account.name, role: 'owner', aiAccess: 'full', email: null } as const;
      const of = { userId: ownerId, teamId, passwordHash: null, createdAtMs: nowMs };
      await this.#users.insert(tx, { ...owner, ...of });
      if (account.fundsMicros > 0n) {
        const cause = { causeType: 'account_created', causeId: teamId };
        await ledger.book(tx, [fundsAdded({ teamId, amountMicros: account.fundsMicros, ...cause })]);
      }
      const issued = { teamId, createdBy: ownerId, name: FIRST_KEY_NAME };
      const apiKey = await issuer.issueApiKey(tx, { ...issued, scopes: account.scopes });
      const detectionKey = await issuer.issueDetectionKey(tx, issued);
      return { teamId, ownerId, apiKey, detectionKey };
    });
  }

  /** @throws Problem not-found */
  async get(teamId: string): Promise<Account> {
    const row = isUuid(teamId) ? await this.#store.find(teamId) : null;
    if (!row) throw noAccount();
    return accountOf(row);
  }

  /** Oldest first, at most 1,000. */
  async list(): Promise<Account[]> {
    return (await this.#store.list(LIST_MAX)).map(accountOf);
  }

  /** Whether there is any account: the first start makes one. */
  async isEmpty(): Promise<boolean> {
    return (await this.#store.count()) === 0;
  }

  /** The user that an account's own commands act under. @throws Problem not-found */
  async ownerId(teamId: string): Promise<string> {
    const ownerId = isUuid(teamId) ? await this.#users.findOwnerId(teamId) : null;
    if (!ownerId) throw noAccount();
    return ownerId;
  }

  /** @throws Problem not-found, validation-error */
  async setFlags(teamId: string, flags: AccountFlags): Promise<void> {
    checkFlags(flags);
    await this.#update(teamId, flags);
  }

  /** Stores the account's token at the telephony platform, encrypted; null forgets it. @throws Problem not-found, validation-error */
  async setPlatformToken(teamId: string, token: string | null): Promise<void> {
    if (token !== null) checkPlatformToken(token);
    const context = platformTokenContext(teamId);
    const ciphertext = token === null ? null : this.#options.cipher.encrypt(token, context);
    await this.#update(teamId, { platformTokenCiphertext: ciphertext });
  }

  /** @throws Problem not-found, validation-error */
  async addFunds(teamId: string, amountMicros: bigint): Promise<void> {
    checkFunds(amountMicros);
    const { db, ids, ledger } = this.#options;
    await this.get(teamId);
    const cause = { causeType: 'operator', causeId: ids.uuid() };
    await db.tx((tx) => ledger.book(tx, [fundsAdded({ teamId, amountMicros, ...cause })]));
  }

  async #update(teamId: string, change: AccountChange): Promise<void> {
    if (!isUuid(teamId)) throw noAccount();
    await this.#options.db.tx(async (tx) => {
      if (!(await this.#store.update(tx, teamId, change))) throw noAccount();
      await this.#store.notify(tx, DETECTION_KEYS_CHANNEL, teamId);
    });
  }
}

const noAccount = (): Problem => new Problem('not-found', 'There is no such account.');

function accountOf({ platformTokenCiphertext, ...row }: AccountRow): Account {
  return { ...row, hasPlatformToken: platformTokenCiphertext !== null };
}
