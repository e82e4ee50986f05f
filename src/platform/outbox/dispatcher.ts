import { Execution } from './execution.ts';
import type { ExecutionContext, Outcome } from './execution.ts';
import { Gather } from './gather.ts';
import { LaneRotation } from './lane-rotation.ts';
import { NEAR_FUTURE_MS } from './outbox.ts';
import type { Claim } from './outbox.store.ts';
import type { Handler, OutboxRow } from './outbox.type.ts';
import { backoffMs } from './transient.rules.ts';

/** Lanes of one claim: enough to fill the free places, few enough for a short statement. */
const LANES_PER_CLAIM_MAX = 64;
/** Behind a first start that has not answered the next of its order key starts after this time. */
export const ORDER_GAP_MS = 500;
/** A lane takes at most this share of the places still free, so that slow lanes cannot take them all … */
const LANE_SHARE_OF_FREE = 1 / 8;
/** … but always this many, so that a row that hangs does not hold up its lane. */
const LANE_PLACES_MIN = 4;
/** Rows deleted by one statement. */
const REMOVALS_MAX = 500;
/** After the abort at the end, a handler gets this long to notice. */
const ABORT_WAIT_MS = 1_000;
const CLAIM_FAULT_PAUSE = { minMs: 100, maxMs: 5_000 };
/** Timers that wake a lane at a known moment; beyond it the poll does. */
const ALARMS_MAX = 2_000;
/** Rows inserted by a transaction may become visible this long after their time without being overlooked. */
const FLOOR_MARGIN_MS = 5_000;
const FLOORS_RAISED_MAX = 1_000;

/** Claims and runs the rows of one topic: lanes in turn, bounded overall and per lane. */
export class TopicDispatcher {
  readonly #context: ExecutionContext;
  readonly #handler: Handler;
  readonly #removals: Gather<Claim, boolean>;
  readonly #owner: string;
  readonly #rotation = new LaneRotation();
  readonly #running = new Map<Execution, Promise<void>>();
  readonly #runningByLane = new Map<string, number>();
  readonly #open: Execution[] = [];
  readonly #alarms = new Set<NodeJS.Timeout>();
  #pumping: Promise<void> | undefined;
  #again = false;
  #faults = 0;
  #stopped = false;
  #isPaused = false;
  #started = 0;

  constructor(context: ExecutionContext, handler: Handler, owner: string) {
    this.#context = context;
    this.#handler = handler;
    this.#removals = new Gather({
      ...{ itemsMax: REMOVALS_MAX, atOnceMax: 1 },
      work: async (claims) => {
        const removed = await context.store.removeAll(claims, { isDurable: !handler.mayRepeat });
        return claims.map(({ id }) => removed.has(id));
      },
    });
    this.#owner = owner;
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /** Rows started so far. */
  get started(): number {
    return this.#started;
  }

  /** Paused: what runs ends, nothing is claimed, and lanes that were woken wait. */
  setPaused(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    if (!isPaused && !this.#stopped) this.#pump();
  }

  wake(lane: string): void {
    if (this.#stopped) return;
    this.#rotation.markReady(lane);
    this.#pump();
  }

  /** Resolves when no claim is under way and nothing is in flight. */
  async idle(): Promise<void> {
    while (this.#pumping || this.#running.size > 0) {
      await this.#pumping;
      await Promise.all(this.#running.values());
    }
  }

  /** Ends claiming, waits up to `graceMs` for what runs, aborts the rest and hands its leases back. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    for (const alarm of this.#alarms) clearTimeout(alarm);
    this.#alarms.clear();
    await this.#pumping;
    await this.#settle(graceMs);
    for (const execution of this.#running.keys()) execution.abort();
    await this.#settle(ABORT_WAIT_MS);
    const open = [...this.#open, ...this.#running.keys()];
    if (open.length === 0) return;
    try {
      await this.#context.store.release(open.map(({ claim }) => claim));
    } catch (error) {
      this.#context.logger.warn(
        { err: error },
        'leases could not be handed back: they run out by themselves',
      );
    }
  }

  /** Waits for what runs, at most `limitMs`. */
  async #settle(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([limit, Promise.all(this.#running.values())]);
    clearTimeout(timer);
  }

  /** Learns how far the dead rows of each busy lane reach, so that claims start behind them. */
  async raiseFloors(): Promise<void> {
    const floors = this.#rotation.floors(FLOORS_RAISED_MAX);
    if (floors.length === 0) return;
    const nowMs = this.#context.clock.nowMs();
    const oldest = await this.#context.store.oldest(floors);
    for (const [lane, floorMs] of floors) {
      const liveMs = oldest.get(lane) ?? nowMs;
      this.#rotation.raiseFloor(lane, Math.max(floorMs, Math.min(liveMs, nowMs) - FLOOR_MARGIN_MS));
    }
  }

  dropFloors(): void {
    this.#rotation.dropFloors();
  }

  #pump(): void {
    this.#again = true;
    this.#pumping ??= this.#claimAll().finally(() => {
      this.#pumping = undefined;
      if (this.#again && !this.#stopped) this.#pump();
    });
  }

  async #claimAll(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      while (!this.#stopped && (await this.#claimOnce()));
    }
  }

  /** False: nothing to claim now, or no place for it. */
  async #claimOnce(): Promise<boolean> {
    if (this.#isPaused) return false;
    const free = this.#handler.concurrencyMax - this.#running.size;
    const share = Math.max(LANE_PLACES_MIN, Math.floor(free * LANE_SHARE_OF_FREE));
    const laneMax = Math.min(this.#laneConcurrencyMax, share);
    const room = (lane: string): number => laneMax - (this.#runningByLane.get(lane) ?? 0);
    const lanes = this.#rotation.take(Math.min(free, LANES_PER_CLAIM_MAX), (lane) => room(lane) > 0);
    if (lanes.length === 0) return false;
    let left = free;
    const fairQuota = Math.ceil(free / lanes.length);
    const wishes = [];
    for (const lane of lanes) {
      const quota = Math.min(room(lane), fairQuota, left);
      if (quota <= 0) {
        this.#rotation.markReady(lane);
        continue;
      }
      wishes.push({ lane, quota, floorMs: this.#rotation.floorMs(lane) });
      left -= quota;
    }
    const rows = await this.#claim(wishes);
    if (rows === null) {
      for (const lane of lanes) this.#rotation.markReady(lane);
      return false;
    }
    const counts = new Map<string, number>();
    for (const row of rows) {
      counts.set(row.lane, (counts.get(row.lane) ?? 0) + 1);
      this.#run(row);
    }
    for (const { lane, quota } of wishes) if (counts.get(lane) === quota) this.#rotation.markReady(lane);
    return true;
  }

  get #laneConcurrencyMax(): number {
    return this.#handler.laneConcurrencyMax ?? this.#handler.concurrencyMax;
  }

  async #claim(wishes: Parameters<ExecutionContext['store']['claim']>[0]): Promise<OutboxRow[] | null> {
    const { store, clock, logger } = this.#context;
    const nowMs = clock.nowMs();
    try {
      const untilMs = nowMs + this.#handler.leaseMs;
      const lease = { owner: this.#owner, nowMs, untilMs, orderGapMs: nowMs - ORDER_GAP_MS };
      const rows = await store.claim(wishes, lease);
      this.#faults = 0;
      return rows;
    } catch (error) {
      this.#faults += 1;
      if (this.#faults === 1)
        logger.warn({ err: error, topic: this.#handler.topic }, 'claiming failed: trying again');
      this.#alarm(backoffMs(this.#faults, CLAIM_FAULT_PAUSE), () => this.#pump());
      return null;
    }
  }

  #run(row: OutboxRow): void {
    const execution = new Execution(this.#context, {
      ...{ handler: this.#handler, row, owner: this.#owner, removals: this.#removals },
    });
    if (this.#stopped) {
      this.#open.push(execution);
      return;
    }
    this.#started += 1;
    this.#runningByLane.set(row.lane, (this.#runningByLane.get(row.lane) ?? 0) + 1);
    const gap = row.orderKey === null ? undefined : this.#alarm(ORDER_GAP_MS + 1, () => this.wake(row.lane));
    const ended = execution.run().then((outcome) => {
      if (gap) this.#cancelAlarm(gap);
      this.#ended(execution, outcome);
    });
    this.#running.set(execution, ended);
  }

  #ended(execution: Execution, outcome: Outcome): void {
    const { lane } = execution.row;
    this.#running.delete(execution);
    const left = (this.#runningByLane.get(lane) ?? 1) - 1;
    if (left > 0) this.#runningByLane.set(lane, left);
    else this.#runningByLane.delete(lane);
    if (outcome.kind === 'open') this.#open.push(execution);
    if (outcome.kind === 'retry') {
      const inMs = outcome.atMs - this.#context.clock.nowMs();
      if (inMs <= NEAR_FUTURE_MS) this.#alarm(Math.max(0, inMs) + 1, () => this.wake(lane));
    }
    this.wake(lane);
  }

  #alarm(inMs: number, ring: () => void): NodeJS.Timeout | undefined {
    if (this.#stopped || this.#alarms.size >= ALARMS_MAX) return undefined;
    const alarm = setTimeout(() => {
      this.#alarms.delete(alarm);
      ring();
    }, inMs);
    alarm.unref();
    this.#alarms.add(alarm);
    return alarm;
  }

  #cancelAlarm(alarm: NodeJS.Timeout): void {
    clearTimeout(alarm);
    this.#alarms.delete(alarm);
  }
}
