import type { Db, Tx } from '../../platform/db/index.ts';
import type { AssignedType } from './follow-ups.rules.ts';
import type { TaskStatus } from './tasks.rules.ts';

export interface TaskRow {
  taskId: string;
  contactId: string;
  /** Null: made by something else than a follow-up. */
  followupId: string | null;
  description: string;
  descriptionText: string;
  assignedTo: string;
  assignedType: AssignedType;
  status: TaskStatus;
  dueAtMs: number;
  createdAtMs: number;
  completedAtMs: number | null;
  completedBy: string | null;
}

export interface TaskQuery {
  limit: number;
  skip: number;
  status: TaskStatus | null;
  assignedTo: string | null;
  /** Part of the text, either case; null: everything. */
  search: string | null;
}

/** The statements on inbox_tasks. */
export class TasksStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async insert(tx: Tx, task: TaskRow & { teamId: string }): Promise<void> {
    await tx.query(
      `insert into inbox_tasks (id, team_id, contact_id, followup_id, description, description_text, assigned_to,
         assigned_type, status, due_at, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        ...[task.taskId, task.teamId, task.contactId, task.followupId, task.description],
        ...[task.descriptionText, task.assignedTo, task.assignedType, task.status],
        ...[new Date(task.dueAtMs), new Date(task.createdAtMs)],
      ],
    );
  }

  async find(teamId: string, taskId: string): Promise<TaskRow | null> {
    const { rows } = await this.#db.query<StoredTask>(
      `select ${COLUMNS} from inbox_tasks where team_id = $1 and id = $2`,
      [teamId, taskId],
    );
    return rows[0] ? rowOf(rows[0]) : null;
  }

  /** Latest due first. */
  async list(teamId: string, query: TaskQuery): Promise<TaskRow[]> {
    const { rows } = await this.#db.query<StoredTask>(
      `select ${COLUMNS} from inbox_tasks
       where team_id = $1 and ($2::text is null or status = $2) and ($3::uuid is null or assigned_to = $3)
         and ($4::text is null or strpos(lower(description_text), lower($4)) > 0)
       order by due_at desc, id limit $5 offset $6`,
      [teamId, query.status, query.assignedTo, query.search, query.limit, query.skip],
    );
    return rows.map(rowOf);
  }

  /** Latest due first, after a task. */
  async page(
    teamId: string,
    of: {
      status: TaskStatus | null;
      assignedTo: string | null;
      after: { atUs: string | null; id: string | null };
      limit: number;
    },
  ): Promise<TaskRow[]> {
    const { rows } = await this.#db.query<StoredTask>(
      `select ${COLUMNS} from inbox_tasks
       where team_id = $1 and ($2::text is null or status = $2) and ($3::uuid is null or assigned_to = $3)
         and ($4::bigint is null or due_at < timestamptz 'epoch' + $4 * interval '1 microsecond'
           or (due_at = timestamptz 'epoch' + $4 * interval '1 microsecond' and id > $5))
       order by due_at desc, id limit $6`,
      [teamId, of.status, of.assignedTo, of.after.atUs, of.after.id, of.limit],
    );
    return rows.map(rowOf);
  }

  async count(teamId: string, of: { status: TaskStatus | null; assignedTo: string | null }): Promise<number> {
    const { rows } = await this.#db.query<{ n: bigint }>(
      `select count(*) as n from inbox_tasks
       where team_id = $1 and ($2::text is null or status = $2) and ($3::uuid is null or assigned_to = $3)`,
      [teamId, of.status, of.assignedTo],
    );
    return Number(rows[0]?.n ?? 0);
  }

  /** Compare and set; null: it is not open. */
  async complete(
    tx: Tx,
    of: { teamId: string; taskId: string; userId: string; nowMs: number },
  ): Promise<TaskRow | null> {
    const { rows } = await tx.query<StoredTask>(
      `update inbox_tasks set status = 'completed', completed_by = $3, completed_at = $4
       where team_id = $1 and id = $2 and status = 'open' returning ${COLUMNS}`,
      [of.teamId, of.taskId, of.userId, new Date(of.nowMs)],
    );
    return rows[0] ? rowOf(rows[0]) : null;
  }
}

const COLUMNS =
  'id, contact_id, followup_id, description, description_text, assigned_to, assigned_type, status, due_at, created_at, completed_at, completed_by';

interface StoredTask {
  id: string;
  contact_id: string;
  followup_id: string | null;
  description: string;
  description_text: string;
  assigned_to: string;
  assigned_type: AssignedType;
  status: TaskStatus;
  due_at: Date;
  created_at: Date;
  completed_at: Date | null;
  completed_by: string | null;
}

const rowOf = (row: StoredTask): TaskRow => ({
  ...{ taskId: row.id, contactId: row.contact_id, followupId: row.followup_id },
  ...{ description: row.description, descriptionText: row.description_text },
  ...{ assignedTo: row.assigned_to, assignedType: row.assigned_type, status: row.status },
  ...{ dueAtMs: row.due_at.getTime(), createdAtMs: row.created_at.getTime() },
  ...{ completedAtMs: row.completed_at?.getTime() ?? null, completedBy: row.completed_by },
});
