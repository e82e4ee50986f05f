import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkText, invalidField } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import { FollowUpsStore } from './follow-ups.store.ts';
import type { Surroundings } from './surroundings.service.ts';
import { TASK_STATUSES } from './tasks.rules.ts';
import { TasksStore } from './tasks.store.ts';
import type { TaskRow } from './tasks.store.ts';
import type { TimelineService } from './timeline.service.ts';

/** Tasks of a page unless asked, and at most: a higher limit is taken as this. */
export const TASKS_LIMIT_DEFAULT = 50;
export const TASKS_LIMIT_MAX = 500;
export const TASKS_SKIP_MAX = 1_000_000;
export const TASK_SEARCH_LENGTH_MAX = 200;

export type Task = TaskRow;

export interface TasksQuery {
  limit?: number | undefined;
  skip?: number | undefined;
  status?: unknown;
  assignedTo?: string | undefined;
  searchTerm?: string | undefined;
}

/** Inbox tasks: open → completed. Completing one completes the follow-up that made it. */
export class TasksService {
  readonly #store: TasksStore;
  readonly #followUps: FollowUpsStore;
  readonly #surroundings: Surroundings;
  readonly #timeline: TimelineService;

  constructor(options: { db: Db; surroundings: Surroundings; timeline: TimelineService }) {
    this.#store = new TasksStore(options.db);
    this.#followUps = new FollowUpsStore(options.db);
    this.#surroundings = options.surroundings;
    this.#timeline = options.timeline;
  }

  /** Latest due first. @throws Problem insufficient-scope, validation-error */
  async list(caller: Caller, query: TasksQuery = {}): Promise<Task[]> {
    requireScope(caller, 'contacts:read');
    const { limit = TASKS_LIMIT_DEFAULT, skip = 0 } = query;
    if (!Number.isInteger(limit) || limit < 1) throw invalidField('limit', 'limit must be at least 1.');
    if (!Number.isInteger(skip) || skip < 0 || skip > TASKS_SKIP_MAX) {
      throw invalidField('skip', `skip must be 0 to ${TASKS_SKIP_MAX}.`);
    }
    const status = TASK_STATUSES.find((known) => known === query.status) ?? null;
    if (query.status !== undefined && status === null) {
      throw invalidField('status', `status must be one of ${TASK_STATUSES.join(', ')}.`);
    }
    const { assignedTo = null } = query;
    // An id that is none is nobody's.
    if (assignedTo !== null && !isUuid(assignedTo)) return [];
    const search = checkText('search_term', query.searchTerm ?? '', TASK_SEARCH_LENGTH_MAX);
    return this.#store.list(caller.teamId, {
      ...{ limit: Math.min(limit, TASKS_LIMIT_MAX), skip, status, assignedTo },
      search: search === '' ? null : search,
    });
  }

  /** @throws Problem insufficient-scope, not-found, conflict (it is completed already) */
  async complete(caller: Caller, taskId: string): Promise<Task> {
    requireScope(caller, 'contacts:write');
    const found = isUuid(taskId) ? await this.#store.find(caller.teamId, taskId) : null;
    if (!found) throw new Problem('not-found', 'There is no such task.');
    return this.#surroundings.change(caller, found.contactId, async (tx, change) => {
      const task = await this.#store.complete(tx, { ...change, taskId: found.taskId });
      if (!task) throw new Problem('conflict', 'The task is completed already.');
      const { followupId } = task;
      if (followupId === null) return task;
      const to = { from: 'triggered', status: 'completed' } as const;
      await this.#followUps.setStatus(tx, { ...change, followupId }, to);
      await this.#timeline.add(tx, {
        ...{ teamId: change.teamId, contactId: change.contactId, type: 'followup.completed' },
        data: { followup_id: followupId, task_id: task.taskId, completed_by: change.userId },
        atMs: change.nowMs,
      });
      return task;
    });
  }
}
