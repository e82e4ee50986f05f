import type { Caller } from '../../kernel/caller.ts';
import { requireScope } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import { SessionsStore } from './sessions.store.ts';
import type { SessionEventView, SessionFilter, SessionView } from './sessions.store.ts';

export const SESSIONS_LIST_MAX = 500;

/** A gateway whose heartbeat is older is dead; longer than a restart of the database takes. */
const DEAD_AFTER_SEC = 60;

/** The control side's view of the detection sessions (supplement 10, Live view). */
export class SessionsService {
  readonly #store: SessionsStore;

  constructor(options: { db: Db }) {
    this.#store = new SessionsStore(options.db);
  }

  /** Newest first; at most SESSIONS_LIST_MAX. */
  async list(caller: Caller, filter: Partial<SessionFilter> = {}): Promise<SessionView[]> {
    requireScope(caller, 'balance:read');
    const limit = Math.min(Math.max(filter.limit ?? 25, 1), SESSIONS_LIST_MAX);
    return this.#store.list(caller.teamId, {
      limit,
      state: filter.state ?? null,
      after: filter.after ?? null,
    });
  }

  /** One session with its events in order. @throws Problem not-found */
  async get(caller: Caller, sessionId: string): Promise<SessionView & { events: SessionEventView[] }> {
    requireScope(caller, 'balance:read');
    const found = isUuid(sessionId) ? await this.#store.find(caller.teamId, sessionId) : null;
    if (!found) throw new Problem('not-found', 'There is no such session.');
    return { ...found, events: await this.#store.events(caller.teamId, sessionId) };
  }

  /** Marks the live sessions of a gateway process that died; how many. */
  async markLost(processId: string): Promise<number> {
    return this.#store.loseOfProcess(processId);
  }

  /** Marks the live sessions of every process that ended or stopped to beat; how many. */
  async sweepLost(): Promise<number> {
    return this.#store.loseOfDeadProcesses(DEAD_AFTER_SEC);
  }
}
