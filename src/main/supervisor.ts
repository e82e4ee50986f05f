import { setTimeout as delay } from 'node:timers/promises';
import type { Ids } from '../kernel/ids.ts';
import { freePort } from '../platform/db/index.ts';
import type { Logger } from '../platform/logger/index.ts';
import type { MetricsSnapshot } from '../platform/metrics/index.ts';
import { GatewayChild, GatewayFailed } from './gateway-child.ts';
import type { GatewayStarted } from './gateway-child.ts';
import type { PartState } from './readiness.ts';

const RESPAWN_FIRST_MS = 100;
const RESPAWN_MAX_MS = 10_000;
/** A gateway that ran this long is taken for healthy: the next respawn is quick again. */
const HEALTHY_AFTER_MS = 30_000;
/** Somebody may take a port found free before the gateway does. */
const PORT_TRIES_MAX = 5;

export interface SupervisorOptions {
  /** Gateway processes (WORKERS). */
  readonly count: number;
  readonly host: string;
  /** DETECT_PORT; 0 finds a free one that all share. */
  readonly port: number;
  /** The environment of a child that listens on `port`. */
  readonly envOf: (port: number) => Record<string, string>;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
  readonly onWake: (lane: string) => void;
  /** A child ended, whether asked to or not. */
  readonly onEnded: (processId: string) => Promise<void>;
}

/**
 * Keeps the gateway processes running. A slot: starting → running → (ended → waiting, jittered and growing →
 * starting)* → drained. The first start of all must succeed; later ones are tried for ever.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #abort = new AbortController();
  readonly #children = new Set<GatewayChild>();
  #slots: Promise<void>[] = [];
  #port: number;
  #driver: GatewayStarted['driver'] | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#port = options.port;
  }

  /** The port all gateways share; known after `start`. */
  get port(): number {
    return this.#port;
  }

  /** Which socket driver they use; known after `start`. */
  get driver(): GatewayStarted['driver'] | undefined {
    return this.#driver;
  }

  /** Starts every gateway. @throws GatewayFailed with the reason of the first that does not start */
  async start(): Promise<void> {
    const first = await this.#startFirst();
    const others = Array.from({ length: this.#options.count - 1 }, () => this.#spawn());
    const children = [first, ...others];
    try {
      await Promise.all(others.map((child) => child.ready()));
    } catch (error) {
      for (const child of children) child.kill();
      throw error;
    }
    this.#slots = children.map((child) => this.#keep(child));
  }

  /** Every gateway ends: when its calls have, or after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#abort.abort();
    await Promise.all([...this.#children].map((child) => child.drain(graceMs)));
    await Promise.all(this.#slots);
  }

  /** At once; the last act of a process that is told to end now. */
  kill(): void {
    this.#abort.abort();
    for (const child of this.#children) child.kill();
  }

  reloadTls(): void {
    for (const child of this.#children) child.reloadTls();
  }

  async metrics(): Promise<MetricsSnapshot[]> {
    const found = await Promise.all([...this.#children].map((child) => child.metrics()));
    return found.filter((snapshot) => snapshot !== null);
  }

  /** Ready while at least one gateway listens; the detail tells of the missing ones. */
  state(): PartState {
    const running = [...this.#children].filter((child) => child.started !== undefined).length;
    const { count } = this.#options;
    return { ok: running > 0, ...(running < count ? { detail: `${running} of ${count} gateways run` } : {}) };
  }

  async #startFirst(): Promise<GatewayChild> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.#options.port === 0) this.#port = await freePort(this.#options.host);
      const child = this.#spawn();
      try {
        this.#driver = (await child.ready()).driver;
        return child;
      } catch (error) {
        const isTaken = this.#options.port === 0 && error instanceof GatewayFailed && error.exitCode !== 78;
        if (!isTaken || attempt >= PORT_TRIES_MAX) throw error;
        this.#options.logger.warn(
          { err: error, attempt },
          'The first gateway did not start; trying another port.',
        );
      }
    }
  }

  #spawn(): GatewayChild {
    const { envOf, ids, onWake, onEnded, logger } = this.#options;
    const child = new GatewayChild({ processId: ids.uuid(), env: envOf(this.#port), onWake });
    this.#children.add(child);
    void child.ended.then(async () => {
      this.#children.delete(child);
      try {
        await onEnded(child.processId);
      } catch (error) {
        logger.warn({ err: error }, 'The end of a gateway could not be recorded yet.');
      }
    });
    return child;
  }

  /** One slot for as long as the service runs. */
  async #keep(first: GatewayChild): Promise<void> {
    const { logger, monotonicMs } = this.#options;
    const { signal } = this.#abort;
    let child = first;
    let pauseMs = RESPAWN_FIRST_MS;
    for (;;) {
      const sinceMs = monotonicMs();
      const how = await child.ended;
      if (signal.aborted) return;
      if (monotonicMs() - sinceMs > HEALTHY_AFTER_MS) pauseMs = RESPAWN_FIRST_MS;
      logger.error({ gateway_pid: child.pid, ...how }, 'A gateway ended; another one is started.');
      await delay(pauseMs * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      pauseMs = Math.min(pauseMs * 2, RESPAWN_MAX_MS);
      child = this.#spawn();
      child.ready().then(
        () => logger.info({ gateway_pid: child.pid }, 'The gateway runs again.'),
        (error: unknown) => logger.error({ err: error }, 'A gateway did not start.'),
      );
    }
  }
}
