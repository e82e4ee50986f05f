import { randomBytes } from 'node:crypto';
import { AccountsService, LedgerService, UsersService } from '../../src/features/accounts/index.ts';
import {
  DetectionKeyLookup,
  DetectionKeysService,
  FirstKeysIssuer,
} from '../../src/features/credentials/index.ts';
import { SCOPES } from '../../src/kernel/caller.ts';
import type { Caller, Scope } from '../../src/kernel/caller.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { systemIds } from '../../src/kernel/ids.ts';
import { Cipher } from '../../src/platform/db/index.ts';
import type { Db } from '../../src/platform/db/index.ts';

/** Accounts and their keys over one database, with a clock that moves when told to. */
export class AccountsWorld {
  readonly clock = new ManualClock(Date.parse('2026-03-01T12:00:00Z'));
  readonly cipher = new Cipher(randomBytes(32), []);
  readonly ledger: LedgerService;
  readonly accounts: AccountsService;
  readonly users: UsersService;
  readonly keys: DetectionKeysService;
  readonly lookup: DetectionKeyLookup;
  readonly db: Db;

  constructor(db: Db) {
    this.db = db;
    const { clock, cipher } = this;
    const base = { db, cipher, clock, ids: systemIds };
    this.ledger = new LedgerService({ db, clock });
    this.accounts = new AccountsService({ ...base, ledger: this.ledger, issuer: new FirstKeysIssuer(base) });
    this.users = new UsersService({ db, clock, ids: systemIds });
    this.keys = new DetectionKeysService({ ...base, accounts: this.accounts, ledger: this.ledger });
    this.lookup = new DetectionKeyLookup(db, cipher);
  }

  /** An account with 100.00 of funds, and its owner as caller. */
  async account(): Promise<{ teamId: string; detectionKey: string; caller: Caller }> {
    const { teamId, ownerId, detectionKey } = await this.accounts.create({
      name: 'Account',
      fundsMicros: 100_000_000n,
    });
    return { teamId, detectionKey, caller: callerOf(teamId, ownerId) };
  }

  /** Notifications on detection_keys from now on. */
  async announcements(): Promise<string[]> {
    const heard: string[] = [];
    await this.db.listen('detection_keys', (payload) => heard.push(payload));
    return heard;
  }
}

export const callerOf = (teamId: string, userId: string, scopes: readonly Scope[] = SCOPES): Caller => ({
  ...{ teamId, userId, scopes: new Set(scopes), operator: false },
});
