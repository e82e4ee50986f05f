import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import {
  decodeMulaw,
  encodeMulaw,
  linearOfMulaw,
  lineNoise,
  mulawOf,
  seeded,
  tone,
} from '../../samples/signal.ts';
import { parseWav } from '../../src/main/cli/detect/wav.parser.ts';

/** ITU-T G.711, table 2a/2b: values at the ends of the segments, on the 16-bit scale (14 bits × 4). */
const G711_POINTS: readonly [number, number][] = [
  [0xff, 0],
  [0xfe, 8],
  [0xef, 132],
  [0xdf, 396],
  [0xcf, 924],
  [0xbf, 1980],
  [0xaf, 4092],
  [0x9f, 8316],
  [0x8f, 16764],
  [0x80, 32124],
  [0x00, -32124],
];

describe('mu-law', () => {
  it.each(G711_POINTS)('byte %i is the linear value %i of G.711', (byte, linear) => {
    expect(linearOfMulaw(byte)).toBe(linear);
  });

  it('gives every byte back, but for the second zero', () => {
    for (let byte = 0; byte < 256; byte += 1) {
      expect(mulawOf(linearOfMulaw(byte))).toBe(byte === 0x7f ? 0xff : byte);
    }
  });
});

describe('made signals', () => {
  it('has a tone’s length, level and pitch', () => {
    const beep = tone({ frequenciesHz: [1000], durationMs: 400, levelDbfs: -12 });
    expect(beep).toHaveLength(3200);
    expect(Math.max(...beep)).toBeCloseTo(10 ** (-12 / 20), 2);
    let crossings = 0;
    for (let i = 1; i < beep.length; i += 1) if (beep[i - 1]! < 0 && beep[i]! >= 0) crossings += 1;
    expect(crossings).toBeGreaterThanOrEqual(398);
    expect(crossings).toBeLessThanOrEqual(401);
  });

  it('makes the same noise from the same seed, at the level asked for', () => {
    const noise = lineNoise(seeded(5), 1000, -50);
    expect(lineNoise(seeded(5), 1000, -50)).toEqual(noise);
    expect(lineNoise(seeded(6), 1000, -50)).not.toEqual(noise);
    const rms = Math.sqrt(noise.reduce((sum, sample) => sum + sample ** 2, 0) / noise.length);
    expect(20 * Math.log10(rms)).toBeCloseTo(-50, 3);
  });
});

describe('the samples', () => {
  const { samples } = JSON.parse(readFileSync('samples/truth.json', 'utf8')) as {
    samples: {
      file: string;
      duration_ms: number;
      beep: { end_ms: number; frequency_hz: number; duration_ms: number } | null;
    }[];
  };

  it.each(samples)(
    '$file is 8 kHz mu-law of the length that its truth says',
    ({ file, duration_ms: durationMs }) => {
      const audio = parseWav(readFileSync(`samples/${file}`));
      expect(audio).toMatchObject({ encoding: 'mulaw', sampleRateHz: 8000, channels: 1 });
      expect(audio.data.length / 8).toBeCloseTo(durationMs, -1);
    },
  );

  it.each(samples.filter(({ beep }) => beep))('$file has its beep where its truth says', ({ file, beep }) => {
    const line = decodeMulaw(parseWav(readFileSync(`samples/${file}`)).data);
    const level = (fromMs: number, toMs: number): number => {
      const part = line.slice(fromMs * 8, toMs * 8);
      return part.reduce((sum, sample) => sum + sample ** 2, 0) / part.length;
    };
    const { end_ms: endMs, duration_ms: durationMs } = beep!;
    const during = level(endMs - durationMs + 10, endMs - 10);
    expect(during).toBeGreaterThan(100 * level(endMs + 5, endMs + 100));
    expect(during).toBeGreaterThan(100 * level(endMs - durationMs - 100, endMs - durationMs - 5));
    expect(encodeMulaw(line)).toHaveLength(line.length);
  });
});
