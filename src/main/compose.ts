import { AccountsService, LedgerService, UsersService } from '../features/accounts/index.ts';
import { DetectionKeyLookup, DetectionKeysService, FirstKeysIssuer } from '../features/credentials/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { systemIds } from '../kernel/ids.ts';
import { Cipher, openDb } from '../platform/db/index.ts';
import type { Db } from '../platform/db/index.ts';
import type { Logger } from '../platform/logger/index.ts';
import type { Settings } from '../platform/settings/index.ts';

export interface ComposeOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly url: string;
  readonly masterKey: Buffer;
  readonly maxConnections: number;
  readonly applicationName: string;
  /** Replaced in tests. */
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/** The services of one process over one database. */
export interface Services {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly db: Db;
  readonly cipher: Cipher;
  readonly ledger: LedgerService;
  readonly accounts: AccountsService;
  readonly users: UsersService;
  readonly detectionKeys: DetectionKeysService;
  readonly keyLookup: DetectionKeyLookup;
  close(): Promise<void>;
}

/** Plain constructors, nothing started: connections are made when first used. */
export function compose(options: ComposeOptions): Services {
  const { settings, logger, url, maxConnections, applicationName } = options;
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? systemIds;
  const db = openDb({ url, maxConnections, applicationName, logger });
  const cipher = new Cipher(options.masterKey, [...settings.masterKeyPrevious]);
  const base = { db, cipher, clock, ids };
  const ledger = new LedgerService({ db, clock });
  const accounts = new AccountsService({ ...base, ledger, issuer: new FirstKeysIssuer(base) });
  return {
    ...base,
    settings,
    logger,
    ledger,
    accounts,
    users: new UsersService({ db, clock, ids }),
    detectionKeys: new DetectionKeysService({ ...base, accounts, ledger }),
    keyLookup: new DetectionKeyLookup(db, cipher),
    close: () => db.close(),
  };
}
