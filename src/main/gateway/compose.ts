import { hostname } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../kernel/clock.ts';
import { systemIds } from '../../kernel/ids.ts';
import { LedgerService } from '../../features/accounts/index.ts';
// Not by its index: a gateway needs nothing else of carriers, whose drivers bring libraries of their own.
import { verifyPlayPlan } from '../../features/carriers/play-plan.rules.ts';
import { DetectionKeyLookup } from '../../features/credentials/index.ts';
import {
  DetectionGateway,
  loadNative,
  MessageCache,
  SOCKETS_PER_SESSION,
} from '../../features/detection/index.ts';
import type { PlayFloor } from '../../features/detection/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Cipher, openDb } from '../../platform/db/index.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { createMetrics } from '../../platform/metrics/index.ts';
import type { Metrics } from '../../platform/metrics/index.ts';
import { createNet } from '../../platform/net/index.ts';
import type { Net } from '../../platform/net/index.ts';
import { Outbox } from '../../platform/outbox/index.ts';
import { createQueue, IpcQueue } from '../../platform/queue/index.ts';
import type { Queue } from '../../platform/queue/index.ts';
import { MAX_SESSIONS_DEFAULT, SettingsError } from '../../platform/settings/index.ts';
import type { Settings } from '../../platform/settings/index.ts';
import { uwsLoads } from '../../platform/socket/index.ts';
import { FileStorage } from '../../platform/storage/index.ts';
import { VERSION } from '../version.ts';
import { descriptorFault, descriptorLimit } from './descriptors.ts';

/** Key look-ups, the journal, the loads; nothing else of a gateway asks the database. */
const DB_CONNECTIONS_MAX = 8;

export interface GatewayProcess {
  readonly gateway: DetectionGateway;
  readonly metrics: Metrics;
  /** Closes what the gateway stood on; after its drain. */
  close(): Promise<void>;
}

/** Where wake-ups go without Redis: up to the main process. */
export type SendWake = (lane: string) => void;

function needed<T>(value: T | undefined, setting: string): T {
  if (value === undefined) throw new SettingsError(setting, 'set for a gateway process');
  return value;
}

/** Sessions of this process by the driver that will carry them. Throws when the descriptors do not suffice. */
function sessionsMax(settings: Settings): number {
  const isSlow = settings.socketDriver === 'ws' || (settings.socketDriver === 'auto' && !uwsLoads());
  const max = settings.maxSessionsIsSet ? settings.maxSessions : MAX_SESSIONS_DEFAULT[isSlow ? 'ws' : 'uws'];
  const fault = descriptorFault(max * SOCKETS_PER_SESSION, descriptorLimit());
  if (fault !== null) throw new SettingsError('MAX_SESSIONS', `smaller: ${fault}`);
  return max;
}

/** Plans of this service's calls, and the files they name: those kept under DATA_DIR. */
function playFloor(settings: Settings, clock: Clock): PlayFloor {
  const masterKeys = [needed(settings.masterKey, 'MASTER_KEY'), ...settings.masterKeyPrevious];
  return {
    verifyPlan: (token) => verifyPlayPlan(token, { masterKeys, nowMs: clock.nowMs() }),
    messages: new MessageCache({ storage: new FileStorage(join(settings.dataDir, 'media', 'kept')) }),
  };
}

/** One gateway process out of plain parts. */
export function composeGateway(options: {
  readonly settings: Settings;
  readonly processId: string;
  readonly logger: Logger;
  readonly sendWake: SendWake;
}): GatewayProcess {
  const { settings, processId, logger } = options;
  const maxSessions = sessionsMax(settings);
  const native = loadNative();
  const clock = systemClock;
  const ids = systemIds;
  const db = openDb({
    url: needed(settings.databaseUrl, 'DATABASE_URL'),
    maxConnections: DB_CONNECTIONS_MAX,
    applicationName: 'tonegate-gateway',
    logger,
  });
  const cipher = new Cipher(needed(settings.masterKey, 'MASTER_KEY'), settings.masterKeyPrevious);
  const queue =
    settings.redisUrl === undefined
      ? new IpcQueue(options.sendWake)
      : createQueue({ redisUrl: settings.redisUrl, logger, clock });
  const net = createNet({ allowPrivateTargets: settings.allowPrivateTargets, logger });
  const metrics = createMetrics();
  const gateway = new DetectionGateway({
    settings,
    maxSessions,
    process: { id: processId, role: 'gateway', pid: process.pid, host: hostname(), version: VERSION },
    db,
    keys: new DetectionKeyLookup(db, cipher),
    outbox: new Outbox(db, queue, clock),
    ledger: new LedgerService({ db, clock }),
    net,
    native,
    play: playFloor(settings, clock),
    metrics,
    clock,
    ids,
    logger,
  });
  return { gateway, metrics, close: () => closeAll({ queue, net, db }) };
}

async function closeAll({ queue, net, db }: { queue: Queue; net: Net; db: Db }): Promise<void> {
  await queue.close();
  await net.close();
  await db.close();
}
