import { MPEGDecoder } from 'mpg123-decoder';
import { AudioError } from './audio.type.ts';
import { firstFrame, frames } from './mp3.frames.ts';

/** Frames given to the decoder at once: some 3 s of audio, 1 MB decoded. */
const BATCH_FRAMES = 128;

/** Mono audio of one rate; a file may change its rate between blocks. */
export interface DecodedBlock {
  readonly sampleRateHz: number;
  readonly samples: Float32Array;
}

export const isMp3 = (bytes: Uint8Array): boolean => firstFrame(bytes) !== null;

/**
 * The audio of an MP3 file, its channels mixed to one. Its length is counted by its frames before the first is decoded.
 * @throws AudioError not-audio, too-long
 */
export async function* readMp3(bytes: Uint8Array, secondsMax: number): AsyncGenerator<DecodedBlock> {
  const start = firstFrame(bytes);
  if (start === null) throw new AudioError('not-audio', 'The file is not MP3.');
  let seconds = 0;
  for (const frame of frames(bytes, start)) {
    seconds += frame.samples / frame.sampleRateHz;
    if (seconds > secondsMax) throw new AudioError('too-long', `The audio is longer than ${secondsMax} s.`);
  }
  const decoder = new MPEGDecoder();
  await decoder.ready;
  try {
    for (const batch of batches(bytes, start)) {
      const { channelData, samplesDecoded, sampleRate } = decoder.decode(batch);
      if (samplesDecoded > 0) yield { sampleRateHz: sampleRate, samples: mixed(channelData, samplesDecoded) };
    }
  } finally {
    decoder.free();
  }
}

/** Whole frames, what lies between them left out; a batch never mixes two sampling rates. */
function* batches(bytes: Uint8Array, start: number): Generator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let rate: number | undefined;
  for (const frame of frames(bytes, start)) {
    if (parts.length >= BATCH_FRAMES || (rate !== undefined && rate !== frame.sampleRateHz)) {
      yield Buffer.concat(parts);
      parts = [];
    }
    rate = frame.sampleRateHz;
    parts.push(bytes.subarray(frame.at, frame.at + frame.bytes));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}

function mixed(channels: readonly Float32Array[], length: number): Float32Array {
  const out = new Float32Array(length);
  for (const channel of channels) {
    for (let n = 0; n < length; n += 1) out[n]! += channel[n]! / channels.length;
  }
  return out;
}
