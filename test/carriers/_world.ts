import { randomBytes } from 'node:crypto';
import { CarrierConnections } from '../../src/features/carriers/index.ts';
import type {
  Carrier,
  CarrierAnswer,
  ConnectionsOptions,
  NewCarrier,
} from '../../src/features/carriers/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import type { Net } from '../../src/platform/net/index.ts';
import { AccountsWorld, testDb } from '../_util/index.ts';
import type { TestAccount, TestDb } from '../_util/index.ts';
import { startTwilioDouble } from '../_util/twilio-double.ts';
import type { TwilioDouble } from '../_util/twilio-double.ts';
import { going, textRequest } from './_requests.ts';

export const PUBLIC_URL = 'https://api.example.com:8443/base';

/** Accounts with connections to doubles, over a database, with a clock that moves when told to. */
export class CarriersWorld {
  readonly database: TestDb;
  readonly accounts: AccountsWorld;
  readonly net: Net;
  readonly masterKey = randomBytes(32);
  readonly #open: { close(): Promise<void> }[] = [];

  private constructor(database: TestDb) {
    this.database = database;
    this.accounts = new AccountsWorld(database, { ALLOW_PRIVATE_TARGETS: 'true' });
    this.net = createNet({ allowPrivateTargets: true, logger: silentLogger });
  }

  static async start(): Promise<CarriersWorld> {
    return new CarriersWorld(await testDb());
  }

  /** What one process would have. */
  connections(over: Partial<ConnectionsOptions> = {}): CarrierConnections {
    const { db, cipher, clock, ids, limiter } = this.accounts.services;
    const connections = new CarrierConnections({
      ...{ db, cipher, clock, ids, limiter, logger: silentLogger, net: this.net },
      ...{ masterKey: this.masterKey, publicUrl: () => PUBLIC_URL, allowPrivateTargets: true },
      ...over,
    });
    this.#open.push(connections);
    return connections;
  }

  async twilio(options: Parameters<typeof startTwilioDouble>[0] = {}): Promise<TwilioDouble> {
    const double = await startTwilioDouble(options);
    this.#open.push(double);
    return double;
  }

  account(): Promise<TestAccount> {
    return this.accounts.account();
  }

  connect(account: TestAccount, over: Partial<NewCarrier> & Pick<NewCarrier, 'kind'>): Promise<Carrier> {
    return this.accounts.services.carriers.connect(account.caller, { name: 'Main', ...over });
  }

  connectTwilio(
    account: TestAccount,
    double: TwilioDouble,
    over: Partial<NewCarrier> = {},
  ): Promise<Carrier> {
    return this.connect(account, { kind: 'twilio', settings: settingsOf(double), ...over });
  }

  async close(): Promise<void> {
    for (const one of this.#open) await one.close();
    await this.net.close();
    await this.accounts.close();
    await this.database.drop();
  }
}

export const settingsOf = ({ accountSid, authToken, url }: TwilioDouble): object => ({
  ...{ account_sid: accountSid, auth_token: authToken, base_url: url },
});

/** Sends one text of an account through what is open for it. */
export async function sendText(connections: CarrierConnections, teamId: string): Promise<CarrierAnswer> {
  const { port } = await connections.open(teamId, 'text');
  return port.sendText(textRequest({ teamId }), going());
}
