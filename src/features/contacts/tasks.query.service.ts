import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { pageOf, timeKeyOf } from '../../kernel/keyset.ts';
import type { Keyset, KeysetPage } from '../../kernel/keyset.ts';
import { invalidField } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import { TasksStore } from './tasks.store.ts';
import type { Task } from './tasks.service.ts';

export interface TasksWish {
  readonly status: Task['status'] | null;
  readonly assignedTo: string | null;
}

/** Inbox tasks in pages that stay right while tasks are added. */
export class TasksQueryService {
  readonly #store: TasksStore;

  constructor(options: { db: Db }) {
    this.#store = new TasksStore(options.db);
  }

  /** Latest due first. @throws Problem insufficient-scope, validation-error */
  async list(caller: Caller, wish: TasksWish, keyset: Keyset): Promise<KeysetPage<Task>> {
    requireScope(caller, 'contacts:read');
    checkWish(wish);
    const after = timeKeyOf(keyset.after);
    const page = { ...wish, after, limit: keyset.first + 1 };
    return pageOf(await this.#store.page(caller.teamId, page), keyset.first);
  }

  async count(caller: Caller, wish: TasksWish): Promise<number> {
    requireScope(caller, 'contacts:read');
    checkWish(wish);
    return this.#store.count(caller.teamId, wish);
  }
}

function checkWish({ assignedTo }: TasksWish): void {
  if (assignedTo !== null && !isUuid(assignedTo))
    throw invalidField('assigned_to', 'assignedTo must be a UUID.');
}
