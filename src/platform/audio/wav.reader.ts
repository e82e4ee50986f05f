import { AudioError } from './audio.type.ts';
import type { AudioSource } from './audio.type.ts';

/** More chunks before the audio than any writer makes: a hostile file, not a long one. */
const CHUNKS_MAX = 256;
const RATE_MIN_HZ = 4_000;
const RATE_MAX_HZ = 192_000;
/** Sample frames of one block. */
const BLOCK_FRAMES = 16_384;

const FORMAT_PCM = 1;
const FORMAT_FLOAT = 3;
const FORMAT_ALAW = 6;
const FORMAT_MULAW = 7;
const FORMAT_EXTENSIBLE = 0xfffe;

/** One sample at a byte offset, 1.0 full scale. */
type ReadSample = (view: DataView, at: number) => number;

interface WavFormat {
  sampleRateHz: number;
  channels: number;
  sampleBytes: number;
  read: ReadSample;
}

/** Encodings by `format tag / bits`: 8-bit PCM is unsigned, everything else signed and little-endian (RIFF 1991). */
const READERS: Record<string, ReadSample> = {
  [`${FORMAT_PCM}/8`]: (view, at) => (view.getUint8(at) - 128) / 128,
  [`${FORMAT_PCM}/16`]: (view, at) => view.getInt16(at, true) / 32_768,
  [`${FORMAT_PCM}/24`]: (view, at) => ((view.getInt8(at + 2) << 16) | view.getUint16(at, true)) / 8_388_608,
  [`${FORMAT_PCM}/32`]: (view, at) => view.getInt32(at, true) / 2_147_483_648,
  [`${FORMAT_FLOAT}/32`]: (view, at) => finite(view.getFloat32(at, true)),
  [`${FORMAT_ALAW}/8`]: (view, at) => alaw(view.getUint8(at)) / 32_768,
  [`${FORMAT_MULAW}/8`]: (view, at) => mulaw(view.getUint8(at)) / 32_768,
};

const finite = (value: number): number => (Number.isFinite(value) ? value : 0);

/** ITU-T G.711, A-law → 16-bit linear. */
export function alaw(code: number): number {
  const value = code ^ 0x55;
  const mantissa = (value & 0x0f) << 4;
  const segment = (value & 0x70) >> 4;
  const magnitude = segment === 0 ? mantissa + 8 : (mantissa + 0x108) << (segment - 1);
  return value & 0x80 ? magnitude : -magnitude;
}

/** ITU-T G.711, mu-law → 16-bit linear. */
export function mulaw(code: number): number {
  const value = ~code & 0xff;
  const magnitude = ((((value & 0x0f) << 3) + 0x84) << ((value & 0x70) >> 4)) - 0x84;
  return value & 0x80 ? -magnitude : magnitude;
}

/** Whether the bytes begin as a WAV file does. */
export const isWav = (bytes: Uint8Array): boolean =>
  bytes.length >= 12 && ascii(bytes, 0) === 'RIFF' && ascii(bytes, 8) === 'WAVE';

/** A WAV file of mono or stereo. Every length it names is checked against the bytes that are there. @throws AudioError */
export function readWav(bytes: Uint8Array): AudioSource {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: WavFormat | undefined;
  let at = 12;
  for (let chunk = 0; chunk < CHUNKS_MAX && at + 8 <= bytes.length; chunk += 1) {
    const id = ascii(bytes, at);
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    if (id === 'fmt ') format = formatOf(view, start, Math.min(size, bytes.length - start));
    if (id === 'data') {
      if (!format) throw new AudioError('not-audio', 'The WAV file has audio before its format.');
      return sourceOf(view, format, { start, size });
    }
    // Chunks are padded to even lengths.
    at = start + size + (size & 1);
  }
  throw new AudioError('not-audio', `The WAV file has no ${format ? 'data' : 'format'} chunk.`);
}

function formatOf(view: DataView, start: number, size: number): WavFormat {
  if (size < 16) throw new AudioError('not-audio', 'The WAV file ends in its header.');
  const channels = view.getUint16(start + 2, true);
  const sampleRateHz = view.getUint32(start + 4, true);
  const bits = view.getUint16(start + 14, true);
  let tag = view.getUint16(start, true);
  // WAVE_FORMAT_EXTENSIBLE: the real tag opens the sub-format's GUID, 24 bytes into the chunk.
  if (tag === FORMAT_EXTENSIBLE && size >= 26) tag = view.getUint16(start + 24, true);
  const read = READERS[`${tag}/${bits}`];
  if (!read) throw new AudioError('not-audio', `WAV format ${tag} of ${bits} bits is not read here.`);
  if (channels !== 1 && channels !== 2) {
    throw new AudioError('not-audio', `The WAV file has ${channels} channels; mono and stereo are read.`);
  }
  if (sampleRateHz < RATE_MIN_HZ || sampleRateHz > RATE_MAX_HZ) {
    throw new AudioError('not-audio', `The WAV file's sampling rate is ${sampleRateHz} Hz.`);
  }
  return { sampleRateHz, channels, sampleBytes: bits / 8, read };
}

function sourceOf(view: DataView, format: WavFormat, chunk: { start: number; size: number }): AudioSource {
  const there = view.byteLength - chunk.start;
  // Writers to a pipe leave 0 or a huge length: then, as for a file cut short, what is there counts.
  const length = chunk.size === 0 || chunk.size > there ? there : chunk.size;
  const frames = Math.floor(length / (format.sampleBytes * format.channels));
  return {
    sampleRateHz: format.sampleRateHz,
    *blocks() {
      for (let from = 0; from < frames; from += BLOCK_FRAMES) {
        yield mono(view, format, { start: chunk.start, from, to: Math.min(from + BLOCK_FRAMES, frames) });
      }
    },
  };
}

/** Frames `from` to `to` as mono: the mean of the channels. */
function mono(
  view: DataView,
  { channels, sampleBytes, read }: WavFormat,
  { start, from, to }: { start: number; from: number; to: number },
): Float32Array {
  const out = new Float32Array(to - from);
  let at = start + from * sampleBytes * channels;
  for (let n = 0; n < out.length; n += 1) {
    out[n] = channels === 1 ? read(view, at) : (read(view, at) + read(view, at + sampleBytes)) / 2;
    at += sampleBytes * channels;
  }
  return out;
}

function ascii(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!);
}
