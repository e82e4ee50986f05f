import type { FollowUp } from './follow-ups.service.ts';

/** A follow-up (contract, Resources, Follow-up). */
export const presentFollowUp = (followUp: FollowUp) => ({
  followup_id: followUp.followupId,
  contact_id: followUp.contactId,
  scheduled_at: followUp.scheduledAtMs,
  status: followUp.status,
  description: followUp.description,
  description_text: followUp.descriptionText,
  assigned_to: followUp.assignedTo,
  assigned_type: followUp.assignedType,
  task_id: followUp.taskId,
  created_at: followUp.createdAtMs,
  created_by: followUp.createdBy,
});

export const presentCancelledFollowUp = (followUp: FollowUp) => ({
  followup_id: followUp.followupId,
  cancelled: true as const,
  message: 'The follow-up was cancelled.',
});
