import { createDetectionRetention, SessionsService } from '../features/detection/index.ts';
import { createDeliveryHandler, createDeliveryRetention } from '../features/webhooks/index.ts';
import type { Metrics } from '../platform/metrics/index.ts';
import { createNet } from '../platform/net/index.ts';
import type { Net } from '../platform/net/index.ts';
import { Relay } from '../platform/outbox/index.ts';
import type { Queue } from '../platform/queue/index.ts';
import type { Services } from './compose.ts';
import type { Periodic } from './periodic.ts';

const SWEEP_INTERVAL_MS = 5_000;
const STATS_INTERVAL_MS = 5_000;
const RETENTION_INTERVAL_MS = 3_600_000;
/** Bounds in seconds for times from an event to its first POST; 0.15 is the promise. */
const DELAY_BUCKETS_SEC = [0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export interface WorkerOptions {
  readonly services: Services;
  readonly queue: Queue;
  readonly metrics: Metrics;
  readonly periodic: Periodic;
  /** Whether this process's own heartbeats have been reaching the database for a while. */
  readonly isSteady: () => boolean;
}

/** The worker role: the relay with its handlers, retention, and the sweep of sessions whose gateway died. */
export class WorkerRole {
  readonly #relay: Relay;
  readonly #net: Net;

  constructor(options: WorkerOptions) {
    const { services, queue, metrics } = options;
    const { db, clock, ids, logger, settings, keyLookup } = services;
    this.#net = createNet({ allowPrivateTargets: settings.allowPrivateTargets, logger });
    const delays = metrics.histogram({
      name: 'tonegate_webhook_first_attempt_delay_seconds',
      help: 'From the event to the start of its first delivery attempt',
      buckets: DELAY_BUCKETS_SEC,
    });
    const attempts = metrics.counter({
      name: 'tonegate_webhook_attempts_total',
      help: 'Delivery attempts by what they led to',
      labelNames: ['state'],
    });
    const handler = createDeliveryHandler({
      ...{ db, net: this.#net, clock, logger },
      signingKey: (keyId) => keyLookup.signingKey(keyId),
      observe: (seen) => {
        attempts.inc({ state: seen.state });
        if (seen.attempt === 1) delays.observe(seen.sinceCreatedMs / 1_000);
      },
    });
    this.#relay = new Relay({ db, queue, clock, logger, ids, handlers: [handler] });
    this.#schedule(options);
  }

  start(): void {
    this.#relay.start();
  }

  /** Hands leases back; what runs has `graceMs` to end. */
  async stop(graceMs: number): Promise<void> {
    await this.#relay.stop({ graceMs });
    await this.#net.close();
  }

  #schedule({ services, metrics, periodic, isSteady }: WorkerOptions): void {
    const { db, clock, settings, logger } = services;
    const sessions = new SessionsService({ db });
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
    periodic.add({ name: 'deliveries', intervalMs: RETENTION_INTERVAL_MS, run: () => deliveries.run() });
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
