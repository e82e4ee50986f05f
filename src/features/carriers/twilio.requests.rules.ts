import type { CarrierSettings } from './carriers.rules.ts';
import type { CallRequest, CarrierResult, TextRequest } from './port.type.ts';

/** A POST to the REST interface: the resource below the account's, and its form. */
export interface TwilioRequest {
  readonly resource: 'Messages' | 'Calls';
  readonly form: URLSearchParams;
}

/** Twilio, Message resource: media of one message. */
const MEDIA_MAX = 10;
/** Twilio, Call resource: characters of inline TwiML (error 32018). */
const TWIML_LENGTH_MAX = 4_000;
/** Twilio, Stream, custom parameters: a parameter's name and value together stay below this. */
const PARAMETER_LENGTH_MAX = 500;
/** How long a phone rings; voicemail answers within this. Twilio's own default. */
const RING_SEC = 60;
/** The longest call: announcements that never end cost no more. */
const CALL_SEC_MAX = 300;
const CALL_EVENTS = ['initiated', 'ringing', 'answered', 'completed'];

type Made = { readonly request: TwilioRequest } | { readonly refused: CarrierResult };

const refuse = (outcomeCode: CarrierResult['outcomeCode'], detail: string): Made => ({
  refused: { outcomeCode, detail },
});

/** A text in Twilio's words. RCS content is not carried: its text goes instead. */
export function messageOf(
  request: TextRequest,
  settings: Pick<CarrierSettings<'twilio'>, 'messaging_service_sid'>,
): Made {
  const { to, from, body, mediaUrls, statusUrl } = request;
  if (mediaUrls.length > MEDIA_MAX) return refuse(3029, `The carrier takes ${MEDIA_MAX} media at most.`);
  const form = new URLSearchParams({ To: to });
  if (from !== null) form.set('From', from);
  else if (settings.messaging_service_sid !== undefined)
    form.set('MessagingServiceSid', settings.messaging_service_sid);
  else return refuse(4010, 'The carrier needs a number to send from.');
  if (body !== '' || mediaUrls.length === 0) form.set('Body', body);
  for (const url of mediaUrls) form.append('MediaUrl', url);
  if (statusUrl !== null) form.set('StatusCallback', statusUrl);
  return { request: { resource: 'Messages', form } };
}

/** A call whose answer opens a two-way media stream. */
export function callOf(request: CallRequest): Made {
  const { to, from, stream, statusUrl } = request;
  if (from === null) return refuse(4010, 'The carrier needs a number to call from.');
  const long = Object.entries(stream.parameters).find(
    ([name, value]) => name.length + value.length >= PARAMETER_LENGTH_MAX,
  );
  if (long) return refuse(3029, `The stream's parameter ${long[0]} is too long for the carrier.`);
  const twiml = streamTwiml(stream);
  if (twiml.length > TWIML_LENGTH_MAX)
    return refuse(3029, 'The call has too many parameters for the carrier.');
  const form = new URLSearchParams({ To: to, From: from, Twiml: twiml });
  form.set('Timeout', String(RING_SEC));
  form.set('TimeLimit', String(CALL_SEC_MAX));
  if (statusUrl !== null) {
    form.set('StatusCallback', statusUrl);
    form.set('StatusCallbackMethod', 'POST');
    for (const event of CALL_EVENTS) form.append('StatusCallbackEvent', event);
  }
  return { request: { resource: 'Calls', form } };
}

/** TwiML that connects the answered call to a stream and hangs up at its end. */
export function streamTwiml(stream: CallRequest['stream']): string {
  const parameters = Object.entries(stream.parameters)
    .map(([name, value]) => `<Parameter name="${escapeXml(name)}" value="${escapeXml(value)}"/>`)
    .join('');
  const inner = `<Stream url="${escapeXml(stream.url)}">${parameters}</Stream>`;
  return `<?xml version="1.0" encoding="UTF-8"?><Response><Connect>${inner}</Connect></Response>`;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Characters that XML 1.0 (2.2, Char) has no way to write. */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const escapeXml = (text: string): string =>
  text.replace(NOT_XML, '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
