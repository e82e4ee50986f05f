import { formatMoney } from '../../kernel/money.ts';
import type { Micros } from '../../kernel/money.ts';
import type { StepKind } from './send.type.ts';
import type { SendListed, Step } from './sends.query.store.ts';

const decimal = (micros: Micros): number => Number(formatMoney(micros));

/** As the delivery log names it everywhere (supplement 12, GraphQL). */
export const presentKind = (kind: StepKind): string => kind.toUpperCase();

/** A send with its steps on the wire. */
export const presentSend = (send: SendListed, steps: readonly Step[]) => ({
  message_id: send.sendId,
  channel: send.channel,
  state: send.state,
  foreign_id: send.foreignId,
  contact_id: send.contactId,
  phone_number: send.phoneNumber,
  caller_id: send.callerId,
  phone_line_id: send.phoneLineId,
  brand_id: send.brandId,
  campaign_id: send.campaignId,
  attempt: send.attempt,
  held_until: send.heldUntilMs,
  reason_code: send.outcomeCode,
  reason: send.reason,
  detail: send.detail,
  segments: send.segments,
  quantity: send.quantity,
  product_cost: decimal(send.productCostMicros),
  compliance_fee: decimal(send.complianceFeeMicros),
  tts_fee: decimal(send.ttsFeeMicros),
  created_at: send.createdAtMs,
  attempted_at: send.attemptedAtMs,
  finished_at: send.finishedAtMs,
  steps: steps.map(({ kind, atMs, detail }) => ({ kind: presentKind(kind), at: atMs, detail })),
});
