import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { News } from '../../platform/outbox/index.ts';
import type { EmailRow } from './emails.store.ts';

/** An email in the history (contract, Email record). */
export const presentEmail = (email: EmailRow) => ({
  email_id: email.emailId,
  contact_id: email.contactId,
  mailbox_id: email.mailboxId,
  template_id: email.templateId,
  direction: email.direction,
  send_type: email.sendType,
  to: [...email.recipients],
  from: [email.sender],
  subject: email.subject,
  created_at: email.createdAtMs,
  sent_at: email.sentAtMs,
  state: email.state,
  ...(email.blockedReason === null ? {} : { blocked_reason: email.blockedReason }),
});

export interface EmailStatus {
  readonly status: 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failure';
  /** Whose mailbox bounced or who complained; omitted: the first address of `to`. */
  readonly recipient?: string | undefined;
  readonly reason?: string | undefined;
  readonly reasonCode?: OutcomeCode | undefined;
  readonly atMs: number;
}

/** `contact.email.status`, and with it the event of its own that a hard bounce and a complaint have. */
export function statusNews(email: EmailRow, status: EmailStatus): News[] {
  const { reason, reasonCode, atMs } = status;
  const data = {
    email_id: email.emailId,
    contact_id: email.contactId,
    to: status.recipient ?? email.recipients[0]?.address ?? email.recipient,
    from: email.sender.address,
    status: status.status,
    ...(reason === undefined ? {} : { reason }),
    ...(reasonCode === undefined ? {} : { reason_code: reasonCode }),
  };
  const news = (event: string): News => ({ teamId: email.teamId, event, data, atMs });
  const isHardBounce = status.status === 'bounced' && reasonCode === 5030;
  return [
    news('contact.email.status'),
    ...(isHardBounce ? [news('contact.email.bounce_hard')] : []),
    ...(status.status === 'complained' ? [news('contact.email.complaint')] : []),
  ];
}

/** The entry of a contact's timeline. */
export const timelineData = (email: Pick<EmailRow, 'emailId' | 'direction' | 'subject' | 'state'>) => ({
  email_id: email.emailId,
  direction: email.direction,
  subject: email.subject,
  state: email.state,
});
