/**
 * WAV files as telephony writes them, read without trust: every offset and length is checked against the bytes
 * that are there, and what cannot be streamed to a detection socket is refused with one line that says why.
 */

/** Encodings that a detection socket reads (contract, "Welcome frame"; supplement 10). */
export type AudioEncoding = 'pcm16' | 'mulaw' | 'alaw';

/** Audio of one or more channels, interleaved sample by sample. */
export interface Audio {
  encoding: AudioEncoding;
  sampleRateHz: 8000 | 16000;
  channels: number;
  /** Whole sample frames only. A view of the file's bytes. */
  data: Uint8Array;
}

/** Why a file is no audio that can be streamed. The message is one line for the user. */
export class AudioFileError extends Error {}

/** More chunks before the audio than any writer makes: a hostile file, not a long one. */
const CHUNKS_MAX = 64;
/** More channels than a recorder of calls writes. */
const CHANNELS_MAX = 8;

const FORMAT_PCM = 1;
const FORMAT_ALAW = 6;
const FORMAT_MULAW = 7;
const FORMAT_EXTENSIBLE = 0xfffe;

/** True when the bytes begin as a WAV file does. */
export function isWav(bytes: Uint8Array): boolean {
  return bytes.length >= 12 && ascii(bytes, 0) === 'RIFF' && ascii(bytes, 8) === 'WAVE';
}

/** Reads a WAV file: PCM 16 bit, mu-law or A-law at 8 or 16 kHz. Throws {@link AudioFileError}. */
export function parseWav(bytes: Uint8Array): Audio {
  if (!isWav(bytes)) throw new AudioFileError('not a WAV file: it does not begin with RIFF … WAVE');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: Omit<Audio, 'data'> | undefined;
  let at = 12;
  for (let chunk = 0; chunk < CHUNKS_MAX && at + 8 <= bytes.length; chunk += 1) {
    const id = ascii(bytes, at);
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    if (id === 'fmt ') {
      if (size < 16 || start + size > bytes.length)
        throw new AudioFileError('the WAV header ends in its format');
      format = formatOf(view, start, size);
    } else if (id === 'data') {
      if (format === undefined) throw new AudioFileError('the WAV file has audio before its format');
      return { ...format, data: wholeFrames(bytes, { start, size }, format) };
    }
    // Chunks are padded to even lengths.
    at = start + size + (size & 1);
  }
  throw new AudioFileError(
    format === undefined ? 'the WAV file has no format chunk' : 'the WAV file has no data chunk',
  );
}

/** One channel (counted from 1) of the audio, as bytes for the socket. Throws {@link AudioFileError}. */
export function channelOf(audio: Audio, channel: number): Uint8Array {
  if (!Number.isInteger(channel) || channel < 1 || channel > audio.channels) {
    throw new AudioFileError(
      `channel ${channel} does not exist: the file has ${audio.channels} (counted from 1)`,
    );
  }
  if (audio.channels === 1) return audio.data;
  const width = sampleBytes(audio.encoding);
  const stride = width * audio.channels;
  const frames = Math.floor(audio.data.length / stride);
  const out = new Uint8Array(frames * width);
  for (let frame = 0; frame < frames; frame += 1) {
    const from = frame * stride + (channel - 1) * width;
    for (let byte = 0; byte < width; byte += 1) out[frame * width + byte] = audio.data[from + byte]!;
  }
  return out;
}

/** Bytes of one sample. */
export function sampleBytes(encoding: AudioEncoding): 1 | 2 {
  return encoding === 'pcm16' ? 2 : 1;
}

function formatOf(view: DataView, start: number, size: number): Omit<Audio, 'data'> {
  let tag = view.getUint16(start, true);
  const channels = view.getUint16(start + 2, true);
  const sampleRateHz = view.getUint32(start + 4, true);
  const bits = view.getUint16(start + 14, true);
  // WAVE_FORMAT_EXTENSIBLE: the real tag opens the sub-format's GUID, 24 bytes into the chunk.
  if (tag === FORMAT_EXTENSIBLE && size >= 26) tag = view.getUint16(start + 24, true);
  const encoding = encodingOf(tag, bits);
  if (sampleRateHz !== 8000 && sampleRateHz !== 16000) {
    throw new AudioFileError(`the sampling rate is ${sampleRateHz} Hz; detection takes 8000 or 16000`);
  }
  if (channels < 1 || channels > CHANNELS_MAX) {
    throw new AudioFileError(`the WAV header says ${channels} channels; 1 to ${CHANNELS_MAX} are read`);
  }
  return { encoding, sampleRateHz, channels };
}

function encodingOf(tag: number, bits: number): AudioEncoding {
  const width = tag === FORMAT_PCM ? 16 : 8;
  const encoding = { [FORMAT_PCM]: 'pcm16', [FORMAT_ALAW]: 'alaw', [FORMAT_MULAW]: 'mulaw' }[tag];
  if (encoding === undefined) {
    throw new AudioFileError(`WAV format ${tag} is not read; convert to PCM 16 bit, mu-law or A-law`);
  }
  if (bits !== width) throw new AudioFileError(`${bits} bits a sample are not read here; expected ${width}`);
  return encoding as AudioEncoding;
}

function wholeFrames(
  bytes: Uint8Array,
  chunk: { start: number; size: number },
  format: Omit<Audio, 'data'>,
): Uint8Array {
  // Writers to a pipe leave 0 or 2^32 - 1 as the length: then, as for a file cut short, what is there counts.
  const open = chunk.size === 0 || chunk.size > bytes.length - chunk.start;
  const end = open ? bytes.length : chunk.start + chunk.size;
  const stride = sampleBytes(format.encoding) * format.channels;
  const length = Math.floor((end - chunk.start) / stride) * stride;
  if (length <= 0) throw new AudioFileError('the WAV file has no audio in it');
  return bytes.subarray(chunk.start, chunk.start + length);
}

function ascii(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!);
}
