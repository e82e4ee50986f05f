import { isE164 } from '../../kernel/e164.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { DialingRules, Facts, SendChannel } from '../delivery-rules/index.ts';
import { FREE } from './dispatch.type.ts';
import type { OpenSend, Particulars, Price } from './dispatch.type.ts';
import type { FactsWish, StoredFacts } from './facts.store.ts';
import { merge, mergeValues } from './merge.rules.ts';
import type { MergeValues } from './merge.rules.ts';
import type { Audio, Fault, Message, RequestedSend } from './request.type.ts';
import { TEXT_LENGTH_MAX } from './request.message.rules.ts';
import { segmentsOf } from './result.segments.rules.ts';

/** Supplement 1: characters of a text to speak, after merge fields. */
const SPEECH_CHARACTERS_MAX = 1_200;
/** Characters of one unit of speech (prices, product tts). */
const SPEECH_UNIT_CHARACTERS = 100;
/** A voicemail or call is held no longer than this (contract, Send request). */
export const HOLD_MAX_MS = 3 * 86_400_000;
/** Exactly this text (contract, Outcome codes; supplement 13, Sends). */
const NO_NUMBER = 'No phone number for contact';
/** Names nothing: a text that is no id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

const idOf = (text: string | null): string | null => (text === null || isUuid(text) ? text : NO_ID);

/** What to ask the database for, for a request. Its window of attempts comes with the account's rules. */
export function wishOf(send: OpenSend, request: RequestedSend): Omit<FactsWish, 'sinceMs'> {
  const { message } = request;
  return {
    ...{ teamId: send.teamId, channel: send.channel, phoneNumber: request.to },
    ...{
      contactId: idOf(request.contactId),
      lineId: idOf(request.phoneLineId),
      brandId: idOf(request.brandId),
    },
    agentId: message?.kind === 'agent' ? idOf(message.agentId) : null,
    mediaIds: mediaOf(message).filter(isUuid),
  };
}

function mediaOf(message: Message | null): readonly string[] {
  if (message?.kind === 'text') return message.mediaIds;
  if (message?.kind !== 'call') return [];
  return audiosOf(message).flatMap((audio) => (audio.kind === 'media' ? [audio.mediaId] : []));
}

const audiosOf = (message: Extract<Message, { kind: 'call' }>): Audio[] =>
  [message.onSpeech, message.onBeep].filter((audio) => audio !== null);

/** How the account's carrier stands to this send. */
export interface CarrierStanding {
  /** A connection of the account's own; the built-in simulator is none. */
  readonly isOwn: boolean;
  /** It only simulates: it needs no number of ours. */
  readonly isSimulator: boolean;
}

export interface Looked {
  readonly stored: StoredFacts;
  readonly carrier: CarrierStanding;
  /** The number is simulated: no line, campaign, consent or funds are needed (supplement 12, Sends). */
  readonly isSimulated: boolean;
  /** Whether the speech engine has this voice. */
  readonly hasVoice: (voiceId: string) => boolean;
}

/** A request with all that it names. */
export interface Resolved {
  readonly particulars: Particulars;
  /** With merge fields filled in; null: the request had none that could be read. */
  readonly message: Message | null;
  readonly price: Price;
  readonly faults: readonly Fault[];
}

const unknown = (name: string): Fault => ({ code: 3031, detail: `${name} does not exist.` });

/** Puts together what was asked for and what was found; says what is wrong with it. */
export function resolve(send: OpenSend, request: RequestedSend, looked: Looked): Resolved {
  const { stored, carrier, isSimulated } = looked;
  const faults: Fault[] = [];
  const variables = request.message?.kind === 'agent' ? request.message.variables : {};
  const values = valuesOf(stored, variables);
  const message = request.message && merged(request.message, values);
  faults.push(...contactFaults(request, stored), ...messageFaults(request.message, message, looked));
  if (!isSimulated) faults.push(...lineFaults(send.channel, request, looked));
  if (request.phoneLineId !== null && !stored.line) faults.push(unknown('phone_line_id'));
  const isBrandUsable = stored.brand && (send.version === 2 || stored.brand.isApiAllowed);
  if (request.brandId !== null && !isBrandUsable) faults.push(unknown('brand_id'));
  const mayChooseCaller = send.channel !== 'rvm' || carrier.isOwn;
  return {
    particulars: {
      contactId: stored.contact === null ? null : String(stored.contact.id),
      phoneNumber: stored.phoneNumber,
      callerId: (mayChooseCaller ? request.callerId : null) ?? stored.ownNumber,
      phoneLineId: stored.line?.lineId ?? null,
      brandId: stored.brandId,
    },
    message,
    price: isSimulated ? FREE : priceOf(message, stored),
    faults,
  };
}

function contactFaults(request: RequestedSend, stored: StoredFacts): Fault[] {
  if (request.contactId === null) return [];
  if (!stored.contact) return [unknown('contact_id')];
  const hasNumber = stored.phoneNumber !== null && isE164(stored.phoneNumber);
  return hasNumber ? [] : [{ code: 3030, reason: NO_NUMBER, detail: NO_NUMBER }];
}

function lineFaults(channel: SendChannel, request: RequestedSend, { stored, carrier }: Looked): Fault[] {
  const none = (detail: string): Fault[] => [{ code: 4010, detail }];
  const needsLine = channel === 'rvm' || channel === 'sms' || request.callerId === null;
  if (!stored.line) {
    return needsLine && request.phoneLineId === null ? none('The account has no default line for this.') : [];
  }
  const isText = stored.line.type === 'sms';
  if (isText !== (channel === 'sms')) return none(`The phone line is of type ${stored.line.type}.`);
  const hasNumber = stored.ownNumber !== null || request.callerId !== null;
  return hasNumber || carrier.isSimulator ? [] : none('The phone line has no number.');
}

function messageFaults(asked: Message | null, message: Message | null, looked: Looked): Fault[] {
  const { stored } = looked;
  const faults: Fault[] = [];
  for (const mediaId of mediaOf(asked)) {
    const key = stored.media.get(mediaId.toLowerCase());
    if (key === undefined) faults.push(unknown(`media ${mediaId}`));
    if (key === null) faults.push({ code: 3001, detail: `media ${mediaId} was never uploaded.` });
  }
  if (message?.kind === 'agent' && !stored.hasAgent) faults.push(unknown('agent_id'));
  if (message?.kind === 'text' && [...message.body].length > TEXT_LENGTH_MAX) {
    faults.push({
      code: 3029,
      detail: `body has more than ${TEXT_LENGTH_MAX} characters after merge fields.`,
    });
  }
  if (message?.kind === 'call') {
    for (const audio of audiosOf(message)) faults.push(...audioFaults(audio, looked));
  }
  return faults;
}

function audioFaults(audio: Audio, { carrier, hasVoice }: Looked): Fault[] {
  if (audio.kind === 'url') {
    return carrier.isOwn ? [] : [{ code: 3014, detail: 'audio_url needs a carrier of your own.' }];
  }
  if (audio.kind === 'media') return [];
  const faults: Fault[] = [];
  if ([...audio.text].length > SPEECH_CHARACTERS_MAX) {
    faults.push({ code: 3021, detail: `More than ${SPEECH_CHARACTERS_MAX} characters after merge fields.` });
  }
  // What merge fields left empty cannot be spoken.
  if (audio.text.trim() === '') faults.push({ code: 3001, detail: 'There is nothing to speak.' });
  if (!hasVoice(audio.voiceId)) faults.push(unknown('voice_id'));
  return faults;
}

function valuesOf(stored: StoredFacts, variables: Readonly<Record<string, unknown>>): MergeValues {
  const { fields, ...columns } = stored.contact ?? {};
  const custom = typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : {};
  return mergeValues({ ...custom, ...columns, phone_number: stored.phoneNumber }, variables);
}

function merged(message: Message, values: MergeValues): Message {
  const speak = (audio: Audio | null): Audio | null =>
    audio?.kind === 'speech' ? { ...audio, text: merge(audio.text, values) } : audio;
  switch (message.kind) {
    case 'text':
      return { ...message, body: merge(message.body, values) };
    case 'call':
      return { ...message, onSpeech: speak(message.onSpeech), onBeep: speak(message.onBeep) };
    case 'agent':
      return message;
  }
}

function priceOf(message: Message | null, stored: StoredFacts): Price {
  const quantity = message?.kind === 'text' ? segmentsOf(message.body) : 1;
  const spoken = message?.kind === 'call' ? audiosOf(message) : [];
  const units = spoken.reduce(
    (sum, audio) =>
      sum + (audio.kind === 'speech' ? Math.ceil([...audio.text].length / SPEECH_UNIT_CHARACTERS) : 0),
    0,
  );
  return {
    quantity,
    productMicros: stored.priceMicros * BigInt(quantity),
    speechMicros: stored.speechPriceMicros * BigInt(units),
  };
}

/** What the rules look at. */
export function factsOf(
  of: {
    send: OpenSend;
    request: RequestedSend;
    resolved: Resolved;
    stored: StoredFacts;
    rules: DialingRules;
  },
  nowMs: number,
): Facts {
  const { send, request, resolved, stored, rules } = of;
  const { contact } = stored;
  const textOf = (name: string): string | null => {
    const value = contact?.[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const isGranted = send.version === 1 && request.isOptedIn && stored.optIn === 'missing';
  return {
    ...{ nowMs, channel: send.channel, phoneNumber: resolved.particulars.phoneNumber ?? '', rules },
    postalCode: request.postalCode ?? textOf('postal'),
    region: textOf('region') ?? stored.teamRegion,
    ...{ attempts: stored.attempts, isListed: stored.isListed, optIn: isGranted ? 'granted' : stored.optIn },
    ...{ hasTextingCampaign: stored.hasTextingCampaign, isTestMode: stored.isTestMode },
    // An account that may not spend has nothing to spend.
    availableMicros: stored.isPaid ? stored.availableMicros : 0n,
    priceMicros: resolved.price.productMicros + resolved.price.speechMicros,
    expiresAtMs: send.expiresAtMs ?? send.createdAtMs + HOLD_MAX_MS,
  };
}
