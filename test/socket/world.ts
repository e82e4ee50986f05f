import { randomBytes, randomUUID } from 'node:crypto';
import { AccountsService, LedgerService } from '../../src/features/accounts/index.ts';
import type { CreatedAccount } from '../../src/features/accounts/index.ts';
import {
  DetectionKeyLookup,
  DetectionKeysService,
  FirstKeysIssuer,
} from '../../src/features/credentials/index.ts';
import { DetectionGateway, loadNative, SessionsService } from '../../src/features/detection/index.ts';
import type { GatewayOptions } from '../../src/features/detection/index.ts';
import { createDeliveryHandler } from '../../src/features/webhooks/index.ts';
import type { Caller } from '../../src/kernel/caller.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { systemIds } from '../../src/kernel/ids.ts';
import { Cipher } from '../../src/platform/db/index.ts';
import type { Db } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createMetrics } from '../../src/platform/metrics/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import { Outbox, Relay } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import { uwsLoads } from '../../src/platform/socket/index.ts';
import { callerOf, testDb } from '../_util/index.ts';

export type Driver = 'uws' | 'ws';

/** The drivers that run here; one that does not is named, once. */
export const DRIVERS: Driver[] = uwsLoads() ? ['uws', 'ws'] : ['ws'];
if (DRIVERS.length === 1) process.stderr.write('Skipped for uWebSockets.js: no native binding loads here.\n');

/** A clock that can be set ahead of the system's, for deadlines of a minute. */
export class AdvancedClock implements Clock {
  #aheadMs = 0;
  nowMs = (): number => systemClock.nowMs() + this.#aheadMs;
  monotonicMs = (): number => systemClock.monotonicMs() + this.#aheadMs;
  advance(ms: number): void {
    this.#aheadMs += ms;
  }
}

export interface SocketWorldOptions {
  readonly driver: Driver;
  readonly maxSessions?: number;
  readonly allowPrivateTargets?: boolean;
  readonly clock?: Clock;
  readonly gateway?: Partial<GatewayOptions>;
}

/** A gateway in this process on a database of its own, with the relay that posts its webhooks. */
export interface SocketWorld {
  readonly db: Db;
  readonly url: string;
  readonly wsUrl: string;
  readonly port: number;
  readonly gateway: DetectionGateway;
  readonly accounts: AccountsService;
  readonly ledger: LedgerService;
  readonly keys: DetectionKeysService;
  readonly sessions: SessionsService;
  createAccount(input?: {
    funds?: string;
    concurrentSessions?: number;
  }): Promise<CreatedAccount & { caller: Caller }>;
  close(): Promise<void>;
}

export async function socketWorld(options: SocketWorldOptions): Promise<SocketWorld> {
  const database = await testDb();
  const { db } = database;
  const clock = options.clock ?? systemClock;
  const ids = systemIds;
  const cipher = new Cipher(randomBytes(32), []);
  const queue = createQueue({ logger: silentLogger, clock });
  const net = createNet({ allowPrivateTargets: options.allowPrivateTargets ?? true, logger: silentLogger });
  const ledger = new LedgerService({ db, clock });
  const issuer = new FirstKeysIssuer({ db, cipher, clock, ids });
  const accounts = new AccountsService({ db, cipher, clock, ids, issuer, ledger });
  const lookup = new DetectionKeyLookup(db, cipher);
  const handlers = [
    createDeliveryHandler({
      db,
      net,
      clock,
      logger: silentLogger,
      cipher,
      signingKey: (id) => lookup.signingKey(id),
    }),
  ];
  const relay = new Relay({ db, queue, clock, logger: silentLogger, ids, handlers });
  relay.start();
  const gateway = new DetectionGateway({
    settings: {
      host: '127.0.0.1',
      detectPort: 0,
      detectUrl: 'wss://calls.example.com:8081',
      publicUrl: 'https://api.example.com',
      socketDriver: options.driver,
      platformName: 'twilio',
      tlsCertFile: undefined,
      tlsKeyFile: undefined,
    },
    maxSessions: options.maxSessions ?? 50,
    process: { id: randomUUID(), role: 'gateway', pid: process.pid, host: 'test', version: '0' },
    db,
    keys: lookup,
    outbox: new Outbox(db, queue, clock),
    ledger,
    net,
    native: loadNative(),
    metrics: createMetrics({ defaults: false }),
    clock,
    ids,
    logger: silentLogger,
    ...options.gateway,
  });
  const port = await gateway.start();
  return {
    db,
    url: database.url,
    wsUrl: `ws://127.0.0.1:${port}`,
    port,
    gateway,
    accounts,
    ledger,
    keys: new DetectionKeysService({ db, cipher, clock, ids, accounts, ledger }),
    sessions: new SessionsService({ db }),
    createAccount: async ({ funds = '100', concurrentSessions } = {}) => {
      const created = await accounts.create({
        name: 'Test',
        fundsMicros: BigInt(Math.round(Number(funds) * 1_000_000)),
        ...(concurrentSessions !== undefined && { concurrentSessions }),
      });
      const { teamId, ownerId: userId } = created;
      return { ...created, caller: callerOf({ teamId, userId }) };
    },
    close: async () => {
      await gateway.drain(0);
      await relay.stop({ graceMs: 0 });
      await queue.close();
      await net.close();
      await database.drop();
    },
  };
}
