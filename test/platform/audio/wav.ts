/** WAV files for tests, byte by byte, right and wrong. */
export interface WavOptions {
  readonly tag?: number;
  readonly bits?: number;
  readonly channels?: number;
  readonly rateHz?: number;
  /** What the header says of the data's length; omitted: the truth. */
  readonly saidBytes?: number;
  /** Chunks before the data. */
  readonly before?: Buffer;
}

export function wavOf(data: Buffer, options: WavOptions = {}): Buffer {
  const { tag = 1, bits = 16, channels = 1, rateHz = 8_000, saidBytes = data.length } = options;
  const format = Buffer.alloc(24);
  format.write('fmt ', 0, 'latin1');
  format.writeUInt32LE(16, 4);
  format.writeUInt16LE(tag, 8);
  format.writeUInt16LE(channels, 10);
  format.writeUInt32LE(rateHz, 12);
  format.writeUInt32LE(((rateHz * channels * bits) / 8) % 2 ** 32, 16);
  format.writeUInt16LE((channels * bits) / 8, 20);
  format.writeUInt16LE(bits, 22);
  const header = Buffer.alloc(8);
  header.write('data', 0, 'latin1');
  header.writeUInt32LE(saidBytes, 4);
  const riff = Buffer.alloc(12);
  riff.write('RIFF', 0, 'latin1');
  riff.write('WAVE', 8, 'latin1');
  const body = Buffer.concat([format, options.before ?? Buffer.alloc(0), header, data]);
  riff.writeUInt32LE(body.length + 4, 4);
  return Buffer.concat([riff, body]);
}

/** `seconds` of a sine as pcm16, the same on each channel. */
export function sine(of: {
  rateHz: number;
  hz: number;
  seconds: number;
  channels?: number;
  amplitude?: number;
}): Buffer {
  const { rateHz, hz, seconds, channels = 1, amplitude = 0.5 } = of;
  const frames = Math.round(rateHz * seconds);
  const out = Buffer.alloc(frames * channels * 2);
  for (let n = 0; n < frames; n += 1) {
    const value = Math.round(Math.sin((2 * Math.PI * hz * n) / rateHz) * amplitude * 32_767);
    for (let c = 0; c < channels; c += 1) out.writeInt16LE(value, (n * channels + c) * 2);
  }
  return out;
}

/** The samples of a file that `toTelephone` made, 1.0 full scale. */
export function samplesOf(wav: Uint8Array): Float64Array {
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength);
  return Float64Array.from(
    { length: (wav.length - 44) / 2 },
    (_, n) => view.getInt16(44 + n * 2, true) / 32_768,
  );
}

/** Amplitude of the sine of `hz` in the middle half of `samples`, by correlation. */
export function amplitudeAt(samples: ArrayLike<number>, hz: number, rateHz = 8_000): number {
  const from = Math.floor(samples.length / 4);
  const to = Math.floor((samples.length * 3) / 4);
  let re = 0;
  let im = 0;
  for (let n = from; n < to; n += 1) {
    // A Hann window, so that a neighbour's energy does not leak into the measured bin.
    const weight = 1 - Math.cos((2 * Math.PI * (n - from)) / (to - from));
    re += weight * samples[n]! * Math.cos((2 * Math.PI * hz * n) / rateHz);
    im += weight * samples[n]! * Math.sin((2 * Math.PI * hz * n) / rateHz);
  }
  return (2 * Math.hypot(re, im)) / (to - from);
}

/** The loudest sample of the middle half. */
export function peakOf(samples: ArrayLike<number>): number {
  let peak = 0;
  for (let n = Math.floor(samples.length / 4); n < (samples.length * 3) / 4; n += 1) {
    peak = Math.max(peak, Math.abs(samples[n]!));
  }
  return peak;
}

/** Frames of MPEG 2.5 Layer III, 8 kbit/s, 8 kHz: 72 bytes are 72 ms of silence, the smallest there are. */
export function silentFrames(count: number): Buffer {
  const frame = Buffer.alloc(72);
  frame.writeUInt32BE(0xffe318c4, 0);
  return Buffer.concat(Array.from({ length: count }, () => frame));
}
