import { createHash } from 'node:crypto';
import type { AudioFormat } from '../../../platform/audio/index.ts';

/** Supplement 6: a larger file is refused with 413. */
export const FILE_BYTES_MAX = 26_214_400;
/** Longer audio is refused with 422: no message is, and a small file can decode to very much. */
export const AUDIO_SECONDS_MAX = 1_800;
/** Normalised audio at that length, with its header. */
export const STORED_BYTES_MAX = AUDIO_SECONDS_MAX * 16_000 + 1_024;
/** Media of one account. */
export const MEDIA_MAX = 20_000;
export const TYPE_LENGTH_MAX = 64;
export const TYPE_DEFAULT = 'audio';
/** A signed address to upload to works this long, once. */
export const UPLOAD_LIVES_MS = 3_600_000;
/** An upload that nobody completed is forgotten this long after its address ended. */
export const ABANDONED_AFTER_MS = 86_400_000;
/** An address of audio works this long. */
export const AUDIO_ADDRESS_LIVES_MS = 3_600_000;
export const UPLOAD_TOKEN_BYTES = 32;
/** What is kept is WAV, whatever was sent. */
export const STORED_TYPE = 'audio/wav';

/** The Content-Type that a signed upload must have. */
export const UPLOAD_TYPES: Record<AudioFormat, string> = { mp3: 'audio/mpeg', wav: 'audio/wav' };

/** Where a signed upload goes, under PUBLIC_URL. */
export const uploadPath = (format: AudioFormat, token: string): string =>
  `/media/public/uploads/${format}/${token}`;

/** Only this is stored: who reads the table cannot upload. */
export const uploadTokenHash = (token: string): Buffer => createHash('sha256').update(token).digest();
