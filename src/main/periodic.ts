import type { Logger } from '../platform/logger/index.ts';

/** After faults a job waits at most this many times its pause. */
const FAULT_FACTOR_MAX = 8;
const JITTER = 0.1;
/** The first run of a rare job does not wait for its whole pause: a service restarted daily would never get to it. */
const FIRST_RUN_MAX_MS = 3_000;

export interface PeriodicJob {
  readonly name: string;
  readonly intervalMs: number;
  run(signal: AbortSignal): Promise<unknown>;
}

/** Runs jobs one after its own end again, each on a timer of its own; a fault is logged once and waited out. */
export class Periodic {
  readonly #logger: Logger;
  readonly #abort = new AbortController();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Starts a job; its first run comes within a tenth of its pause, at most some seconds. */
  add(job: PeriodicJob): void {
    let faults = 0;
    const round = async (): Promise<void> => {
      try {
        await job.run(this.#abort.signal);
        if (faults > 0) this.#logger.info({ job: job.name }, 'The job works again.');
        faults = 0;
      } catch (error) {
        faults += 1;
        if (faults === 1)
          this.#logger.warn({ job: job.name, err: error }, 'A job failed and is tried again.');
      }
      schedule(job.intervalMs * Math.min(2 ** Math.max(0, faults - 1), FAULT_FACTOR_MAX));
    };
    const schedule = (pauseMs: number): void => {
      if (this.#abort.signal.aborted) return;
      const start = (): void => {
        const run = round().finally(() => this.#running.delete(run));
        this.#running.add(run);
      };
      const jittered = pauseMs * (1 - JITTER + 2 * JITTER * Math.random());
      this.#timers.set(job.name, setTimeout(start, jittered).unref());
    };
    schedule(Math.min(job.intervalMs * JITTER, FIRST_RUN_MAX_MS));
  }

  /** No further runs; resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.#abort.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#running);
  }
}
