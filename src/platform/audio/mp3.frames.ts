/**
 * MPEG audio Layer III frames by their headers (ISO/IEC 11172-3, 2.4.1; 13818-3; MPEG 2.5): found and counted before
 * anything is decoded, so that a file tells its length first and only whole frames reach the decoder.
 */

/** kbit/s by index; 0: free format, which is not read, and 15: forbidden. */
const BITRATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BITRATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const RATES_1_HZ = [44_100, 48_000, 32_000];
const HEADER_BYTES = 4;
/** Frames in a row that make a sequence of bytes MP3 and not something that looks like one frame. */
const FRAMES_IN_A_ROW = 3;
/** The first frame comes this soon after the tags. */
const SEARCH_BYTES_MAX = 65_536;
/** Tags before the audio. */
const TAGS_MAX = 8;

export interface FrameHeader {
  readonly sampleRateHz: number;
  /** Sample frames it decodes to. */
  readonly samples: number;
  readonly bytes: number;
}

/** The frame that begins at `at`; null: none does. */
export function frameAt(bytes: Uint8Array, at: number): FrameHeader | null {
  if (at + HEADER_BYTES > bytes.length) return null;
  if (bytes[at] !== 0xff || (bytes[at + 1]! & 0xe0) !== 0xe0) return null;
  const version = (bytes[at + 1]! >> 3) & 3;
  const layer = (bytes[at + 1]! >> 1) & 3;
  const bitrateIndex = bytes[at + 2]! >> 4;
  const rateIndex = (bytes[at + 2]! >> 2) & 3;
  const padding = (bytes[at + 2]! >> 1) & 1;
  // Version 01 and emphasis 10 are reserved; layer 01 is III.
  if (version === 1 || layer !== 1 || rateIndex === 3 || (bytes[at + 3]! & 3) === 2) return null;
  const kbits = (version === 3 ? BITRATES_1 : BITRATES_2)[bitrateIndex];
  if (!kbits) return null;
  const sampleRateHz = RATES_1_HZ[rateIndex]! / (version === 3 ? 1 : version === 2 ? 2 : 4);
  const samples = version === 3 ? 1_152 : 576;
  return {
    sampleRateHz,
    samples,
    bytes: Math.floor(((samples / 8) * kbits * 1_000) / sampleRateHz) + padding,
  };
}

/** Where the first of several frames in a row begins, tags skipped; null: the bytes are no MP3. */
export function firstFrame(bytes: Uint8Array): number | null {
  const start = afterTags(bytes);
  const end = Math.min(bytes.length, start + SEARCH_BYTES_MAX);
  for (let at = start; at < end; at += 1) {
    if (bytes[at] === 0xff && areFrames(bytes, at, FRAMES_IN_A_ROW)) return at;
  }
  return null;
}

/** Every whole frame from `start` on; what lies between frames (tags, garbage) is left out. */
export function* frames(bytes: Uint8Array, start: number): Generator<FrameHeader & { at: number }> {
  let at = start;
  let isInStep = true;
  while (at + HEADER_BYTES <= bytes.length) {
    const frame = wholeFrame(bytes, at, isInStep ? 1 : 2);
    if (frame) yield { ...frame, at };
    at += frame?.bytes ?? 1;
    isInStep = frame !== null;
  }
}

const wholeFrame = (bytes: Uint8Array, at: number, inARow: number): FrameHeader | null =>
  areFrames(bytes, at, inARow) ? frameAt(bytes, at) : null;

/** `count` frames of one rate follow each other from `at` on. */
function areFrames(bytes: Uint8Array, at: number, count: number): boolean {
  let rate: number | undefined;
  let from = at;
  for (let n = 0; n < count; n += 1) {
    const frame = frameAt(bytes, from);
    if (!frame || (rate !== undefined && frame.sampleRateHz !== rate)) return false;
    rate = frame.sampleRateHz;
    from += frame.bytes;
  }
  return from <= bytes.length;
}

/** ID3v2 tags: ten bytes of header, the length in four of seven bits each, perhaps a footer. */
function afterTags(bytes: Uint8Array): number {
  let at = 0;
  for (let tag = 0; tag < TAGS_MAX && at + 10 <= bytes.length; tag += 1) {
    if (bytes[at] !== 0x49 || bytes[at + 1] !== 0x44 || bytes[at + 2] !== 0x33) break;
    const size = [6, 7, 8, 9].reduce((sum, n) => sum * 128 + (bytes[at + n]! & 0x7f), 0);
    at += 10 + size + (bytes[at + 5]! & 0x10 ? 10 : 0);
  }
  return at;
}
