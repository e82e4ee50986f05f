import { isAddress } from './addresses.rules.ts';
import type { MailReport } from './email-events.service.ts';
import { messageIdOf } from './hook.rules.ts';
import { readHeaders } from './mime.rules.ts';
import type { Headers, MailPart, ReadMail } from './mime.rules.ts';

/** Recipients of one delivery report. */
const RECIPIENTS_MAX = 50;
const DETAIL_LENGTH_MAX = 500;
/** Of a feedback report (RFC 5965, 3.5; RFC 6430): what says that the mail was not wanted. */
const COMPLAINTS = new Set(['abuse', 'fraud', 'virus', 'other', 'opt-out', 'opt-out-list']);

/** What a report says, of the emails by these Message-IDs: the first that the account has is meant. */
export interface Report {
  readonly kind: 'bounce' | 'complaint';
  readonly messageIds: readonly string[];
  readonly reports: readonly Omit<MailReport, 'atMs'>[];
}

/** Null: the mail is no report. */
export function reportOf(mail: ReadMail): Report | null {
  const status = partOf(mail, 'message/delivery-status') ?? partOf(mail, 'message/global-delivery-status');
  const feedback = partOf(mail, 'message/feedback-report');
  if (mail.reportType === 'delivery-status' && status) return deliveryReport(mail, status);
  if (mail.reportType === 'feedback-report' && feedback) return feedbackReport(mail, feedback);
  return null;
}

/** RFC 3464: a group of fields for the message, then one for each recipient. */
function deliveryReport(mail: ReadMail, part: MailPart): Report {
  const groups = part
    .text()
    .trim()
    .split(/\r?\n\s*\r?\n/)
    .slice(0, RECIPIENTS_MAX + 1)
    .map(readHeaders);
  const reports = groups.flatMap((fields) => {
    const report = recipientReport(fields);
    return report === null ? [] : [report];
  });
  return { kind: 'bounce', messageIds: messageIdsOf(mail), reports };
}

/** RFC 3464, 2.3.3; RFC 3463: a class of 5 is for good. */
function recipientReport(fields: Headers): Omit<MailReport, 'atMs'> | null {
  const action = fields.get('action')?.toLowerCase();
  const recipient =
    recipientOf(fields.get('original-recipient')) ?? recipientOf(fields.get('final-recipient'));
  const detail = fields.get('diagnostic-code')?.slice(0, DETAIL_LENGTH_MAX);
  if (action === 'delivered') return { kind: 'delivered', isHard: false, recipient, detail };
  if (action === 'delayed') return { kind: 'bounced', isHard: false, recipient, detail };
  if (action !== 'failed') return null;
  return { kind: 'bounced', isHard: !(fields.get('status') ?? '').startsWith('4'), recipient, detail };
}

/** `rfc822; ada@example.com`. */
function recipientOf(field: string | undefined): string | undefined {
  const address = field?.split(';').at(-1)?.trim().replace(/^<|>$/g, '');
  return address !== undefined && isAddress(address) ? address : undefined;
}

function feedbackReport(mail: ReadMail, part: MailPart): Report {
  const fields = readHeaders(part.text());
  const isComplaint = COMPLAINTS.has(fields.get('feedback-type')?.toLowerCase() ?? '');
  const recipient = recipientOf(fields.get('original-rcpt-to'));
  const report = { kind: 'complained', isHard: false, recipient } as const;
  return { kind: 'complaint', messageIds: messageIdsOf(mail), reports: isComplaint ? [report] : [] };
}

/** Of the mail that the report brings along, then of those it answers. */
function messageIdsOf(mail: ReadMail): string[] {
  const original =
    partOf(mail, 'message/rfc822') ?? partOf(mail, 'text/rfc822-headers') ?? partOf(mail, 'message/global');
  const own = original ? headOf(original.text()).get('message-id') : undefined;
  const answered = `${mail.headers.get('in-reply-to') ?? ''} ${mail.headers.get('references') ?? ''}`;
  const named = answered.match(/<[^<>\s]{1,996}>/g) ?? [];
  return [...new Set([...(own === undefined ? [] : [messageIdOf(own)]), ...named])].slice(0, RECIPIENTS_MAX);
}

const headOf = (text: string): Headers => readHeaders(text.split(/\r?\n\r?\n/, 1)[0] ?? '');

const partOf = (mail: ReadMail, type: string): MailPart | undefined =>
  mail.parts.find((part) => part.type === type);
