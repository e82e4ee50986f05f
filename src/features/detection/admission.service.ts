import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../platform/logger/index.ts';
import type { LoadsStore, TeamLoad } from './loads.store.ts';

/** How often the processes tell each other their loads; with the read before it, counts are off by 2 s at most. */
export const EXCHANGE_INTERVAL_MS = 1_000;

/** Sockets a process opens for each session it takes: pooled ones wait between calls (supplement 10, Capacity). */
export const SOCKETS_PER_SESSION = 2;

/** What may be open: sessions of this process, sockets of this process, sessions of an account over all processes. */
export class Admission {
  readonly sessionsMax: number;
  readonly #local = new Map<string, number>();
  #others = new Map<string, number>();
  #sessions = 0;
  #draining = false;

  constructor(sessionsMax: number) {
    this.sessionsMax = sessionsMax;
  }

  get sessions(): number {
    return this.#sessions;
  }

  get socketsMax(): number {
    return this.sessionsMax * SOCKETS_PER_SESSION;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** From now on nothing new is taken. */
  drain(): void {
    this.#draining = true;
  }

  /** Takes a place for a session, or answers false: the process or the account is full. */
  tryEnter(teamId: string, concurrentSessionsMax: number): boolean {
    const local = this.#local.get(teamId) ?? 0;
    if (local + (this.#others.get(teamId) ?? 0) >= concurrentSessionsMax) return false;
    if (!this.tryEnterUncounted()) return false;
    this.#local.set(teamId, local + 1);
    return true;
  }

  /** The same for a session that counts for no account: one of our own calls. */
  tryEnterUncounted(): boolean {
    if (this.#draining || this.#sessions >= this.sessionsMax) return false;
    this.#sessions++;
    return true;
  }

  /** `teamId` null: it was not counted for an account. */
  leave(teamId: string | null): void {
    this.#sessions--;
    if (teamId === null) return;
    const local = (this.#local.get(teamId) ?? 1) - 1;
    if (local > 0) this.#local.set(teamId, local);
    else this.#local.delete(teamId);
  }

  loads(): TeamLoad[] {
    return [...this.#local].map(([teamId, liveSessions]) => ({ teamId, liveSessions }));
  }

  setOthers(loads: readonly TeamLoad[]): void {
    this.#others = new Map(loads.map((load) => [load.teamId, load.liveSessions]));
  }
}

/** Keeps the admission's view of the other processes, and theirs of this one, until `stop`. */
export class LoadExchange {
  readonly #store: LoadsStore;
  readonly #admission: Admission;
  readonly #stats: () => Record<string, unknown>;
  readonly #logger: Logger;
  readonly #abort = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: {
    store: LoadsStore;
    admission: Admission;
    stats: () => Record<string, unknown>;
    logger: Logger;
  }) {
    this.#store = options.store;
    this.#admission = options.admission;
    this.#stats = options.stats;
    this.#logger = options.logger;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Stops, and strikes this process from the list when the database lets it. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop;
    try {
      await this.#store.end();
    } catch (error) {
      this.#logger.warn(
        { err: error },
        'The end of this process could not be noted; its heartbeat will run out.',
      );
    }
  }

  /** One round. A database that is away costs the view of the others, never a call. */
  async exchange(): Promise<void> {
    try {
      this.#admission.setOthers(await this.#store.exchange(this.#admission.loads(), this.#stats()));
    } catch (error) {
      this.#logger.debug({ err: error }, 'The gateway loads could not be exchanged.');
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      await this.exchange();
      await delay(EXCHANGE_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
