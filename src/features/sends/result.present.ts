import { formatMoney } from '../../kernel/money.ts';
import type { News } from '../../platform/outbox/index.ts';
import { shownId } from './result.rules.ts';
import type { EndedSend } from './result.type.ts';

const statusOf = (send: EndedSend): 'success' | 'failure' => (send.outcomeCode === 0 ? 'success' : 'failure');

const decimal = (micros: bigint): number => Number(formatMoney(micros));

const detailOf = ({ detail }: EndedSend): { detail?: string } => (detail === null ? {} : { detail });

/** `data` of `contact.rvm.status` and `contact.sms.status` (supplement 4). */
function statusData(send: EndedSend): Record<string, unknown> {
  return {
    team_id: send.teamId,
    contact_id: send.contactId,
    drop_id: shownId('drop', send.sendId),
    campaign_id: send.campaignId,
    campaign_type: send.channel,
    status: statusOf(send),
    reason: send.reason,
    reason_code: send.outcomeCode,
    ...detailOf(send),
    to: send.phoneNumber ?? '',
    from: send.callerId,
    ...(send.channel === 'sms' ? { segments: send.segments ?? 0 } : {}),
  };
}

/** What an ended send tells: its status, the proof of a voicemail, and for other slices that it ended. */
export function newsOf(send: EndedSend): News[] {
  const { teamId, finishedAtMs: atMs } = send;
  const data = statusData(send);
  const event = send.channel === 'sms' ? 'contact.sms.status' : 'contact.rvm.status';
  const finished = {
    ...{ message_id: send.sendId, channel: send.channel, campaign_id: send.campaignId },
    ...{ contact_id: send.contactId, reason_code: send.outcomeCode },
  };
  return [
    { teamId, event, data, atMs },
    ...(send.proofUrl === null
      ? []
      : [
          {
            ...{ teamId, event: 'contact.rvm.receipt', atMs },
            data: { ...data, proof_of_delivery_url: send.proofUrl, receipt_ready_at: atMs },
          },
        ]),
    { teamId, event: 'send.finished', data: finished, atMs },
  ];
}

/** The body of the POST to callback_url: of version 2 (supplement 1), or of version 1 (contract, Versioning 2). */
export const callbackBody = (send: EndedSend): string =>
  JSON.stringify(send.version === 1 ? legacyCallback(send) : callback(send));

const callback = (send: EndedSend): Record<string, unknown> => ({
  drop_id: shownId('drop', send.sendId),
  team_id: send.teamId,
  session_id: send.sessionId ?? shownId('session', send.sendId),
  log_id: shownId('log', send.sendId),
  contact_id: send.contactId,
  phone_number: send.phoneNumber,
  caller_id: send.callerId,
  product_code: send.channel,
  status: statusOf(send),
  reason: send.reason,
  reason_code: send.outcomeCode,
  ...detailOf(send),
  quantity: send.quantity,
  product_cost: decimal(send.productMicros),
  compliance_fee: decimal(send.complianceMicros),
  tts_fee: decimal(send.speechMicros),
  dnc: send.dnc,
  attempt_date: new Date(send.attemptedAtMs).toISOString(),
  foreign_id: send.foreignId,
  proof_of_delivery_url: send.proofUrl,
});

const legacyCallback = (send: EndedSend): Record<string, unknown> => ({
  foreign_id: send.foreignId,
  status: send.dnc ? 'opted_out' : send.outcomeCode === 0 ? 'delivered' : 'failed',
  phone_number: send.phoneNumber,
  reason: send.reason,
});

/** Fields of the contact's timeline entry, of type `call` or `sms`. */
export const timelineData = (send: EndedSend): Record<string, unknown> => ({
  direction: 'outbound',
  channel: send.channel,
  drop_id: shownId('drop', send.sendId),
  to: send.phoneNumber,
  from: send.callerId,
  status: statusOf(send),
  reason: send.reason,
  reason_code: send.outcomeCode,
});

/** The detail of the step `result`. */
export const resultStep = (send: EndedSend): Record<string, unknown> => ({
  status: statusOf(send),
  reason_code: send.outcomeCode,
  reason: send.reason,
  ...detailOf(send),
  ...(send.segments === null ? {} : { segments: send.segments }),
  product_cost: formatMoney(send.productMicros),
  tts_fee: formatMoney(send.speechMicros),
});
