import type { Handler, OutboxRow } from '../../platform/outbox/index.ts';
import { FOLLOW_UP_DUE } from './follow-ups.service.ts';
import type { DueFollowUp, FollowUpsService } from './follow-ups.service.ts';

/** Follow-ups becoming tasks at once in one process; each is a few statements. */
const CONCURRENCY_MAX = 8;
const LEASE_MS = 30_000;

/** Takes `followup.due` off the outbox: however often a message is handed out, a follow-up becomes one task. */
export const createFollowUpHandler = (followUps: Pick<FollowUpsService, 'trigger'>): Handler => ({
  topic: FOLLOW_UP_DUE,
  concurrencyMax: CONCURRENCY_MAX,
  leaseMs: LEASE_MS,
  async handle(row, finish) {
    await finish((tx) => followUps.trigger(tx, dueOf(row)));
  },
});

function dueOf(row: OutboxRow): DueFollowUp {
  const { team_id: teamId, contact_id: contactId } = row.payload as { team_id: string; contact_id: string };
  return { teamId, contactId, followupId: row.key };
}
