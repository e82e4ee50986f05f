import type { Db, Tx } from '../../platform/db/index.ts';
import type { AssignedType, FollowUpStatus } from './follow-ups.rules.ts';

export interface FollowUpRow {
  followupId: string;
  contactId: string;
  scheduledAtMs: number;
  status: FollowUpStatus;
  description: string;
  descriptionText: string;
  assignedTo: string;
  assignedType: AssignedType;
  taskId: string | null;
  createdAtMs: number;
  createdBy: string;
}

/** What a change may set. */
export type FollowUpContent = Pick<
  FollowUpRow,
  'scheduledAtMs' | 'description' | 'descriptionText' | 'assignedTo' | 'assignedType'
>;

/** The statements on follow_ups. */
export class FollowUpsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async insert(tx: Tx, row: FollowUpRow & { teamId: string }): Promise<void> {
    await tx.query(
      `insert into follow_ups (id, team_id, contact_id, scheduled_at, status, description, description_text,
         assigned_to, assigned_type, created_by, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`,
      [
        ...[row.followupId, row.teamId, row.contactId, new Date(row.scheduledAtMs), row.status],
        ...[row.description, row.descriptionText, row.assignedTo, row.assignedType, row.createdBy],
        new Date(row.createdAtMs),
      ],
    );
  }

  async find(teamId: string, followupId: string): Promise<FollowUpRow | null> {
    const { rows } = await this.#db.query<StoredFollowUp>(
      `select ${COLUMNS} from follow_ups where team_id = $1 and id = $2`,
      [teamId, followupId],
    );
    return rows[0] ? rowOf(rows[0]) : null;
  }

  /** As it is now; nobody else changes it before `tx` ends. */
  async lock(tx: Tx, teamId: string, followupId: string): Promise<FollowUpRow | null> {
    const { rows } = await tx.query<StoredFollowUp>(
      `select ${COLUMNS} from follow_ups where team_id = $1 and id = $2 for update`,
      [teamId, followupId],
    );
    return rows[0] ? rowOf(rows[0]) : null;
  }

  /** Soonest first; `status` null: all but cancelled. How many a contact has is bounded where they are made. */
  async list(teamId: string, contactId: string, status: FollowUpStatus | null): Promise<FollowUpRow[]> {
    const { rows } = await this.#db.query<StoredFollowUp>(
      `select ${COLUMNS} from follow_ups
       where team_id = $1 and contact_id = $2
         and case when $3::text is null then status <> 'cancelled' else status = $3 end
       order by scheduled_at, id`,
      [teamId, contactId, status],
    );
    return rows.map(rowOf);
  }

  async setContent(
    tx: Tx,
    of: { teamId: string; followupId: string; nowMs: number },
    to: FollowUpContent,
  ): Promise<void> {
    await tx.query(
      `update follow_ups set scheduled_at = $3, description = $4, description_text = $5, assigned_to = $6,
         assigned_type = $7, updated_at = $8
       where team_id = $1 and id = $2 and status = 'pending'`,
      [
        ...[of.teamId, of.followupId, new Date(to.scheduledAtMs), to.description, to.descriptionText],
        ...[to.assignedTo, to.assignedType, new Date(of.nowMs)],
      ],
    );
  }

  /** Compare and set; false: it was not in the state `from`. */
  async setStatus(
    tx: Tx,
    of: { teamId: string; followupId: string; nowMs: number },
    to: { from: FollowUpStatus; status: FollowUpStatus; taskId?: string },
  ): Promise<boolean> {
    const { rowCount } = await tx.query(
      `update follow_ups set status = $4, task_id = coalesce($5, task_id), updated_at = $6
       where team_id = $1 and id = $2 and status = $3`,
      [of.teamId, of.followupId, to.from, to.status, to.taskId ?? null, new Date(of.nowMs)],
    );
    return rowCount === 1;
  }
}

const COLUMNS =
  'id, contact_id, scheduled_at, status, description, description_text, assigned_to, assigned_type, task_id, created_by, created_at';

interface StoredFollowUp {
  id: string;
  contact_id: string;
  scheduled_at: Date;
  status: FollowUpStatus;
  description: string;
  description_text: string;
  assigned_to: string;
  assigned_type: AssignedType;
  task_id: string | null;
  created_by: string;
  created_at: Date;
}

const rowOf = (row: StoredFollowUp): FollowUpRow => ({
  ...{ followupId: row.id, contactId: row.contact_id, scheduledAtMs: row.scheduled_at.getTime() },
  ...{ status: row.status, description: row.description, descriptionText: row.description_text },
  ...{ assignedTo: row.assigned_to, assignedType: row.assigned_type, taskId: row.task_id },
  ...{ createdAtMs: row.created_at.getTime(), createdBy: row.created_by },
});
