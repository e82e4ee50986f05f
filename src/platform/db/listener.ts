import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../logger/index.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_FIRST_MS = 100;
const RECONNECT_MAX_MS = 5_000;
/** A dead peer shows within this time even when nothing is said (the check costs one round trip). */
const CHECK_INTERVAL_MS = 15_000;
const CHANNEL = /^[a-z_][a-z0-9_]{0,62}$/;

export interface ListenerOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly channel: string;
  readonly logger: Logger;
  /** The payload of each notification; '' after a reconnect: anything may have been missed. */
  readonly onPayload: (payload: string) => void;
}

/**
 * LISTEN on a connection of its own. Starting → listening → (lost → waiting, jittered → listening)* → stopped.
 * Resolves when it listens the first time; rejects when the first connection fails.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #abort = new AbortController();
  #client: pg.Client | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: ListenerOptions) {
    if (!CHANNEL.test(options.channel)) throw new Error(`not a channel name: ${options.channel}`);
    this.#options = options;
  }

  async start(): Promise<void> {
    const lost = await this.#connect();
    this.#loop = this.#stayConnected(lost);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#client?.end().catch((error: unknown) => this.#report(error));
    await this.#loop;
  }

  /** Resolves to a promise that settles when this connection is lost. */
  async #connect(): Promise<{ lost: Promise<void> }> {
    const { url, applicationName, channel, onPayload } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      query_timeout: CONNECT_TIMEOUT_MS,
    });
    const lost = new Promise<void>((resolve) => {
      client.on('error', () => resolve());
      client.on('end', () => resolve());
    });
    client.on('notification', (message) => onPayload(message.payload ?? ''));
    await client.connect();
    await client.query(`listen ${channel}`);
    this.#client = client;
    const check = setInterval(() => {
      client.query('select 1').catch((error: unknown) => {
        this.#report(error);
        // `end` waits for a peer that is gone; the socket's end is what frees it.
        (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
      });
    }, CHECK_INTERVAL_MS);
    check.unref();
    void lost.then(() => clearInterval(check));
    return { lost };
  }

  async #stayConnected(first: { lost: Promise<void> }): Promise<void> {
    const { signal } = this.#abort;
    let current = first;
    let waitMs = RECONNECT_FIRST_MS;
    for (;;) {
      await current.lost;
      while (!signal.aborted) {
        await delay(waitMs * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
        if (signal.aborted) return;
        try {
          current = await this.#connect();
          waitMs = RECONNECT_FIRST_MS;
          this.#options.onPayload('');
          break;
        } catch (error) {
          this.#report(error);
          waitMs = Math.min(waitMs * 2, RECONNECT_MAX_MS);
        }
      }
      if (signal.aborted) return;
    }
  }

  #report(error: unknown): void {
    this.#options.logger.debug(
      { err: error, channel: this.#options.channel },
      'The listening connection was lost.',
    );
  }
}
