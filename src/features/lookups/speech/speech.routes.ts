import { Type } from '@sinclair/typebox';
import { route, skipPaging } from '../../../platform/http/index.ts';
import type { RouteSpec } from '../../../platform/http/index.ts';
import { PAGE_MAX } from '../input.rules.ts';
import { SPEECH_CHARACTERS_MAX } from './speech.rules.ts';
import type { SpeechService } from './speech.service.ts';

const VoiceData = Type.Object({
  voice_id: Type.String(),
  name: Type.String(),
  language: Type.String(),
  status: Type.Literal('ready'),
});
const tag = 'Voices and speech';

/** Voices and speech synthesis (supplement 6). */
export const speechRoutes = ({ speech }: { speech: SpeechService }): RouteSpec[] => [
  route({
    ...{ method: 'GET', path: '/voice/public/voices', operationId: 'listVoices', tag },
    summary: 'Voices of the speech engine; none without one',
    scopes: ['media:read'],
    query: Type.Object(skipPaging({ preset: PAGE_MAX, max: PAGE_MAX })),
    data: Type.Object({ voices: Type.Array(VoiceData) }),
    errors: ['service-unavailable'],
    handler: async ({ caller, query }) => ({
      voices: (await speech.voices(caller, query)).map((voice) => ({
        ...{ voice_id: voice.voiceId, name: voice.name, language: voice.language },
        status: 'ready' as const,
      })),
    }),
  }),
  route({
    ...{ method: 'POST', path: '/voice/public/tts/synthesize', operationId: 'synthesizeSpeech', tag },
    summary: 'Speak a text',
    description: 'The address plays it for a day, without a key. Paid by started hundreds of characters.',
    scopes: ['voice:send'],
    paid: true,
    body: Type.Object({
      voice_id: Type.String({ minLength: 1, maxLength: 100 }),
      text: Type.String({ minLength: 1, maxLength: SPEECH_CHARACTERS_MAX }),
    }),
    status: 200,
    data: Type.Object({
      audio_url: Type.String(),
      expires_at: Type.Integer({ description: 'Epoch ms.' }),
      tts_characters: Type.Integer(),
    }),
    errors: ['not-found', 'unprocessable', 'service-unavailable'],
    example: { body: { voice_id: 'en-us', text: 'Your order is ready.' } },
    handler: async ({ caller, body }) => {
      const made = await speech.synthesize(caller, { voiceId: body.voice_id, text: body.text });
      return {
        audio_url: made.audioUrl,
        expires_at: made.expiresAtMs,
        tts_characters: made.characters,
      };
    },
  }),
];
