/**
 * Signals made by rule: G.711 mu-law, tones, noise. Used by the script that renders `samples/` and by the
 * benchmarks. Audio here is a Float32Array at 8 kHz with full scale ±1; a level in dBFS is that of a tone's
 * peak (0 dBFS: amplitude 1), for noise that of its RMS.
 */

/** Telephone sampling rate (ITU-T G.711). */
export const SAMPLE_RATE_HZ = 8000;

const MULAW_BIAS = 0x84;
const MULAW_CLIP = 32635;

/** One mu-law byte of a 16-bit linear value (ITU-T G.711, mu-law, all bits inverted as on the wire). */
export function mulawOf(linear: number): number {
  const sign = linear < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(Math.round(linear)), MULAW_CLIP) + MULAW_BIAS;
  const exponent = 31 - Math.clz32(magnitude) - 7;
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}

/** The 16-bit linear value of one mu-law byte. */
export function linearOfMulaw(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + MULAW_BIAS) << ((bits >> 4) & 7)) - MULAW_BIAS;
  return bits & 0x80 ? -magnitude : magnitude;
}

const MULAW_ENCODE = Uint8Array.from({ length: 65536 }, (_, i) => mulawOf(i - 32768));
const MULAW_DECODE = Float32Array.from({ length: 256 }, (_, i) => linearOfMulaw(i) / 32768);

/** Samples to mu-law bytes, one a sample; what exceeds full scale is clipped. */
export function encodeMulaw(samples: Float32Array): Uint8Array {
  const bytes = new Uint8Array(samples.length);
  for (let i = 0; i < samples.length; i += 1) bytes[i] = MULAW_ENCODE[linear16(samples[i]!) + 32768]!;
  return bytes;
}

/** Mu-law bytes to samples. */
export function decodeMulaw(bytes: Uint8Array): Float32Array {
  const samples = new Float32Array(bytes.length);
  for (let i = 0; i < bytes.length; i += 1) samples[i] = MULAW_DECODE[bytes[i]!]!;
  return samples;
}

/** Samples to 16-bit little-endian PCM. */
export function encodePcm16(samples: Float32Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < samples.length; i += 1) view.setInt16(i * 2, linear16(samples[i]!), true);
  return bytes;
}

function linear16(sample: number): number {
  return Math.max(-32768, Math.min(32767, Math.round(sample * 32768)));
}

/** Amplitude of a level in dBFS. */
export function amplitudeOf(levelDbfs: number): number {
  return 10 ** (levelDbfs / 20);
}

/** Samples in a duration. */
export function samplesIn(durationMs: number): number {
  return Math.round((durationMs * SAMPLE_RATE_HZ) / 1000);
}

/** What a tone is made of: its parts sound together and share the level. */
export interface ToneSpec {
  frequenciesHz: readonly number[];
  durationMs: number;
  levelDbfs: number;
  /** Sweeps linearly from the first frequency to this one. */
  sweepToHz?: number;
  /** Amplitude of the 3rd harmonic beside the fundamental (0: none). */
  thirdHarmonic?: number;
  /** Rise and fall, so that no click is made; the tone's end is the end of its fall. */
  rampMs?: number;
}

/** A tone with soft edges. */
export function tone(spec: ToneSpec): Float32Array {
  const length = samplesIn(spec.durationMs);
  const ramp = Math.max(1, Math.min(samplesIn(spec.rampMs ?? 4), length >> 1));
  const amplitude = amplitudeOf(spec.levelDbfs) / spec.frequenciesHz.length;
  const phases = spec.frequenciesHz.map(() => 0);
  return Float32Array.from({ length }, (_, i) => {
    let value = 0;
    spec.frequenciesHz.forEach((startHz, part) => {
      const sweepHz = spec.sweepToHz === undefined ? 0 : ((spec.sweepToHz - startHz) * i) / length;
      phases[part]! += (2 * Math.PI * (startHz + sweepHz)) / SAMPLE_RATE_HZ;
      value += Math.sin(phases[part]!) + (spec.thirdHarmonic ?? 0) * Math.sin(3 * phases[part]!);
    });
    return amplitude * value * Math.min(1, i / ramp, (length - i) / ramp);
  });
}

/** A tone that comes and goes: on and off times in ms, `cycles` times. Ends with the last off time. */
export function cadence(
  spec: Omit<ToneSpec, 'durationMs'>,
  onOffMs: readonly number[],
  cycles: number,
): Float32Array {
  const parts: Float32Array[] = [];
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    onOffMs.forEach((durationMs, i) => {
      parts.push(i % 2 === 0 ? tone({ ...spec, durationMs }) : new Float32Array(samplesIn(durationMs)));
    });
  }
  return concat(parts);
}

/** Special information tone, intercept (ITU-T E.180 Suppl. 2): three rising tones of `segmentMs` each. */
export function specialInformationTone(levelDbfs: number, segmentMs: readonly number[]): Float32Array {
  const frequenciesHz = [913.8, 1370.6, 1776.7];
  return concat(
    frequenciesHz.map((hz, i) => tone({ frequenciesHz: [hz], durationMs: segmentMs[i] ?? 330, levelDbfs })),
  );
}

const DTMF_ROWS_HZ = [697, 770, 852, 941];
const DTMF_COLUMNS_HZ = [1209, 1336, 1477, 1633];
const DTMF_KEYS = '123A456B789C*0#D';

/** DTMF of a string of keys (ITU-T Q.23), `onMs` each with `offMs` between. */
export function dtmf(
  keys: string,
  levelDbfs: number,
  [onMs, offMs]: readonly [number, number],
): Float32Array {
  const parts: Float32Array[] = [];
  for (const key of keys) {
    const at = DTMF_KEYS.indexOf(key);
    if (at < 0) throw new RangeError(`not a DTMF key: ${key}`);
    const frequenciesHz = [DTMF_ROWS_HZ[at >> 2]!, DTMF_COLUMNS_HZ[at & 3]!];
    parts.push(tone({ frequenciesHz, durationMs: onMs, levelDbfs }), new Float32Array(samplesIn(offMs)));
  }
  return concat(parts);
}

/** Everything one after another. */
export function concat(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A seeded source of numbers in [0, 1) (mulberry32): the same seed renders the same signal everywhere. */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Noise of a line: near-Gaussian, tilted towards low frequencies as telephone noise is. RMS at `levelDbfs`. */
export function lineNoise(random: Random, durationMs: number, levelDbfs: number): Float32Array {
  const length = samplesIn(durationMs);
  const noise = new Float32Array(length);
  let low = 0;
  let power = 0;
  for (let i = 0; i < length; i += 1) {
    const white = random() + random() + random() - 1.5;
    low = 0.7 * low + white;
    noise[i] = low + 0.5 * white;
    power += noise[i]! ** 2;
  }
  const gain = length === 0 ? 0 : amplitudeOf(levelDbfs) / Math.sqrt(power / length);
  for (let i = 0; i < length; i += 1) noise[i]! *= gain;
  return noise;
}
