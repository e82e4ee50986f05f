import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { CarrierResult } from './port.type.ts';

/**
 * What Twilio's error codes mean in the outcome catalogue. Source of every line: Twilio's Error and Warning Dictionary,
 * https://www.twilio.com/docs/api/errors/<code>. Codes below 30000 refuse a request, those from 30000 on come with a
 * message's or call's status.
 */
const OUTCOME_OF_CODE: ReadonlyMap<number, OutcomeCode> = new Map<number, OutcomeCode>([
  [10001, 6001], // Account is not active
  [13223, 4004], // Dial: invalid phone number format
  [13224, 4004], // Dial: invalid phone number
  [13225, 4004], // Dial: forbidden phone number
  [13227, 6000], // Geo permission configuration does not permit the call
  [20003, 6003], // Authentication error
  [20005, 6001], // Account not active
  [20404, 6003], // Resource not found: the account of the address
  [21201, 3030], // No 'To' number specified
  [21205, 3029], // Invalid URL
  [21210, 4010], // 'From' phone number not verified
  [21211, 4004], // Invalid 'To' phone number
  [21212, 4010], // Invalid 'From' number
  [21213, 4010], // 'From' phone number is required
  [21214, 4004], // 'To' phone number cannot be reached
  [21215, 6000], // Geo permission configuration does not permit the call
  [21216, 6000], // Account not allowed to call this number
  [21217, 4004], // Phone number does not appear to be valid
  [21219, 6000], // 'To' phone number not verified (trial accounts)
  [21401, 4010], // Invalid phone number of the sender
  [21408, 6000], // Permission to send to the region is not enabled
  [21602, 3030], // Message body is required
  [21603, 4010], // 'From' phone number is required
  [21604, 3030], // 'To' phone number is required
  [21605, 3029], // Message body too long
  [21606, 4010], // 'From' number is not one that can send texts
  [21608, 6000], // 'To' phone number not verified (trial accounts)
  [21609, 3029], // Invalid 'StatusCallback'
  [21610, 6005], // Attempt to send to an unsubscribed recipient
  [21611, 6003], // The 'From' number's queue is full
  [21612, 4004], // 'To' cannot be reached from 'From'
  [21614, 4004], // 'To' number is not a mobile number
  [21617, 3029], // Message body too long with its segments
  [21619, 3030], // A text message body or media urls must be specified
  [21620, 3029], // Invalid media URL
  [21623, 3029], // Number of media files exceeds the allowed limit
  [21635, 4004], // 'To' number is a landline
  [21659, 4010], // 'From' is not a number of Twilio's
  [21660, 4010], // Mismatch of the 'From' number and the account
  [21661, 4010], // 'From' number is not SMS-capable
  [21703, 6003], // The messaging service contains no phone numbers
  [21705, 6003], // The messaging service is invalid
  [21712, 6003], // The phone number is not in the messaging service
  [30001, 6003], // Queue overflow
  [30002, 6001], // Account suspended
  [30003, 4004], // Unreachable destination handset
  [30004, 4004], // Message blocked
  [30005, 4004], // Unknown destination handset
  [30006, 4004], // Landline or unreachable carrier
  [30007, 4008], // Message filtered
  [30008, 4004], // Unknown error: not delivered
  [30017, 6003], // Carrier network congestion
  [30018, 6003], // Destination carrier requires sender id pre-registration
  [30022, 6003], // US A2P 10DLC: rate limits exceeded
  [30023, 6003], // US A2P 10DLC: daily message cap reached
  [30024, 6003], // Numeric sender id not provisioned on the carrier
  [30032, 6009], // Toll-free number is not verified
  [30033, 6001], // US A2P 10DLC: campaign suspended
  [30034, 6009], // US A2P 10DLC: message from an unregistered number
  [30035, 6003], // Message from a number that is still being configured
  [30036, 4004], // Validity period expired
  [30037, 6001], // Outbound messaging disabled
  [30038, 4008], // OTP message body filtered
  [30039, 4008], // Message loop detected
  [30410, 6003], // Provider timed out
  [30450, 6000], // Message delivery blocked
  [30453, 6000], // Message blocked by the protection against pumping
  [32009, 4004], // The called user is not registered
]);

/** What a request that was refused without a code that we know amounts to: the connection cannot send this now. */
const REFUSED: OutcomeCode = 6003;
/** What a message or call that failed without a code that we know amounts to. */
const FAILED: OutcomeCode = 4004;
/** Of what a carrier says, so much is kept. */
const DETAIL_LENGTH_MAX = 300;

const resultOf = (outcomeCode: OutcomeCode, detail: string): CarrierResult => ({
  outcomeCode,
  detail: detail.slice(0, DETAIL_LENGTH_MAX),
});

/** The result of a request that Twilio refused with an error body. */
export function refusalOf(error: { code: number | null; message: string; status: number }): CarrierResult {
  const named = error.code === null ? `HTTP ${error.status}` : `Twilio error ${error.code}`;
  const outcomeCode = OUTCOME_OF_CODE.get(error.code ?? 0) ?? REFUSED;
  return resultOf(outcomeCode, error.message === '' ? named : `${named}: ${error.message}`);
}

/** The result of a message or call that failed on its way. */
export const failureOf = (code: number | null, status: string): CarrierResult =>
  resultOf(
    OUTCOME_OF_CODE.get(code ?? 0) ?? FAILED,
    code === null ? `Twilio: ${status}` : `Twilio: ${status}, error ${code}`,
  );

/** Statuses of a text that end it (Twilio, Message resource, Status values); the others are progress. */
const TEXT_FAILURES = new Set(['failed', 'undelivered', 'canceled']);
const TEXT_DELIVERIES = new Set(['delivered', 'partially_delivered', 'received']);

/** What a text's status says of its result; null: nothing yet. */
export function textResultOf(status: string, errorCode: number | null): CarrierResult | null {
  if (TEXT_FAILURES.has(status)) return failureOf(errorCode, status);
  if (status === 'read') return { outcomeCode: 0, read: true };
  return TEXT_DELIVERIES.has(status) ? { outcomeCode: 0 } : null;
}

/** Final responses of the called network by which it calls a call unwanted: RFC 8197 and RFC 8688. */
const SIP_UNWANTED = new Set([607, 608]);

/**
 * What a call's status says of its result; null: nothing yet. A call that completed says nothing here: what was heard and
 * played on it is its result (Twilio, Call resource, Status values).
 */
export function callResultOf(
  status: string,
  errorCode: number | null,
  sipCode: number | null,
): CarrierResult | null {
  if (status === 'busy') return { outcomeCode: 4006 };
  if (status === 'no-answer') return { outcomeCode: 4005 };
  if (status !== 'failed' && status !== 'canceled') return null;
  if (sipCode !== null && SIP_UNWANTED.has(sipCode)) return resultOf(4008, `SIP ${sipCode}`);
  return failureOf(errorCode, sipCode === null ? status : `${status}, SIP ${sipCode}`);
}
