import { Type } from '@sinclair/typebox';
import { OrNull } from '../page.schema.ts';

/** A media on the wire. */
export const MediaData = Type.Object({
  media_id: Type.String(),
  name: Type.String(),
  type: Type.String(),
  status: Type.Union([Type.Literal('pending'), Type.Literal('ready')]),
  media_exists: Type.Boolean({ description: 'Its bytes came.' }),
  content_type: OrNull(Type.String({ description: 'What is kept: always WAV of 8 kHz, mono, pcm16.' })),
  size_bytes: OrNull(Type.Integer()),
  duration_ms: OrNull(Type.Integer()),
  audio_url: OrNull(Type.String({ description: 'Plays it for an hour, without a key.' })),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
  updated_at: Type.Integer({ description: 'Epoch ms.' }),
});
