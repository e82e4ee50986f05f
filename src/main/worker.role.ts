import { createKeyExpiryHandler } from '../features/credentials/index.ts';
import { createFollowUpHandler } from '../features/contacts/index.ts';
import { createDetectionRetention, SessionsService } from '../features/detection/index.ts';
import { createLookupsHandlers, createLookupsSweeps } from '../features/lookups/index.ts';
import type { LookupsJobsOptions } from '../features/lookups/index.ts';
import { createEmailSweeps } from '../features/email/index.ts';
import {
  createCallbackHandler,
  createCallStreams,
  createDispatchHandler,
  createResultHandlers,
  createSendRetention,
} from '../features/sends/index.ts';
import { createArtifactsSweep } from '../features/oauth/index.ts';
import { createDeliveryHandler, createDeliveryRetention } from '../features/webhooks/index.ts';
import { MutationAnswers } from '../platform/graphql/answers.ts';
import type { Metrics } from '../platform/metrics/index.ts';
import { Relay } from '../platform/outbox/index.ts';
import type { Handler } from '../platform/outbox/index.ts';
import type { Queue } from '../platform/queue/index.ts';
import type { Services } from './compose.ts';
import { deliveryMetrics } from './delivery.metrics.ts';
import type { Periodic } from './periodic.ts';
import type { ProcessRegistry } from './process-registry.ts';

const SWEEP_INTERVAL_MS = 5_000;
const STATS_INTERVAL_MS = 5_000;
const RETENTION_INTERVAL_MS = 3_600_000;

export interface WorkerOptions {
  readonly services: Services;
  readonly queue: Queue;
  readonly metrics: Metrics;
  readonly periodic: Periodic;
  /** Whose leases are handed back when they died. */
  readonly registry: Pick<ProcessRegistry, 'id' | 'diedLately'>;
  /** Whether this process's own heartbeats have been reaching the database for a while. */
  readonly isSteady: () => boolean;
}

/** The worker role: the relay with its handlers, retention, and the sweep of sessions whose gateway died. */
export class WorkerRole {
  readonly #relay: Relay;

  constructor(options: WorkerOptions) {
    const { services, queue, metrics } = options;
    const { db, clock, ids, logger, keyLookup, cipher, net } = services;
    const handler = createDeliveryHandler({
      ...{ db, net, clock, logger, cipher },
      signingKey: (keyId) => keyLookup.signingKey(keyId),
      ...deliveryMetrics(metrics),
    });
    this.#relay = new Relay({
      db,
      queue,
      clock,
      logger,
      ids,
      owner: options.registry.id,
      handlers: [
        handler,
        createKeyExpiryHandler(db),
        createFollowUpHandler(services.followUps),
        ...createLookupsHandlers(lookupsJobs(services)),
        ...sendHandlers(services),
      ],
    });
    this.#schedule(options);
  }

  start(): void {
    this.#relay.start();
  }

  /** Hands leases back; what runs has `graceMs` to end. */
  async stop(graceMs: number): Promise<void> {
    await this.#relay.stop({ graceMs });
  }

  #schedule({ services, metrics, periodic, registry, isSteady }: WorkerOptions): void {
    const { db, clock, settings, logger } = services;
    const sessions = new SessionsService({ db });
    periodic.add({
      name: 'lost-leases',
      intervalMs: SWEEP_INTERVAL_MS,
      run: async () => {
        const rows = await this.#relay.handBack(await registry.diedLately({ byHeartbeat: isSteady() }));
        if (rows > 0) logger.warn({ rows }, 'Work of processes that died is handed out again.');
      },
    });
    periodic.add({
      name: 'lost-sessions',
      intervalMs: SWEEP_INTERVAL_MS,
      // After an outage every heartbeat is old, those of the living too: they get time to beat first.
      run: async () => {
        const lost = isSteady() ? await sessions.sweepLost() : 0;
        if (lost > 0) logger.warn({ sessions: lost }, 'Sessions of gateways that died were marked lost.');
      },
    });
    const detection = createDetectionRetention({ db, clock, days: settings.retentionSessionsDays });
    const deliveries = createDeliveryRetention({ db, clock, retentionDays: settings.retentionDays });
    periodic.add({
      name: detection.name,
      intervalMs: detection.intervalMs,
      run: (signal) => detection.run(signal),
    });
    const { results } = services.emails;
    const { retentionDays } = settings;
    const sweeps = [
      ...createLookupsSweeps(lookupsJobs(services)),
      ...createEmailSweeps({ db, clock, results, retentionDays }),
      createSendRetention({ db, clock, retentionDays }),
    ];
    for (const sweep of sweeps) periodic.add({ ...sweep, run: (signal) => sweep.run(signal) });
    const artifacts = createArtifactsSweep({ db, clock });
    periodic.add({ ...artifacts, run: (signal) => artifacts.run(signal) });
    periodic.add({ name: 'deliveries', intervalMs: RETENTION_INTERVAL_MS, run: () => deliveries.run() });
    const answers = new MutationAnswers(services);
    periodic.add({ ...answers.sweep, run: () => answers.deleteOld() });
    const rows = metrics.gauge({
      name: 'tonegate_outbox_rows',
      help: 'Outbox rows by state',
      labelNames: ['state'],
    });
    const oldest = metrics.gauge({
      name: 'tonegate_outbox_oldest_seconds',
      help: 'Age of the oldest due row',
    });
    periodic.add({
      name: 'outbox-stats',
      intervalMs: STATS_INTERVAL_MS,
      run: async () => {
        const stats = await this.#relay.stats();
        rows.set({ state: 'ready' }, stats.ready);
        rows.set({ state: 'held' }, stats.held);
        rows.set({ state: 'in_flight' }, stats.inFlight);
        oldest.set(stats.oldestMs / 1_000);
      },
    });
  }
}

/** What takes sends from their acceptance to their result. */
function sendHandlers(services: Services): Handler[] {
  const { db, outbox, clock, net, ledger, dialingRules, carrierConnections, sendResults } = services;
  const streamOf = createCallStreams({
    ...{ detectUrl: services.addresses.detectUrl, platform: services.settings.platformName },
    masterKey: services.masterKey,
  });
  const dispatch = createDispatchHandler({
    ...{ db, outbox, clock, ledger, rules: dialingRules, carriers: carrierConnections, results: sendResults },
    ...{ audio: services.lookups.messageAudio, streamOf, net },
  });
  return [
    dispatch,
    ...createResultHandlers({ results: sendResults }),
    createCallbackHandler({ db, clock, net }),
  ];
}

const lookupsJobs = ({ db, clock, files, lookups, settings }: Services): LookupsJobsOptions => ({
  ...{ db, clock, storage: files.kept, numbers: lookups.numbers },
  folders: [files.kept, files.incoming],
  retentionDays: settings.retentionDays,
});
