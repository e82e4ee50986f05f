import { createHash } from 'node:crypto';
import { Queue as BullQueue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Logger } from '../logger/index.ts';
import { InProcessQueue } from './in-process.queue.ts';
import type { Queue, QueueHealth, WakeHandler } from './queue.ts';
import { WakeBuffer } from './wake-buffer.ts';

/** A Redis command that took longer counts as failed (house rule: Redis may freeze at any time). */
const COMMAND_TIMEOUT_MS = 50;
/** Wake-ups on their way to Redis at once; beyond it they are dropped and the pollers find the work. */
const SENDING_MAX = 256;
/** Longest pause between attempts to reach Redis again. */
const RECONNECT_PAUSE_MAX_MS = 5_000;
/** Bound of `close`: a frozen Redis must not hold up the end of the process. */
const CLOSE_TIMEOUT_MS = 1_000;
/** One log line about a Redis fault in this time. */
const FAULT_LOG_EVERY_MS = 10_000;
const QUEUE_NAME = 'wake';
const PREFIX = 'tonegate';

/** Full jitter up to an exponential ceiling, so that processes do not return all at once. */
const reconnectPauseMs = (attempt: number): number =>
  50 + Math.random() * Math.min(RECONNECT_PAUSE_MAX_MS, 100 * 2 ** Math.min(attempt, 10));

export interface BullMqQueueOptions {
  redisUrl: string;
  logger: Logger;
  /** Prefix of all keys in Redis. */
  prefix?: string | undefined;
  /** Monotonic milliseconds, for the pace of log lines. */
  monotonicMs: () => number;
}

/**
 * Wake-ups over Redis with BullMQ, for many processes. Listeners of this process hear its own wake-ups at
 * once and without Redis; Redis carries them to the others, each to one of them. A lane has at most one
 * waiting and one running job (deduplication), which bounds what Redis holds while nobody listens.
 */
export class BullMqQueue implements Queue {
  readonly name = 'bullmq';
  readonly #options: BullMqQueueOptions;
  readonly #prefix: string;
  readonly #local: InProcessQueue;
  readonly #connection: Redis;
  #queue: BullQueue | undefined;
  #opening: Promise<void> | undefined;
  readonly #buffer = new WakeBuffer((lanes) => lanes.forEach((lane) => this.#send(lane)));
  #listener: { worker: Worker; connection: Redis } | undefined;
  #sending = 0;
  #closing: Promise<void> | undefined;
  #faultLoggedAtMs = -Infinity;

  constructor(options: BullMqQueueOptions) {
    this.#options = options;
    this.#prefix = options.prefix ?? PREFIX;
    this.#local = new InProcessQueue({ logger: options.logger });
    this.#connection = new Redis(options.redisUrl, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: reconnectPauseMs,
    });
    this.#connection.on('error', (error) => this.#fault(error));
    // BullMQ asks Redis for its version when it starts and stays broken when it gets no answer.
    this.#connection.on('ready', () => this.#open());
  }

  wake(lane: string): void {
    if (this.#closing) return;
    this.#local.wake(lane);
    this.#buffer.add(lane);
  }

  onWake(handler: WakeHandler): void {
    this.#local.onWake(handler);
    this.#listener ??= this.#listen();
  }

  async health(): Promise<QueueHealth> {
    try {
      await this.#connection.ping();
      return { ok: true };
    } catch (error) {
      return { ok: false, detail: `redis: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #listen(): { worker: Worker; connection: Redis } {
    // Blocking commands wait for seconds by design, so no command timeout here; nothing waits on this connection.
    const connection = new Redis(this.#options.redisUrl, {
      maxRetriesPerRequest: null,
      retryStrategy: reconnectPauseMs,
    });
    connection.on('error', (error) => this.#fault(error));
    const worker = new Worker<{ lane: string }>(QUEUE_NAME, async (job) => this.#local.wake(job.data.lane), {
      connection,
      prefix: this.#prefix,
      concurrency: 16,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    worker.on('error', (error) => this.#fault(error));
    return { worker, connection };
  }

  #send(lane: string): void {
    if (this.#closing || this.#sending >= SENDING_MAX) return;
    if (this.#connection.status !== 'ready') return;
    if (!this.#queue) return this.#open();
    this.#sending += 1;
    // BullMQ ids may not contain ':'; a digest also bounds their length.
    const id = createHash('sha1').update(lane).digest('base64url');
    this.#queue
      .add(
        'lane',
        { lane },
        { deduplication: { id, keepLastIfActive: true }, removeOnComplete: true, removeOnFail: true },
      )
      .catch((error: unknown) => this.#fault(error))
      .finally(() => {
        this.#sending -= 1;
      });
  }

  #open(): void {
    if (this.#queue || this.#closing || this.#connection.status !== 'ready') return;
    this.#opening ??= this.#openQueue().finally(() => {
      this.#opening = undefined;
    });
  }

  /** A queue that Redis answered; a failed one is given up, and the next wake-up tries again. */
  async #openQueue(): Promise<void> {
    const queue = new BullQueue(QUEUE_NAME, { connection: this.#connection, prefix: this.#prefix });
    queue.on('error', (error) => this.#fault(error));
    try {
      await queue.waitUntilReady();
      this.#queue = queue;
    } catch (error) {
      this.#fault(error);
      await queue.close().catch((closeError: unknown) => this.#fault(closeError));
    }
  }

  #fault(error: unknown): void {
    const nowMs = this.#options.monotonicMs();
    if (this.#closing || nowMs - this.#faultLoggedAtMs < FAULT_LOG_EVERY_MS) return;
    this.#faultLoggedAtMs = nowMs;
    this.#options.logger.warn({ err: error }, 'Redis does not answer: wake-ups go by polling until it does');
  }

  async #close(): Promise<void> {
    await this.#local.close();
    const ended = Promise.allSettled([this.#listener?.worker.close(true), this.#queue?.close()]);
    const late = new Promise((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref());
    await Promise.race([ended, late]);
    this.#listener?.connection.disconnect();
    this.#connection.disconnect();
  }
}
