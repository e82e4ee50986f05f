import { isE164 } from '../../kernel/e164.ts';
import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import { readBroadcast, readCall, readText, readVoicemail } from './request.message.rules.ts';
import { RequestReader } from './request.reader.rules.ts';

/** Why a request cannot be sent. `detail` names the field. */
export interface Fault {
  readonly code: OutcomeCode;
  /** Overrides the outcome's name. */
  readonly reason?: string;
  readonly detail: string;
}

/** Something that is heard. A media's file is known once it was looked up. */
export type Audio =
  | { readonly kind: 'media'; readonly mediaId: string }
  | { readonly kind: 'speech'; readonly text: string; readonly voiceId: string }
  | { readonly kind: 'url'; readonly url: string };

export type Message =
  | {
      readonly kind: 'text';
      readonly body: string;
      readonly mediaUrls: readonly string[];
      readonly mediaIds: readonly string[];
      readonly rcsContent: unknown;
    }
  | { readonly kind: 'call'; readonly onSpeech: Audio | null; readonly onBeep: Audio | null }
  | {
      readonly kind: 'agent';
      readonly agentId: string;
      readonly variables: Readonly<Record<string, unknown>>;
    };

/** A body as its route reads it (supplement 1). Of one with faults, what was wrong is null. */
export interface RequestedSend {
  /** E.164. */
  readonly to: string | null;
  readonly contactId: string | null;
  readonly phoneLineId: string | null;
  readonly callerId: string | null;
  readonly brandId: string | null;
  readonly postalCode: string | null;
  readonly callbackUrl: string | null;
  readonly foreignId: string | null;
  /** Version 1: the caller says that the contact agreed. */
  readonly isOptedIn: boolean;
  readonly message: Message | null;
}

export interface CheckedRequest {
  readonly request: RequestedSend;
  readonly faults: readonly Fault[];
}

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
