import { setTimeout as delay } from 'node:timers/promises';
import { clusterUrl, EmbeddedCluster, migrate, migrationState } from '../platform/db/index.ts';
import type { Logger } from '../platform/logger/index.ts';
import { SettingsError } from '../platform/settings/index.ts';
import type { Settings } from '../platform/settings/index.ts';
import { findHolder, FolderLock } from './data-dir/folder-lock.ts';
import { masterKeyOf } from './data-dir/secrets.ts';

/** A database that is not there at the start is asked again for this long: both may have been started together. */
const REACH_LIMIT_MS = 30_000;
const REACH_PAUSE_MS = 500;
/** Faults of a server that is still coming up, and of a network on the way. */
const COMING_UP = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  '57P03',
]);

/** A database that is ready for the service, and the key that opens its secrets. */
export interface Database {
  readonly url: string;
  readonly masterKey: Buffer;
  readonly isEmbedded: boolean;
  /** Ends the embedded server if this process started it, and gives the folder free. */
  release(): Promise<void>;
  /** The same at once, without waiting: the last act of a process that is told to end now. */
  abandon(): void;
}

export interface OpenOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly purpose: 'service' | 'command';
  /** Run migrations on DATABASE_URL too; the embedded database is always brought up to date. */
  readonly migrate: boolean;
}

/** Opens DATABASE_URL, or the embedded database of DATA_DIR. Its schema is the newest when this resolves. */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const { settings } = options;
  if (settings.databaseUrl === undefined) return openEmbedded(options);
  if (settings.masterKey === undefined) throw new SettingsError('MASTER_KEY', 'set when DATABASE_URL is set');
  await bringUpToDate(settings.databaseUrl, options);
  const nothing = (): void => undefined;
  return {
    url: settings.databaseUrl,
    masterKey: settings.masterKey,
    isEmbedded: false,
    release: async () => nothing(),
    abandon: nothing,
  };
}

async function bringUpToDate(url: string, options: OpenOptions): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += REACH_PAUSE_MS) {
    try {
      if (options.migrate) return logApplied(await migrate(url), options.logger);
      const { pending } = await migrationState(url);
      if (pending.length === 0) return;
      throw new Error(
        `the database lacks ${pending.length} migrations: run "tonegate migrate", or start with --migrate`,
      );
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (!COMING_UP.has(code ?? '')) throw error;
      if (waitedMs >= REACH_LIMIT_MS)
        throw new Error(`the database of DATABASE_URL cannot be reached: ${message || code}`);
      if (waitedMs === 0)
        options.logger.warn({ err: error }, 'The database cannot be reached yet; trying again.');
      await delay(REACH_PAUSE_MS * (0.5 + Math.random()));
    }
  }
}

function logApplied(names: readonly string[], logger: Logger): void {
  if (names.length > 0) logger.info({ migrations: names }, 'Migrations were run.');
}

async function openEmbedded(options: OpenOptions): Promise<Database> {
  const { settings, logger, purpose } = options;
  if (purpose === 'command') {
    const holder = await findHolder(settings.dataDir);
    if (holder?.purpose === 'service') return besideService(settings, logger);
  }
  const lock = await FolderLock.take(settings.dataDir, purpose);
  const cluster = new EmbeddedCluster({ folder: settings.dataDir, logger });
  const abandon = (): void => {
    if (cluster.pid !== undefined) endQuietly(cluster.pid);
    lock.release();
  };
  try {
    const masterKey = settings.masterKey ?? (await masterKeyOf(settings.dataDir));
    await cluster.start();
    logApplied(await migrate(cluster.url), logger);
    const release = async (): Promise<void> => {
      await cluster.stop();
      lock.release();
    };
    return { url: cluster.url, masterKey, isEmbedded: true, release, abandon };
  } catch (error) {
    await cluster.stop();
    lock.release();
    throw error;
  }
}

/** Fast shutdown without waiting; the next start waits for what is still ending. */
function endQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The database of a running service: its address is in DATA_DIR. The service may still be coming up. */
async function besideService(settings: Settings, logger: Logger): Promise<Database> {
  for (let waitedMs = 0; ; waitedMs += REACH_PAUSE_MS) {
    try {
      const url = await clusterUrl(settings.dataDir);
      if (url !== null && (await migrationState(url)).pending.length === 0) {
        const masterKey = settings.masterKey ?? (await masterKeyOf(settings.dataDir));
        const nothing = (): void => undefined;
        return { url, masterKey, isEmbedded: true, release: async () => nothing(), abandon: nothing };
      }
    } catch (error) {
      if (waitedMs >= REACH_LIMIT_MS) throw error;
      logger.debug({ err: error }, 'The running service is not ready yet; trying again.');
    }
    if (waitedMs >= REACH_LIMIT_MS) throw new Error('the service that runs on this data folder is not ready');
    await delay(REACH_PAUSE_MS * (0.5 + Math.random()));
  }
}
