import { AudioError, TELEPHONE_RATE_HZ } from './audio.type.ts';
import type { AudioFormat, TelephoneAudio } from './audio.type.ts';
import { isMp3, readMp3 } from './mp3.reader.ts';
import type { DecodedBlock } from './mp3.reader.ts';
import { Resampler } from './resampler.ts';
import { isWav, readWav } from './wav.reader.ts';
import { writeWav } from './wav.writer.ts';

export interface TelephoneOptions {
  /** Audio that is longer is refused. */
  readonly secondsMax: number;
  /** The file must be this, by its content; omitted: either. */
  readonly format?: AudioFormat;
}

/**
 * A WAV or MP3 file, judged by its content alone, as the audio of a telephone line: 8 kHz, mono, pcm16. Levels stay.
 * @throws AudioError not-audio, empty, too-long
 */
export async function toTelephone(bytes: Uint8Array, options: TelephoneOptions): Promise<TelephoneAudio> {
  const format = isWav(bytes) ? 'wav' : isMp3(bytes) ? 'mp3' : null;
  if (format === null) throw new AudioError('not-audio', 'The file is neither WAV nor MP3.');
  if (options.format !== undefined && options.format !== format) {
    throw new AudioError(
      'not-audio',
      `The file is ${format.toUpperCase()}, not ${options.format.toUpperCase()}.`,
    );
  }
  const { secondsMax } = options;
  const samplesMax = secondsMax * TELEPHONE_RATE_HZ;
  const out: Float32Array[] = [];
  let samples = 0;
  const keep = (block: Float32Array): void => {
    samples += block.length;
    if (samples > samplesMax) throw new AudioError('too-long', `The audio is longer than ${secondsMax} s.`);
    if (block.length > 0) out.push(block);
  };
  let resampler: { fromHz: number; filter: Resampler } | undefined;
  for await (const { sampleRateHz, samples: block } of blocksOf(bytes, format, secondsMax)) {
    if (resampler?.fromHz !== sampleRateHz) {
      if (resampler && resampler.fromHz !== TELEPHONE_RATE_HZ) keep(resampler.filter.end());
      resampler = { fromHz: sampleRateHz, filter: new Resampler(sampleRateHz, TELEPHONE_RATE_HZ) };
    }
    keep(sampleRateHz === TELEPHONE_RATE_HZ ? block : resampler.filter.push(block));
  }
  if (resampler && resampler.fromHz !== TELEPHONE_RATE_HZ) keep(resampler.filter.end());
  if (samples === 0) throw new AudioError('empty', 'There is no audio in the file.');
  return { wav: writeWav(out), durationMs: Math.round((samples / TELEPHONE_RATE_HZ) * 1_000), format };
}

async function* blocksOf(
  bytes: Uint8Array,
  format: AudioFormat,
  secondsMax: number,
): AsyncGenerator<DecodedBlock> {
  if (format === 'mp3') yield* readMp3(bytes, secondsMax);
  else yield* wavBlocks(bytes);
}

function* wavBlocks(bytes: Uint8Array): Generator<DecodedBlock> {
  const source = readWav(bytes);
  for (const samples of source.blocks()) yield { sampleRateHz: source.sampleRateHz, samples };
}
