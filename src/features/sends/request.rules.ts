import { isE164 } from '../../kernel/e164.ts';
import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import { readBroadcast, readCall, readText, readVoicemail } from './request.message.rules.ts';
import { RequestReader } from './request.reader.rules.ts';
import type { CheckedRequest, Fault, Message, RequestedSend } from './request.type.ts';

const ID_LENGTH_MAX = 100;
const FOREIGN_ID_LENGTH_MAX = 255;
const URL_LENGTH_MAX = 2_048;
const POSTAL_LENGTH_MAX = 20;

const NOTHING: RequestedSend = {
  ...{ to: null, contactId: null, phoneLineId: null, callerId: null, brandId: null, postalCode: null },
  ...{ callbackUrl: null, foreignId: null, isOptedIn: false, message: null },
};

/** Which fault is told of several (supplement 12, Sends); what it does not name comes after. */
const ORDER: readonly OutcomeCode[] = [
  ...([3028, 3027, 3030, 3029, 3002, 3015, 3021, 3014, 3001, 4010, 3031, 3040, 3000] as const),
];

const rankOf = ({ code }: Fault): number => (ORDER.includes(code) ? ORDER.indexOf(code) : ORDER.length);

export const firstFault = (faults: readonly Fault[]): Fault | null =>
  faults.reduce<Fault | null>(
    (first, fault) => (first && rankOf(first) <= rankOf(fault) ? first : fault),
    null,
  );

const MESSAGE_OF: Record<SendChannel, (reader: RequestReader) => Message | null> = {
  rvm: readVoicemail,
  sms: readText,
  voice_broadcast: readBroadcast,
  ai_broadcast: readCall,
};

/** Reads a body of a channel's route with all that can be seen in it alone; look-ups and merge fields come later. */
export function checkRequest(channel: SendChannel, body: unknown): CheckedRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { request: NOTHING, faults: [{ code: 3029, detail: 'The body must be an object.' }] };
  }
  const reader = new RequestReader(body as Record<string, unknown>);
  reader.requireOne('to', 'contact_id');
  const request = {
    to: reader.read('to', 'an E.164 number such as +12025550123', isE164),
    contactId: reader.id('contact_id', ID_LENGTH_MAX),
    phoneLineId: reader.id('phone_line_id', ID_LENGTH_MAX),
    callerId: reader.read('caller_id', 'an E.164 number such as +12025550123', isE164),
    brandId: reader.id('brand_id', ID_LENGTH_MAX),
    postalCode: reader.text('postal_code', POSTAL_LENGTH_MAX),
    callbackUrl: reader.text('callback_url', URL_LENGTH_MAX),
    foreignId: reader.text('foreign_id', FOREIGN_ID_LENGTH_MAX),
    isOptedIn: reader.value('opt_in') === true,
    message: MESSAGE_OF[channel](reader),
  };
  return { request, faults: reader.faults };
}
