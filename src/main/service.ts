import type { Server } from 'node:http';
import { KEY_USAGE_FLUSH_INTERVAL_MS } from '../features/credentials/index.ts';
import { SessionsService } from '../features/detection/index.ts';
import { makeSendPartitions } from '../features/sends/index.ts';
import { systemClock } from '../kernel/clock.ts';
import { createHttp, listenHttp, reloadTls } from '../platform/http/index.ts';
import type { TlsFiles } from '../platform/http/index.ts';
import type { Logger } from '../platform/logger/index.ts';
import { aggregateMetrics, createMetrics } from '../platform/metrics/index.ts';
import { createQueue } from '../platform/queue/index.ts';
import type { Queue } from '../platform/queue/index.ts';
import { loadSettings } from '../platform/settings/index.ts';
import type { Settings } from '../platform/settings/index.ts';
import { mountApi } from './api.role.ts';
import { AuthRole } from './auth.role.ts';
import { compose } from './compose.ts';
import type { Services } from './compose.ts';
import { openDatabase } from './database.ts';
import type { Database } from './database.ts';
import { makeFirstAccount } from './first-account.ts';
import { gatewayEnvironment } from './gateway-environment.ts';
import { Heartbeat } from './heartbeat.ts';
import { startInternal } from './internal.server.ts';
import { naming } from './listen-fault.ts';
import { Periodic } from './periodic.ts';
import { ProcessRegistry } from './process-registry.ts';
import { ReadinessBoard } from './readiness.ts';
import { checkTls } from './start-checks.ts';
import { Supervisor } from './supervisor.ts';
import { VERSION } from './version.ts';
import { WorkerRole } from './worker.role.ts';
import type { WorkerOptions } from './worker.role.ts';

/** Connections of the main process: relay, routes and administration together. */
const CONNECTIONS_MAX = 20;
const CARRIER_REPORT_INTERVAL_MS = 5_000;
/** What is left of the grace at least for deliveries under way when the last call has ended. */
const RELAY_GRACE_MIN_MS = 1_000;

/** Addresses this process serves (runtime.md, First start); those of roles it does not have are absent. */
export interface ReadyLine {
  readonly event: 'ready';
  readonly http?: string;
  readonly detect?: string;
  readonly auth?: string;
  readonly internal: string;
}

/**
 * The main process: starting → running → draining → ended. Parts are started in the order they stand on each
 * other and ended so that calls and requests under way finish first.
 */
export class Service {
  readonly #settings: Settings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #logger: Logger;
  readonly #readiness = new ReadinessBoard();
  readonly #metrics = createMetrics();
  readonly #periodic: Periodic;
  /** Those that were found, by the name of their setting. */
  readonly #ports: Record<string, string> = {};
  #database: Database | undefined;
  #services: Services | undefined;
  #queue: Queue | undefined;
  #registry: ProcessRegistry | undefined;
  #worker: WorkerRole | undefined;
  #http: ReturnType<typeof createHttp> | undefined;
  #auth: AuthRole | undefined;
  #supervisor: Supervisor | undefined;
  #internal: Server | undefined;

  constructor(options: { settings: Settings; env: NodeJS.ProcessEnv; logger: Logger }) {
    this.#settings = options.settings;
    this.#env = options.env;
    this.#logger = options.logger;
    this.#periodic = new Periodic(options.logger);
  }

  /** Starts everything and answers where it listens. On a fault, `stop` ends what was started. */
  async start(options: { migrate: boolean }): Promise<ReadyLine> {
    const settings = this.#settings;
    this.#sayWhatIsUnsafe();
    this.#database = await openDatabase({ settings, logger: this.#logger, purpose: 'service', ...options });
    this.#queue = createQueue({ redisUrl: settings.redisUrl, logger: this.#logger, clock: systemClock });
    const services = compose({
      ...{ settings, logger: this.#logger, url: this.#database.url, masterKey: this.#database.masterKey },
      ...{ maxConnections: CONNECTIONS_MAX, applicationName: 'tonegate-main', queue: this.#queue },
      metrics: this.#metrics,
    });
    this.#services = services;
    this.#periodic.add({
      name: 'key-usage',
      intervalMs: KEY_USAGE_FLUSH_INTERVAL_MS,
      run: () => services.keyUsage.flush(),
    });
    if (this.#database.isEmbedded) await makeFirstAccount(settings.dataDir, services);
    this.#periodic.add({
      name: 'carrier-reports',
      intervalMs: CARRIER_REPORT_INTERVAL_MS,
      run: () => services.carrierConnections.report(),
    });
    await makeSendPartitions(services);
    const heard = await this.#startHeartbeat(services);
    if (settings.roles.has('worker')) this.#startWorker(services, this.#queue, heard);
    const httpPort = settings.roles.has('api') ? await this.#startHttp(services) : null;
    const authPort = settings.roles.has('auth') ? await this.#startAuth(services) : null;
    const supervisor = settings.roles.has('gateway') ? await this.#startGateways(services, httpPort) : null;
    this.#watchParts(services, this.#queue);
    const internalPort = await this.#startInternal();
    const driver = supervisor?.driver;
    this.#logger.info(
      { version: VERSION, node: process.version, roles: [...settings.roles], driver },
      'Tonegate is up.',
    );
    return this.#readyLine({ httpPort, detectPort: supervisor?.port ?? null, authPort, internalPort });
  }

  /** Graceful: nothing new from now on, what is under way has SHUTDOWN_GRACE_SEC, then everything is closed. */
  async stop(): Promise<void> {
    const graceMs = this.#settings.shutdownGraceSec * 1_000;
    const startedMs = performance.now();
    const leftMs = (): number => Math.max(0, graceMs - (performance.now() - startedMs));
    this.#readiness.drain();
    const cut = setTimeout(() => {
      this.#http?.server.closeAllConnections();
      this.#auth?.cut();
    }, graceMs);
    await Promise.all([this.#supervisor?.drain(graceMs), this.#http?.close(), this.#auth?.close()]);
    clearTimeout(cut);
    await this.#worker?.stop(Math.max(RELAY_GRACE_MIN_MS, leftMs()));
    await this.#periodic.stop();
    await this.#tryQuietly(() => this.#registry?.end());
    await this.#queue?.close();
    await this.#tryQuietly(() => this.#services?.close());
    await this.#database?.release();
    this.#internal?.closeAllConnections();
    this.#internal?.close();
  }

  /** At once (a second signal): children are killed, the embedded database is told to end, nothing is waited for. */
  abandon(): void {
    this.#supervisor?.kill();
    this.#database?.abandon();
  }

  /** Reads the TLS files again; what is not usable is reported and the old pair stays. */
  reloadTls(): void {
    const tls = this.#tlsFiles();
    if (!tls) return;
    try {
      checkTls(this.#settings);
      if (this.#http) reloadTls(this.#http.server, tls);
      this.#auth?.reloadTls(tls);
      this.#supervisor?.reloadTls();
      this.#logger.info({}, 'The TLS files were read again.');
    } catch (error) {
      this.#logger.error({ err: error }, 'The TLS files are not usable; the former pair stays.');
    }
  }

  #sayWhatIsUnsafe(): void {
    if (!this.#settings.allowPrivateTargets) return;
    this.#logger.warn(
      {},
      'ALLOW_PRIVATE_TARGETS is on: webhooks may reach private addresses. For development only.',
    );
  }

  async #startHeartbeat(services: Services): Promise<Pick<WorkerOptions, 'registry' | 'isSteady'>> {
    const sessions = new SessionsService({ db: services.db });
    const registry = new ProcessRegistry({
      ...{ db: services.db, id: services.ids.uuid(), roles: [...this.#settings.roles] },
      onLost: (processId) => sessions.markLost(processId),
    });
    const heartbeat = new Heartbeat(() => registry.beat(), services.clock);
    await heartbeat.run();
    await registry.endKilledNeighbours();
    this.#registry = registry;
    this.#periodic.add(heartbeat);
    this.#periodic.add({ name: 'old-processes', intervalMs: 3_600_000, run: () => registry.forget() });
    return { registry, isSteady: () => heartbeat.isSteady() };
  }

  #startWorker(services: Services, queue: Queue, heard: Pick<WorkerOptions, 'registry' | 'isSteady'>): void {
    const shared = { metrics: this.#metrics, periodic: this.#periodic, ...heard };
    this.#worker = new WorkerRole({ services, queue, ...shared });
    this.#worker.start();
  }

  async #startHttp(services: Services): Promise<number> {
    const { host, httpPort, trustProxy } = this.#settings;
    const tls = this.#tlsFiles();
    const { publicUrl } = services.addresses;
    const options = { logger: this.#logger, ids: services.ids, tls, trustProxy, publicUrl };
    this.#http = createHttp(options);
    await mountApi(this.#http, services, { readiness: () => this.#readiness.read() });
    const port = await naming('HTTP_PORT', listenHttp(this.#http, { host, port: httpPort }));
    this.#found(services, { HTTP_PORT: port });
    return port;
  }

  async #startAuth(services: Services): Promise<number> {
    const { host, authPort } = this.#settings;
    this.#auth = new AuthRole(services, this.#tlsFiles());
    const port = await naming('AUTH_PORT', this.#auth.listen({ host, port: authPort }));
    this.#found(services, { AUTH_PORT: port });
    await this.#auth.prepare();
    return port;
  }

  async #startGateways(services: Services, httpPort: number | null): Promise<Supervisor> {
    const { settings } = services;
    const database = this.#database;
    if (!database) throw new Error('gateways stand on a database');
    this.#supervisor = new Supervisor({
      ...{ count: settings.workers, host: settings.host, port: settings.detectPort },
      ...{ ids: services.ids, logger: this.#logger, monotonicMs: () => services.clock.monotonicMs() },
      envOf: (detectPort) => gatewayEnvironment(this.#env, { database, detectPort, httpPort }),
      onWake: (lane) => this.#queue?.wake(lane),
      onEnded: async (processId) => this.#registry?.childEnded(processId),
    });
    await this.#supervisor.start();
    this.#found(services, { DETECT_PORT: this.#supervisor.port });
    return this.#supervisor;
  }

  /** Addresses that follow from ports of free choice (0) are in force from now on. */
  #found(services: Services, ports: Readonly<Record<string, number>>): void {
    for (const [name, port] of Object.entries(ports)) this.#ports[name] = String(port);
    services.addresses.update(loadSettings({ ...this.#env, ...this.#ports }));
  }

  #watchParts(services: Services, queue: Queue): void {
    this.#readiness.add('database', async () => {
      await services.db.query('select 1');
      return { ok: true };
    });
    // Wake-ups only make work start sooner (house.md, Promises 2).
    this.#readiness.add('queue', async () => ({ ...(await queue.health()), isOptional: true }));
    const supervisor = this.#supervisor;
    if (supervisor) this.#readiness.add('gateway', () => supervisor.state());
  }

  async #startInternal(): Promise<number> {
    const { host, internalPort } = this.#settings;
    const metrics = async (): Promise<string> =>
      aggregateMetrics([await this.#metrics.snapshot(), ...((await this.#supervisor?.metrics()) ?? [])]);
    const options = { host, port: internalPort, readiness: this.#readiness, metrics, logger: this.#logger };
    const { server, port } = await naming('INTERNAL_PORT', startInternal(options));
    this.#internal = server;
    return port;
  }

  #readyLine(ports: {
    httpPort: number | null;
    detectPort: number | null;
    authPort: number | null;
    internalPort: number;
  }): ReadyLine {
    const { host } = this.#settings;
    const s = this.#tlsFiles() ? 's' : '';
    const shown = host.includes(':') ? `[${host}]` : host;
    return {
      event: 'ready',
      ...(ports.httpPort === null ? {} : { http: `http${s}://${shown}:${ports.httpPort}` }),
      ...(ports.detectPort === null ? {} : { detect: `ws${s}://${shown}:${ports.detectPort}` }),
      ...(ports.authPort === null ? {} : { auth: `http${s}://${shown}:${ports.authPort}` }),
      internal: `http://${shown}:${ports.internalPort}`,
    };
  }

  #tlsFiles(): TlsFiles | null {
    const { tlsCertFile, tlsKeyFile } = this.#settings;
    return tlsCertFile !== undefined && tlsKeyFile !== undefined
      ? { certFile: tlsCertFile, keyFile: tlsKeyFile }
      : null;
  }

  /** A step of the end that needs the database, which may be away. */
  async #tryQuietly(step: () => Promise<void> | undefined): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#logger.warn({ err: error }, 'A step of the shutdown failed; it goes on.');
    }
  }
}
