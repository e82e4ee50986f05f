import type { RequestReader } from './request.reader.rules.ts';
import type { Audio, Message } from './request.type.ts';

const ID_LENGTH_MAX = 100;
/** Supplement 1. */
export const TEXT_LENGTH_MAX = 1_600;
/** Media of one text: what carriers take. */
const MEDIA_MAX = 10;
const URL_LENGTH_MAX = 2_048;
/** Before merge fields: as long as a body can be; the bound of what is spoken is looked at after them. */
const SPEECH_LENGTH_MAX = 262_144;

/** `/rvm`: exactly one of a media, a text with its voice, an address. Half of the pair names a message too. */
export function readVoicemail(reader: RequestReader): Message | null {
  const fields = { media: 'media_id', speech: 'tts_body', url: 'audio_url' };
  const named = reader.present(Object.values(fields));
  if (named.length === 0 && !reader.has('voice_id')) reader.requireOne(...Object.values(fields));
  if (named.length > 1) reader.refuse(named.join(' and '), 'must not be sent together');
  checkVoice(reader, [fields.speech]);
  const onBeep = readAudio(reader, fields);
  return onBeep && { kind: 'call', onSpeech: null, onBeep };
}

/** `/voice-broadcast`: a message for a person, one for a machine, or both; each a media or a text. */
export function readBroadcast(reader: RequestReader): Message | null {
  const speech = { media: 'media_on_speech', speech: 'tts_on_speech' };
  const beep = { media: 'media_on_beep', speech: 'tts_on_beep' };
  const all = [...Object.values(speech), ...Object.values(beep)];
  if (reader.present(all).length === 0 && !reader.has('voice_id')) reader.requireOne(...all);
  for (const pair of [speech, beep]) {
    const named = reader.present(Object.values(pair));
    if (named.length > 1) reader.refuse(named.join(' and '), 'must not be sent together');
  }
  checkVoice(reader, [speech.speech, beep.speech]);
  const message = { onSpeech: readAudio(reader, speech), onBeep: readAudio(reader, beep) };
  return message.onSpeech || message.onBeep ? { kind: 'call', ...message } : null;
}

/** `/sms`: a text, media, or both. */
export function readText(reader: RequestReader): Message | null {
  const lists = { mediaUrls: 'media_urls', mediaIds: 'media_ids' };
  const hasMedia = reader.present(Object.values(lists)).length > 0 || reader.has('rcs_content');
  if (!hasMedia) reader.requireOne('body');
  const body = reader.text('body', TEXT_LENGTH_MAX);
  const mediaUrls = reader.texts(lists.mediaUrls, { itemsMax: MEDIA_MAX, lengthMax: URL_LENGTH_MAX });
  const mediaIds = reader.texts(lists.mediaIds, { itemsMax: MEDIA_MAX, lengthMax: ID_LENGTH_MAX });
  return { kind: 'text', body: body ?? '', mediaUrls, mediaIds, rcsContent: reader.object('rcs_content') };
}

/** `/ai-broadcast`. */
export function readCall(reader: RequestReader): Message | null {
  reader.requireOne('agent_id');
  const agentId = reader.id('agent_id', ID_LENGTH_MAX);
  const variables = reader.object('variables') ?? {};
  return agentId === null ? null : { kind: 'agent', agentId, variables };
}

/** 3002: a text to speak without its voice; 3015: a voice without a text. */
function checkVoice(reader: RequestReader, texts: readonly string[]): void {
  const spoken = reader.present(texts);
  if (spoken.length > 0 && !reader.has('voice_id')) {
    reader.faults.push({ code: 3002, detail: `${spoken.join(' and ')} needs voice_id.` });
  }
  if (spoken.length === 0 && reader.has('voice_id')) {
    reader.faults.push({ code: 3015, detail: `voice_id needs ${texts.join(' or ')}.` });
  }
}

function readAudio(
  reader: RequestReader,
  fields: { readonly media: string; readonly speech: string; readonly url?: string },
): Audio | null {
  const mediaId = reader.id(fields.media, ID_LENGTH_MAX);
  const text = reader.text(fields.speech, SPEECH_LENGTH_MAX);
  const voiceId = text === null ? null : reader.id('voice_id', ID_LENGTH_MAX);
  const url = fields.url === undefined ? null : reader.text(fields.url, URL_LENGTH_MAX);
  if (mediaId !== null) return { kind: 'media', mediaId };
  if (text !== null && voiceId !== null) return { kind: 'speech', text, voiceId };
  return url === null ? null : { kind: 'url', url };
}
