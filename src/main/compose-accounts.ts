import {
  AccountGates,
  AccountsService,
  LedgerService,
  OperatorService,
  UsersService,
} from '../features/accounts/index.ts';
import { CarriersService } from '../features/carriers/index.ts';
import {
  ApiKeysService,
  Authenticator,
  DetectionKeyLookup,
  DetectionKeysService,
  FirstKeysIssuer,
  KeyUsage,
  SigningKeys,
  SiteTokens,
} from '../features/credentials/index.ts';
import { AccessTokens, OauthClientsService } from '../features/oauth/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Cipher, Db } from '../platform/db/index.ts';
import type { Net } from '../platform/net/index.ts';
import type { Outbox } from '../platform/outbox/index.ts';
import type { PublicAddresses } from './public-addresses.ts';

/** Accounts, who may act for them and what they are connected to. */
export interface AccountServices {
  readonly ledger: LedgerService;
  readonly accounts: AccountsService;
  readonly gates: AccountGates;
  readonly operator: OperatorService;
  readonly users: UsersService;
  readonly carriers: CarriersService;
  readonly apiKeys: ApiKeysService;
  readonly detectionKeys: DetectionKeysService;
  readonly keyLookup: DetectionKeyLookup;
  readonly keyUsage: KeyUsage;
  readonly signingKeys: SigningKeys;
  readonly siteTokens: SiteTokens;
  readonly authenticator: Authenticator;
  readonly oauthClients: OauthClientsService;
}

export function composeAccounts(of: {
  db: Db;
  cipher: Cipher;
  clock: Clock;
  ids: Ids;
  outbox: Outbox;
  net: Net;
  addresses: PublicAddresses;
}): AccountServices {
  const { db, cipher, clock, ids, outbox, net, addresses } = of;
  const base = { db, cipher, clock, ids };
  const { authUrl: issuer, publicUrl } = addresses;
  const ledger = new LedgerService({ db, clock });
  const accounts = new AccountsService({ ...base, ledger, issuer: new FirstKeysIssuer(base) });
  const gates = new AccountGates(db);
  const carriers = new CarriersService({ ...base, net });
  const usage = new KeyUsage(db);
  const signing = new SigningKeys(base);
  const siteTokens = new SiteTokens({ db, clock, ids, signing, gates, carriers, publicUrl });
  const accessTokens = new AccessTokens({ db, signingKeys: signing, issuer, audience: publicUrl });
  return {
    ...{ ledger, accounts, gates, carriers, siteTokens },
    operator: new OperatorService({ accounts, ledger }),
    users: new UsersService({ db, clock, ids }),
    apiKeys: new ApiKeysService({ db, clock, ids, outbox, usage, accounts }),
    detectionKeys: new DetectionKeysService({ ...base, accounts, ledger }),
    keyLookup: new DetectionKeyLookup(db, cipher),
    keyUsage: usage,
    signingKeys: signing,
    authenticator: new Authenticator({ db, clock, usage, verifiers: [accessTokens, siteTokens] }),
    oauthClients: new OauthClientsService({ db, clock, ids }),
  };
}
