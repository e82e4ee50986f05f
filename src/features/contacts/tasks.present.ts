import type { Task } from './tasks.service.ts';

/** An inbox task. */
export const presentTask = (task: Task) => ({
  task_id: task.taskId,
  contact_id: task.contactId,
  followup_id: task.followupId,
  description: task.description,
  description_text: task.descriptionText,
  assigned_to: task.assignedTo,
  assigned_type: task.assignedType,
  status: task.status,
  due_at: task.dueAtMs,
  created_at: task.createdAtMs,
  completed_at: task.completedAtMs,
  completed_by: task.completedBy,
});
