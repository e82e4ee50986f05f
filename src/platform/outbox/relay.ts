import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Db } from '../db/index.ts';
import type { Logger } from '../logger/index.ts';
import { ALL_LANES } from '../queue/index.ts';
import type { Queue } from '../queue/index.ts';
import { TopicDispatcher } from './dispatcher.ts';
import { NEAR_FUTURE_MS, topicOf } from './outbox.ts';
import { OutboxStore } from './outbox.store.ts';
import type { OutboxStats } from './outbox.store.ts';
import type { Handler } from './outbox.type.ts';
import { backoffMs } from './transient.rules.ts';

/** Without any wake-up, work is found within this time. */
const POLL_MS = 1_000;
/** A poll takes at most a tenth of the time, whatever it has to wade through, … */
const POLL_SHARE = 10;
/** … but one that a stalled database held up says nothing about the next: the pause has an end. */
const POLL_PAUSE_MAX_MS = 5_000;
/** A look that took longer: the database stalled, and what commits now may lie below the floors (their margin: 5 s). */
const POLL_STALLED_MS = 4_000;
const BRING_BACK_MS = 5_000;
const BRING_BACK_ROWS_MAX = 1_000;
const LANES_PER_POLL_MAX = 1_000;
/** Floors are forgotten this often, so that a row committed very late is found all the same. */
const FLOORS_LIVE_MS = 60_000;
const FAULT_PAUSE = { minMs: 200, maxMs: 5_000 };
/** How long `stop` waits for what runs, unless told otherwise. */
const STOP_GRACE_MS = 12_000;

export interface RelayOptions {
  db: Db;
  queue: Queue;
  clock: Clock;
  logger: Logger;
  ids: Ids;
  handlers: readonly Handler[];
  /** Names the process in its leases (a UUID), so that they can be handed back when it died; omitted: one of its own. */
  owner?: string | undefined;
}

/**
 * Hands due outbox rows to their handlers, at least once and, by the check of the claim in the row's last
 * transaction, with one effect. Any number of relays may run on one database.
 */
export class Relay {
  readonly #store: OutboxStore;
  readonly #queue: Queue;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #dispatchers = new Map<string, TopicDispatcher>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #running = false;
  #stopped = false;
  #pollAfter = '';
  #floorsSinceMs: number;

  constructor(options: RelayOptions) {
    const { db, queue, clock, logger, ids, handlers } = options;
    this.#store = new OutboxStore(db);
    this.#queue = queue;
    this.#clock = clock;
    this.#logger = logger;
    this.#floorsSinceMs = clock.monotonicMs();
    const context = { db, store: this.#store, clock, logger };
    const owner = options.owner ?? ids.uuid();
    for (const handler of handlers) {
      this.#dispatchers.set(handler.topic, new TopicDispatcher(context, handler, owner));
    }
  }

  /** Once; a relay that was stopped stays so. */
  start(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    this.#queue.onWake((lane) => this.#wake(lane));
    this.#every(POLL_MS, () => this.#poll());
    this.#every(BRING_BACK_MS, async () => void (await this.#bringBack()));
  }

  /** Claims no more, lets what runs finish for `graceMs`, then aborts it and hands its leases back. */
  async stop(options: { graceMs?: number } = {}): Promise<void> {
    this.#running = false;
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    const graceMs = options.graceMs ?? STOP_GRACE_MS;
    await Promise.all([...this.#dispatchers.values()].map((dispatcher) => dispatcher.stop(graceMs)));
  }

  /** Hands out again what owners that died had claimed, without waiting for their leases to run out; how many rows. */
  async handBack(deadOwners: readonly string[]): Promise<number> {
    return deadOwners.length === 0 ? 0 : this.#store.handBack(deadOwners);
  }

  async stats(): Promise<OutboxStats> {
    return this.#store.stats(this.#clock.nowMs());
  }

  /** Processes all that is due, and what becomes due by it, until nothing more starts. For tests. */
  async poke(): Promise<void> {
    while (!this.#stopped) {
      const before = this.#started();
      await this.#bringBack();
      await this.#poll();
      await Promise.all([...this.#dispatchers.values()].map((dispatcher) => dispatcher.idle()));
      if (this.#started() === before) return;
    }
  }

  #started(): number {
    return [...this.#dispatchers.values()].reduce((sum, dispatcher) => sum + dispatcher.started, 0);
  }

  #wake(lane: string): void {
    if (!this.#running) return;
    if (lane !== ALL_LANES) return this.#dispatchers.get(topicOf(lane))?.wake(lane);
    this.#poll().catch((error: unknown) => this.#logger.warn({ err: error }, 'looking at all lanes failed'));
  }

  /** One round over the lanes; a round that hits its bound goes on where it stopped. */
  async #poll(): Promise<void> {
    const startedMs = this.#clock.monotonicMs();
    if (startedMs - this.#floorsSinceMs > FLOORS_LIVE_MS) this.#dropFloors();
    let isSteady = false;
    let lanes: Awaited<ReturnType<OutboxStore['lanes']>>;
    try {
      const paused = await this.#store.pausedTopics();
      for (const [topic, dispatcher] of this.#dispatchers) dispatcher.setPaused(paused.has(topic));
      lanes = await this.#store.lanes(this.#pollAfter, this.#clock.nowMs(), LANES_PER_POLL_MAX);
      isSteady = this.#clock.monotonicMs() - startedMs <= POLL_STALLED_MS;
    } finally {
      if (!isSteady) this.#dropFloors();
    }
    this.#pollAfter = lanes.length >= LANES_PER_POLL_MAX ? (lanes.at(-1)?.lane ?? '') : '';
    for (const { lane, due } of lanes) if (due) this.#dispatchers.get(topicOf(lane))?.wake(lane);
    if (!isSteady) return;
    for (const dispatcher of this.#dispatchers.values()) await dispatcher.raiseFloors();
  }

  #dropFloors(): void {
    this.#floorsSinceMs = this.#clock.monotonicMs();
    for (const dispatcher of this.#dispatchers.values()) dispatcher.dropFloors();
  }

  /** Brings rows of outbox_later back shortly before they are due. How many. */
  async #bringBack(): Promise<number> {
    const lanes = await this.#store.bringBack(this.#clock.nowMs() + NEAR_FUTURE_MS, BRING_BACK_ROWS_MAX);
    for (const lane of new Set(lanes)) this.#dispatchers.get(topicOf(lane))?.wake(lane);
    return lanes.length;
  }

  /** Runs `job` again and again; after a fault with growing, jittered pauses. */
  #every(pauseMs: number, job: () => Promise<void>): void {
    let faults = 0;
    const round = async (): Promise<void> => {
      const startedMs = this.#clock.monotonicMs();
      let nextMs: number;
      try {
        await job();
        faults = 0;
        const tookMs = this.#clock.monotonicMs() - startedMs;
        nextMs = Math.max(pauseMs, Math.min(tookMs * POLL_SHARE, POLL_PAUSE_MAX_MS));
      } catch (error) {
        faults += 1;
        if (faults === 1) this.#logger.warn({ err: error }, 'the outbox cannot be read: trying again');
        nextMs = backoffMs(faults, FAULT_PAUSE);
      }
      schedule(nextMs);
    };
    const schedule = (inMs: number): void => {
      if (!this.#running) return;
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        void round();
      }, inMs);
      this.#timers.add(timer);
    };
    schedule(0);
  }
}
