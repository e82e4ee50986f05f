import { isE164 } from '../../kernel/e164.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import { FOREIGN_ID_LENGTH_MAX, textOf } from './accept.rules.ts';

/** Longest number of E.164, with its plus. */
const NUMBER_LENGTH_MAX = 16;

/**
 * The body of the callback that tells of a refused credential (supplement 1, callback_url): no account is named, since none
 * was proven, and nothing of the request comes back but the caller's own reference and the number.
 */
export function presentCredentialReport(
  of: { readonly channel: SendChannel; readonly request: unknown },
  made: { readonly newId: () => string; readonly atMs: number },
) {
  const to = textOf(of.request, 'to', NUMBER_LENGTH_MAX);
  return {
    ...{ drop_id: made.newId(), team_id: null, session_id: made.newId(), log_id: made.newId() },
    contact_id: null,
    phone_number: to !== null && isE164(to) ? to : null,
    ...{ caller_id: null, product_code: of.channel, status: 'failure' },
    ...{ reason: 'invalid_credential', reason_code: 3007, quantity: 0 },
    ...{ product_cost: 0, compliance_fee: 0, tts_fee: 0, dnc: false },
    attempt_date: new Date(made.atMs).toISOString(),
    foreign_id: textOf(of.request, 'foreign_id', FOREIGN_ID_LENGTH_MAX),
    proof_of_delivery_url: null,
  };
}
