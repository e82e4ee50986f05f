import { setImmediate as nextTurn } from 'node:timers/promises';
import { TELEPHONE_RATE_HZ } from '../../../platform/audio/index.ts';
import { isWav, readWav } from '../../../platform/audio/wav.reader.ts';
import { toMulaw } from './mulaw.rules.ts';

/** Longest message: as long as the longest session by the wall (live-session.ts). */
export const MESSAGE_SECONDS_MAX = 600;

const FULL_SCALE = 32_768;

/** Why a stored file cannot be played; the message is for the log. */
export class MessageFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MessageFault';
  }
}

/**
 * A WAV file of 8 kHz as mu-law. Converted in blocks of some 2 s, each in a turn of the loop of its own: the calls that
 * are heard meanwhile wait for none of them longer than a fraction of a millisecond. @throws MessageFault, AudioError
 */
export async function toMessage(wav: Uint8Array): Promise<Buffer> {
  if (!isWav(wav)) throw new MessageFault('the file is no WAV file');
  const source = readWav(wav);
  if (source.sampleRateHz !== TELEPHONE_RATE_HZ)
    throw new MessageFault(`the file has ${source.sampleRateHz} Hz, not ${TELEPHONE_RATE_HZ}`);
  const parts: Buffer[] = [];
  let samples = 0;
  for (const block of source.blocks()) {
    samples += block.length;
    if (samples > MESSAGE_SECONDS_MAX * TELEPHONE_RATE_HZ)
      throw new MessageFault(`the message is longer than ${MESSAGE_SECONDS_MAX} s`);
    parts.push(encode(block));
    await nextTurn();
  }
  if (samples === 0) throw new MessageFault('there is no audio in the file');
  return Buffer.concat(parts);
}

function encode(block: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(block.length);
  for (let n = 0; n < block.length; n += 1) bytes[n] = toMulaw(Math.round(block[n]! * FULL_SCALE));
  return bytes;
}
