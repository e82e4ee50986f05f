import { requireOperator, requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { SystemStore } from './system.store.ts';
import type { ProcessView, QueueView } from './system.store.ts';

const PROCESSES_MAX = 500;
/** Between two states told to one who watches. */
const HEALTH_INTERVAL_MS = 5_000;

/** One part that the service stands on. */
export interface PartView {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string | null;
}

export interface SystemView {
  /** Of the processes that run. */
  readonly versions: readonly string[];
  readonly readiness: { readonly ready: boolean; readonly parts: readonly PartView[] };
  readonly processes: readonly Shown[];
  readonly atMs: number;
}

/** Host and process id are told to operators only. */
export type Shown = Omit<ProcessView, 'pid' | 'host'> & { pid: number | null; host: string | null };

export interface SystemOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** Kinds of work, by their topics in the outbox. */
  readonly queueNames: readonly string[];
  /** Whether this process can take work, part by part. */
  readonly readiness: () => Promise<{
    ready: boolean;
    parts: Record<string, { ok: boolean; detail?: string }>;
  }>;
}

/** How the installation is. */
export class SystemService {
  readonly #options: SystemOptions;
  readonly #store: SystemStore;

  constructor(options: SystemOptions) {
    this.#options = options;
    this.#store = new SystemStore(options.db);
  }

  /** Processes that live, and whether the parts are ready; why not is told to operators. @throws Problem insufficient-scope */
  async system(caller: Caller): Promise<SystemView> {
    requireScope(caller, 'balance:read');
    const { clock, version, readiness } = this.#options;
    const [{ ready, parts }, processes] = await Promise.all([
      readiness(),
      this.#store.processes(PROCESSES_MAX),
    ]);
    const shown = Object.entries(parts).map(([name, { ok, detail }]) => ({
      ...{ name, ok },
      detail: caller.operator ? (detail ?? null) : null,
    }));
    return {
      versions: [...new Set([version, ...processes.map((one) => one.version)])].sort(),
      readiness: { ready, parts: shown },
      processes: processes.map((one) => (caller.operator ? one : { ...one, pid: null, host: null })),
      atMs: clock.nowMs(),
    };
  }

  /**
   * Tells the state now and again, as long as it is watched; a time that the database is away for is left out.
   * @throws Problem insufficient-scope
   */
  async watch(caller: Caller, sink: { push(system: SystemView): void }): Promise<() => void> {
    sink.push(await this.system(caller));
    let isAsking = false;
    const timer = setInterval(() => {
      if (isAsking) return;
      isAsking = true;
      this.system(caller)
        .then((system) => sink.push(system))
        .catch((error: unknown) =>
          this.#options.logger.debug({ err: error }, 'The state of the system could not be read.'),
        )
        .finally(() => (isAsking = false));
    }, HEALTH_INTERVAL_MS);
    return () => clearInterval(timer);
  }

  /** Work that waits, by topic: the account's, for operators that of all. @throws Problem insufficient-scope */
  async queues(caller: Caller, teamId: string | null): Promise<QueueView[]> {
    requireScope(caller, 'balance:read');
    if (!caller.operator && teamId === null)
      throw new Problem('forbidden', 'Only an operator sees all queues.');
    return this.#store.queues(this.#options.clock.nowMs(), teamId);
  }

  /** Every worker takes no more work of the kind within a second; what runs ends. @throws Problem forbidden, not-found */
  async pauseQueue(caller: Caller, name: string): Promise<QueueView> {
    const { clock } = this.#options;
    const queue = await this.#changeable(caller, name);
    await this.#store.pause({ name: queue.name, userId: caller.userId, nowMs: clock.nowMs() });
    return { ...queue, paused: true };
  }

  /** @throws Problem forbidden, not-found */
  async resumeQueue(caller: Caller, name: string): Promise<QueueView> {
    const queue = await this.#changeable(caller, name);
    await this.#store.resume(queue.name);
    return { ...queue, paused: false };
  }

  /** Any kind of work there is, also one that waits for nothing now. */
  async #changeable(caller: Caller, name: string): Promise<QueueView> {
    requireOperator(caller);
    requireScope(caller, 'account:write');
    if (!this.#options.queueNames.includes(name)) throw new Problem('not-found', 'There is no such queue.');
    const found = (await this.#store.queues(this.#options.clock.nowMs(), null)).find(
      (one) => one.name === name,
    );
    return found ?? { name, ready: 0, held: 0, inFlight: 0, oldestMs: null, paused: false };
  }
}
