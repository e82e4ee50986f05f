import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import type { Metrics } from '../../platform/metrics/index.ts';
import type { Net } from '../../platform/net/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import type { Settings } from '../../platform/settings/index.ts';
import { createSocketServer, TimerWheel } from '../../platform/socket/index.ts';
import type { DriverName, SocketServer } from '../../platform/socket/index.ts';
import { DETECTION_KEYS_CHANNEL } from '../accounts/index.ts';
import type { LedgerService } from '../accounts/index.ts';
import { Admission, LoadExchange } from './admission.service.ts';
import type { Connection, DetectionPlane } from './connection.ts';
import { Journal } from './journal.service.ts';
import { JournalStore } from './journal.store.ts';
import { Keyring } from './keyring.service.ts';
import type { KeyLookup } from './keyring.service.ts';
import { LoadsStore } from './loads.store.ts';
import type { ProcessIdentity } from './loads.store.ts';
import type { NativeModule } from './native.ts';
import { PlaneMetrics } from './plane.metrics.ts';
import type { PlayFloor } from './play/play.type.ts';
import { UpgradeGate } from './upgrade.socket.ts';

/** What is written when the process ends may take so long; the database may be away just then. */
const LAST_FLUSH_MS = 5_000;

/** A drain looks this often whether the last session ended. */
const DRAIN_POLL_MS = 50;

/** Time for the peers to answer their close frames before the process goes. */
const FAREWELL_MS = 500;

export interface GatewayOptions {
  readonly settings: Pick<
    Settings,
    | 'host'
    | 'detectPort'
    | 'detectUrl'
    | 'publicUrl'
    | 'socketDriver'
    | 'platformName'
    | 'tlsCertFile'
    | 'tlsKeyFile'
  >;
  /** Sessions of this process; sockets are twice that. */
  readonly maxSessions: number;
  readonly process: ProcessIdentity;
  readonly db: Db;
  readonly keys: KeyLookup;
  readonly outbox: Outbox;
  readonly ledger: LedgerService;
  readonly net: Pick<Net, 'checkUrl' | 'checkUrlSyntax'>;
  readonly native: NativeModule;
  /** For calls that hear; omitted: they are refused. */
  readonly play?: PlayFloor;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/**
 * One gateway process: the sockets, the sessions on them and what writes their log.
 * Life: built → `start` → serving → `drain` → gone. After `drain` nothing of it is left in the process.
 */
export class DetectionGateway {
  readonly journal: Journal;
  readonly admission: Admission;
  readonly #options: GatewayOptions;
  readonly #server: SocketServer;
  readonly #keyring: Keyring;
  readonly #wheel: TimerWheel;
  readonly #loads: LoadsStore;
  readonly #exchange: LoadExchange;
  readonly #connections = new Set<Connection>();
  #stopListening: (() => Promise<void>) | null = null;

  /** @throws DriverUnavailable */
  constructor(options: GatewayOptions) {
    this.#options = options;
    const { settings, clock, logger } = options;
    this.#keyring = new Keyring(options.keys, clock);
    this.#wheel = new TimerWheel(clock.monotonicMs());
    this.admission = new Admission(options.maxSessions);
    this.#loads = new LoadsStore(options.db, options.process.id);
    this.journal = new Journal({
      store: new JournalStore(options.process.id),
      outbox: options.outbox,
      ledger: options.ledger,
      ids: options.ids,
      logger,
      platformName: settings.platformName,
    });
    this.#exchange = new LoadExchange({
      store: this.#loads,
      admission: this.admission,
      stats: () => ({ sockets: this.#server.openSockets, sessions: this.admission.sessions }),
      logger,
    });
    const gate = new UpgradeGate({
      plane: this.#plane(),
      openSockets: () => this.#server.openSockets,
      platformName: settings.platformName,
      publicUrl: settings.publicUrl,
    });
    this.#server = createSocketServer(
      settings.socketDriver,
      {
        host: settings.host,
        port: settings.detectPort,
        ...(settings.tlsCertFile !== undefined &&
          settings.tlsKeyFile !== undefined && {
            tls: { certFile: settings.tlsCertFile, keyFile: settings.tlsKeyFile },
          }),
        onUpgrade: (request) => gate.decide(request),
        onFault: this.#onFault,
      },
      (message) => logger.warn({}, message),
    );
  }

  get driver(): DriverName {
    return this.#server.driver;
  }

  get openSockets(): number {
    return this.#server.openSockets;
  }

  /** Opens the port, which it answers. Rejects when the database is away or the port is taken. */
  async start(): Promise<number> {
    const { db, clock, logger, process } = this.#options;
    await this.#loads.register(process);
    this.#stopListening = await db.listen(DETECTION_KEYS_CHANNEL, (teamId) =>
      this.#keyring.invalidate(teamId),
    );
    await this.#exchange.exchange();
    this.#wheel.start(() => clock.monotonicMs(), this.#onFault);
    const port = await this.#server.listen();
    this.#exchange.start();
    logger.info(
      {
        driver: this.#server.driver,
        driver_version: this.#server.driverVersion,
        port,
        sessions_max: this.admission.sessionsMax,
      },
      'The gateway listens.',
    );
    return port;
  }

  /** Takes the TLS files as they are now; open sockets stay. */
  async reloadTls(): Promise<void> {
    await this.#server.reloadTls();
  }

  /**
   * Ends: nothing new is taken, sockets without a session get 1001 at once, live sessions may finish for `graceMs`,
   * then the rest get 1001. What was said is written, as far as the database is there.
   */
  async drain(graceMs: number): Promise<void> {
    const { clock } = this.#options;
    this.admission.drain();
    for (const connection of this.#connections) if (!connection.hasSession) connection.shutDown();
    const endsMs = clock.monotonicMs() + graceMs;
    await this.#until(() => this.#connections.size === 0, endsMs);
    for (const connection of this.#connections) connection.shutDown();
    await this.#until(() => this.#server.openSockets === 0, clock.monotonicMs() + FAREWELL_MS);
    await this.#server.close();
    this.#wheel.stop();
    if (!(await this.journal.flush(LAST_FLUSH_MS)))
      this.#options.logger.error(
        { backlog: this.journal.backlog },
        'The database was away at the end: session news are lost.',
      );
    await this.#exchange.stop();
    await this.#stopListening?.();
  }

  #plane(): DetectionPlane {
    const options = this.#options;
    const metrics = new PlaneMetrics(options.metrics, options.clock, {
      sockets: () => this.#server.openSockets,
      sessions: () => this.admission.sessions,
      journalBacklog: () => this.journal.backlog,
      journalDropped: () => this.journal.dropped,
    });
    const publicUrl = new URL(options.settings.detectUrl);
    return {
      native: options.native,
      keyring: this.#keyring,
      admission: this.admission,
      log: this.journal,
      clock: options.clock,
      ids: options.ids,
      wheel: this.#wheel,
      metrics,
      logger: options.logger,
      checkUrlSyntax: (url) => options.net.checkUrlSyntax(url),
      checkUrl: (url) => options.net.checkUrl(url),
      publicAddress: { authority: publicUrl.host, pathPrefix: publicUrl.pathname.replace(/\/+$/, '') },
      play: options.play ?? null,
      connections: this.#connections,
    };
  }

  readonly #onFault = (error: unknown): void => {
    this.#options.logger.error({ err: error }, 'The detection plane failed.');
  };

  async #until(condition: () => boolean, endsMs: number): Promise<void> {
    while (!condition() && this.#options.clock.monotonicMs() < endsMs)
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
  }
}
