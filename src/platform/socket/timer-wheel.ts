/** Width of one slot: how late a timer may fire. */
const SLOT_MS = 25;

/** Slots of the wheel: 25.6 s a turn; later deadlines wait for another turn. */
const SLOTS = 1024;

/** One timer of one owner: made once, scheduled as often as wanted. */
export class WheelTimer {
  readonly owner: { onTimer(nowMs: number): void };
  /** @internal */ deadlineMs = Infinity;
  /** @internal */ previous: WheelTimer | null = null;
  /** @internal */ next: WheelTimer | null = null;
  /** @internal */ slot = -1;

  constructor(owner: { onTimer(nowMs: number): void }) {
    this.owner = owner;
  }
}

/**
 * One clockwork for all sessions: a hashed wheel whose slots are linked lists threaded through the timers, so
 * that setting, moving and clearing cost the same for one session as for thousands, and Node holds one timer in all.
 * Times are monotonic milliseconds; a timer fires at most SLOT_MS and one `advance` late, never early.
 */
export class TimerWheel {
  readonly #heads: Array<WheelTimer | null> = new Array<WheelTimer | null>(SLOTS).fill(null);
  #tick: number;
  #interval: NodeJS.Timeout | null = null;

  constructor(nowMs: number) {
    this.#tick = Math.floor(nowMs / SLOT_MS);
  }

  /** Drives the wheel from Node's own timer until `stop`. A timer's fault goes to `onFault`; the wheel turns on. */
  start(monotonicMs: () => number, onFault: (error: unknown) => void): void {
    this.#interval ??= setInterval(() => this.advance(monotonicMs(), onFault), SLOT_MS);
  }

  stop(): void {
    if (this.#interval) clearInterval(this.#interval);
    this.#interval = null;
  }

  /** Sets the timer for `deadlineMs`, wherever it stood before. */
  schedule(timer: WheelTimer, deadlineMs: number): void {
    this.cancel(timer);
    const due = Math.max(Math.ceil(deadlineMs / SLOT_MS), this.#tick + 1);
    const slot = due % SLOTS;
    const head = this.#heads[slot] ?? null;
    timer.deadlineMs = deadlineMs;
    timer.slot = slot;
    timer.next = head;
    if (head) head.previous = timer;
    this.#heads[slot] = timer;
  }

  cancel(timer: WheelTimer): void {
    if (timer.slot < 0) return;
    if (timer.previous) timer.previous.next = timer.next;
    else this.#heads[timer.slot] = timer.next;
    if (timer.next) timer.next.previous = timer.previous;
    timer.previous = null;
    timer.next = null;
    timer.slot = -1;
  }

  /** Fires every timer whose deadline is reached. */
  advance(nowMs: number, onFault: (error: unknown) => void): void {
    const target = Math.floor(nowMs / SLOT_MS);
    // After a long pause one turn visits every slot; more turns would visit the same timers again.
    let tick = Math.max(this.#tick + 1, target - SLOTS + 1);
    for (; tick <= target; tick++) {
      this.#tick = tick;
      this.#fire(tick % SLOTS, nowMs, onFault);
    }
  }

  #fire(slot: number, nowMs: number, onFault: (error: unknown) => void): void {
    const due: WheelTimer[] = [];
    for (let timer = this.#heads[slot] ?? null; timer; timer = timer.next)
      if (timer.deadlineMs <= nowMs) due.push(timer);
    for (const timer of due) {
      // An earlier one of this list may have cancelled or moved it.
      if (timer.slot !== slot || timer.deadlineMs > nowMs) continue;
      this.cancel(timer);
      try {
        timer.owner.onTimer(nowMs);
      } catch (error) {
        onFault(error);
      }
    }
  }
}
