/** What a telephone line does to audio, as pure functions on samples at 8 kHz. */
import {
  amplitudeOf,
  concat,
  encodeMulaw,
  encodePcm16,
  lineNoise,
  samplesIn,
  type Random,
} from '../../samples/signal.ts';

/** Bytes for a session and how to read them. */
export interface Encoded {
  encoding: 'pcm16' | 'mulaw';
  sampleRateHz: 8000 | 16000;
  bytes: Uint8Array;
}

/** A way of spoiling or carrying the same audio. */
export interface Variant {
  name: string;
  /** Of speech and tones above the noise. */
  snrDb?: number;
  gainDb?: number;
  /** Share of 20 ms frames replaced by silence. */
  lossShare?: number;
  sampleRateHz?: 8000 | 16000;
  encoding?: 'pcm16' | 'mulaw';
}

/** The line as most calls have it. */
export const PLAIN: Variant = { name: 'mu-law 8 kHz' };

/** The variants that `docs` and tests name. */
export const VARIANTS: readonly Variant[] = [
  { name: 'SNR 20 dB', snrDb: 20 },
  { name: 'SNR 10 dB', snrDb: 10 },
  { name: 'gain −20 dB', gainDb: -20 },
  { name: 'loss 2 %', lossShare: 0.02 },
  { name: '16 kHz mu-law', sampleRateHz: 16000 },
  { name: 'pcm16 8 kHz', encoding: 'pcm16' },
  { name: 'pcm16 16 kHz', encoding: 'pcm16', sampleRateHz: 16000 },
];

/** Applies a variant and encodes. Noise of the same seed is the same noise. */
export function carry(samples: Float32Array, variant: Variant, random: Random): Encoded {
  let line = samples;
  if (variant.gainDb !== undefined) line = amplified(line, variant.gainDb);
  if (variant.snrDb !== undefined) line = withNoise(line, activeLevelDbfs(line) - variant.snrDb, random);
  if (variant.lossShare !== undefined) line = withLoss(line, variant.lossShare, random);
  const sampleRateHz = variant.sampleRateHz ?? 8000;
  if (sampleRateHz === 16000) line = upsampled(line);
  const encoding = variant.encoding ?? 'mulaw';
  return { encoding, sampleRateHz, bytes: encoding === 'pcm16' ? encodePcm16(line) : encodeMulaw(line) };
}

/** Louder or softer. */
export function amplified(samples: Float32Array, gainDb: number): Float32Array {
  const gain = amplitudeOf(gainDb);
  return samples.map((sample) => sample * gain);
}

/** Line noise under the whole, RMS at `levelDbfs`. */
export function withNoise(samples: Float32Array, levelDbfs: number, random: Random): Float32Array {
  const noise = lineNoise(random, (samples.length / 8000) * 1000, levelDbfs);
  return samples.map((sample, i) => sample + (noise[i] ?? 0));
}

/** 20 ms frames lost and played as silence, each with the probability `share`. */
export function withLoss(samples: Float32Array, share: number, random: Random): Float32Array {
  const out = samples.slice();
  for (let at = 0; at < out.length; at += 160) if (random() < share) out.fill(0, at, at + 160);
  return out;
}

/** Twice the rate by windowed-sinc interpolation (15 taps a side). */
export function upsampled(samples: Float32Array): Float32Array {
  const out = new Float32Array(samples.length * 2);
  for (let i = 0; i < samples.length; i += 1) {
    out[2 * i] = samples[i]!;
    let sum = 0;
    for (let k = -HALF_TAPS + 1; k <= HALF_TAPS; k += 1)
      sum += (samples[i + k] ?? 0) * TAPS[k + HALF_TAPS - 1]!;
    out[2 * i + 1] = sum;
  }
  return out;
}

const HALF_TAPS = 15;
const TAPS = Float64Array.from({ length: 2 * HALF_TAPS }, (_, i) => {
  const x = i - HALF_TAPS + 0.5;
  return (Math.sin(Math.PI * x) / (Math.PI * x)) * (0.5 + 0.5 * Math.cos((Math.PI * x) / (HALF_TAPS + 0.5)));
});

/** RMS in dBFS of the loud half: the level of speech or tones, pauses left out. −100 when nothing sounds. */
export function activeLevelDbfs(samples: Float32Array): number {
  const energies: number[] = [];
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    let sum = 0;
    for (let i = at; i < at + 160; i += 1) sum += samples[i]! ** 2;
    energies.push(sum / 160);
  }
  const loudest = energies.reduce((max, energy) => Math.max(max, energy), 0);
  const active = energies.filter((energy) => energy > loudest / 100);
  const mean = active.reduce((sum, energy) => sum + energy, 0) / Math.max(1, active.length);
  return mean <= 1e-10 ? -100 : 10 * Math.log10(mean);
}

/** The part between two times, faded over 10 ms at both ends so that the cut makes no click. */
export function cut(samples: Float32Array, startMs: number, endMs: number): Float32Array {
  const part = samples.slice(samplesIn(startMs), samplesIn(endMs));
  const ramp = Math.min(80, part.length >> 1);
  for (let i = 0; i < ramp; i += 1) {
    part[i]! *= i / ramp;
    part[part.length - 1 - i]! *= i / ramp;
  }
  return part;
}

/** A call: some line noise, the parts, and the line's noise while whoever answered waits. */
export function call(
  random: Random,
  parts: readonly Float32Array[],
  wait: { beforeMs: number; afterMs: number; noiseDbfs: number },
): Float32Array {
  const whole = concat([
    new Float32Array(samplesIn(wait.beforeMs)),
    ...parts,
    new Float32Array(samplesIn(wait.afterMs)),
  ]);
  return withNoise(whole, wait.noiseDbfs, random);
}
