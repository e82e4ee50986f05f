import type { CarrierReceipt, InboundText } from './port.type.ts';
import { callResultOf, textResultOf } from './twilio.outcomes.rules.ts';
import type { FormFields } from './twilio.signature.rules.ts';

/** The longest id and number that are kept; Twilio's own have 34 and 16 characters. */
const ID_LENGTH_MAX = 128;
/** Media of one inbound message (Twilio, Messaging webhooks). */
const MEDIA_MAX = 10;
const URL_LENGTH_MAX = 2_048;

/** A form by its names; of a name that repeats the first counts. NUL, which cannot be stored, is left out. */
function byName(fields: FormFields): (name: string) => string {
  const values = new Map<string, string>();
  for (const [name, value] of fields) if (!values.has(name)) values.set(name, value.replaceAll('\0', ''));
  return (name) => values.get(name) ?? '';
}

const numberOf = (text: string): number | null => (/^\d{1,6}$/.test(text) ? Number(text) : null);

const isId = (text: string): boolean => text !== '' && text.length <= ID_LENGTH_MAX;

/** What Twilio says of a text or a call, out of its form (Twilio, status callbacks); null: of neither. */
export function readStatus(
  fields: FormFields,
): Pick<CarrierReceipt, 'carrierMessageId' | 'status' | 'result'> | null {
  const of = byName(fields);
  const errorCode = numberOf(of('ErrorCode'));
  const [callSid, messageSid] = [of('CallSid'), of('MessageSid') || of('SmsSid')];
  const [callStatus, messageStatus] = [of('CallStatus'), of('MessageStatus') || of('SmsStatus')];
  if (isId(messageSid) && isId(messageStatus)) {
    const result = textResultOf(messageStatus, errorCode);
    return { carrierMessageId: messageSid, status: messageStatus, result };
  }
  if (!isId(callSid) || !isId(callStatus)) return null;
  const result = callResultOf(callStatus, errorCode, numberOf(of('SipResponseCode')));
  return { carrierMessageId: callSid, status: callStatus, result };
}

/** A text that somebody sent, out of its form (Twilio, Messaging webhooks); null: it is none. */
export function readInboundText(
  fields: FormFields,
): Pick<InboundText, 'carrierMessageId' | 'from' | 'to' | 'body' | 'mediaUrls'> | null {
  const of = byName(fields);
  const [carrierMessageId, from, to] = [of('MessageSid') || of('SmsSid'), of('From'), of('To')];
  if (!isId(carrierMessageId) || !isId(from) || !isId(to)) return null;
  const count = Math.min(numberOf(of('NumMedia')) ?? 0, MEDIA_MAX);
  const mediaUrls = Array.from({ length: count }, (_, index) => of(`MediaUrl${index}`)).filter(
    (url) => /^https?:\/\//.test(url) && url.length <= URL_LENGTH_MAX,
  );
  return { carrierMessageId, from, to, body: of('Body'), mediaUrls };
}
