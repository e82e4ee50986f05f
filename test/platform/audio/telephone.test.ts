import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AudioError } from '../../../src/platform/audio/index.ts';
import { readMp3 } from '../../../src/platform/audio/mp3.reader.ts';
import { Resampler } from '../../../src/platform/audio/resampler.ts';
import { toTelephone } from '../../../src/platform/audio/telephone.ts';
import { alaw, mulaw } from '../../../src/platform/audio/wav.reader.ts';
import { amplitudeAt, peakOf, samplesOf, silentFrames, sine, wavOf } from './wav.ts';

const fixture = (name: string): Buffer => readFileSync(fileURLToPath(new URL(name, import.meta.url)));
const LIMIT = { secondsMax: 60 };
const faultOf = async (bytes: Uint8Array, options = LIMIT): Promise<string> => {
  try {
    await toTelephone(bytes, options);
  } catch (error) {
    if (error instanceof AudioError) return error.fault;
    throw error;
  }
  return 'none';
};

describe('telephone audio of WAV', () => {
  it.each([
    [8_000, 1],
    [11_025, 1],
    [16_000, 2],
    [22_050, 1],
    [44_100, 2],
    [48_000, 1],
    [4_000, 1],
    [44_099, 1],
    [192_000, 2],
  ])('keeps length and level at %i Hz with %i channels', async (rateHz, channels) => {
    const wav = wavOf(sine({ rateHz, hz: 440, seconds: 1, channels }), { rateHz, channels });
    const audio = await toTelephone(wav, LIMIT);
    expect(audio).toMatchObject({ durationMs: 1_000, format: 'wav' });
    const samples = samplesOf(audio.wav);
    expect(samples.length).toBe(8_000);
    expect(amplitudeAt(samples, 440)).toBeCloseTo(0.5, 2);
    expect(peakOf(samples)).toBeLessThan(0.51);
  });

  it('reads every encoding as the same sound', async () => {
    const pcm = sine({ rateHz: 8_000, hz: 440, seconds: 0.5 });
    const wanted = Float64Array.from({ length: 4_000 }, (_, n) => pcm.readInt16LE(n * 2) / 32_768);
    const each = (bytes: number, write: (out: Buffer, value: number, at: number) => void): Buffer => {
      const out = Buffer.alloc(4_000 * bytes);
      wanted.forEach((value, n) => write(out, value, n * bytes));
      return out;
    };
    const nearest = (value: number, decode: (code: number) => number): number => {
      let best = 0;
      for (let code = 1; code < 256; code += 1) {
        const isNearer = Math.abs(decode(code) - value * 32_768) < Math.abs(decode(best) - value * 32_768);
        if (isNearer) best = code;
      }
      return best;
    };
    const files: [string, number, Buffer][] = [
      ['pcm16', 0.0001, wavOf(pcm)],
      [
        'pcm8',
        0.01,
        wavOf(
          each(1, (out, v, at) => out.writeUInt8(Math.round(v * 128) + 128, at)),
          { bits: 8 },
        ),
      ],
      [
        'pcm24',
        0.0001,
        wavOf(
          each(3, (out, v, at) => out.writeIntLE(Math.round(v * 8_388_608), at, 3)),
          { bits: 24 },
        ),
      ],
      [
        'pcm32',
        0.0001,
        wavOf(
          each(4, (out, v, at) => out.writeInt32LE(Math.round(v * 2 ** 31), at)),
          { bits: 32 },
        ),
      ],
      [
        'float32',
        0.0001,
        wavOf(
          each(4, (out, v, at) => out.writeFloatLE(v, at)),
          { tag: 3, bits: 32 },
        ),
      ],
      [
        'mulaw',
        0.02,
        wavOf(
          each(1, (out, v, at) => out.writeUInt8(nearest(v, mulaw), at)),
          { tag: 7, bits: 8 },
        ),
      ],
      [
        'alaw',
        0.02,
        wavOf(
          each(1, (out, v, at) => out.writeUInt8(nearest(v, alaw), at)),
          { tag: 6, bits: 8 },
        ),
      ],
    ];
    for (const [name, within, file] of files) {
      const samples = samplesOf((await toTelephone(file, LIMIT)).wav);
      const worst = Math.max(...Array.from(wanted, (value, n) => Math.abs(value - samples[n]!)));
      expect(worst, name).toBeLessThan(within);
    }
  });

  it('decodes G.711 as its tables say', () => {
    // ITU-T G.711, tables 1a to 2b: both ends, the smallest steps and both signs.
    expect([0x00, 0x80, 0x7f, 0xff, 0x0f, 0x8f].map(mulaw)).toEqual([-32124, 32124, -0, 0, -16764, 16764]);
    expect([0x2a, 0xaa, 0x55, 0xd5, 0x54, 0xd4].map(alaw)).toEqual([-32256, 32256, -8, 8, -24, 24]);
  });

  it('clips what is louder than full scale, and takes what is no number for silence', async () => {
    const data = Buffer.alloc(4 * 4);
    [4, -4, NaN, Infinity].forEach((value, n) => data.writeFloatLE(value, n * 4));
    const samples = samplesOf((await toTelephone(wavOf(data, { tag: 3, bits: 32 }), LIMIT)).wav);
    expect([...samples]).toEqual([32_767 / 32_768, -1, 0, 0]);
  });

  it('takes nothing above half the rate for sound: it does not fold back', async () => {
    const rateHz = 44_100;
    const wav = wavOf(sine({ rateHz, hz: 5_000, seconds: 1 }), { rateHz });
    const samples = samplesOf((await toTelephone(wav, LIMIT)).wav);
    expect(peakOf(samples)).toBeLessThan(0.5 * 10 ** (-60 / 20));
    const speech = wavOf(sine({ rateHz, hz: 3_200, seconds: 1 }), { rateHz });
    expect(amplitudeAt(samplesOf((await toTelephone(speech, LIMIT)).wav), 3_200)).toBeCloseTo(0.5, 2);
  });

  it('takes what is there when the header says nothing, too little or far too much', async () => {
    const data = sine({ rateHz: 8_000, hz: 440, seconds: 1 });
    for (const saidBytes of [0, 0xffffffff, 0x7ffff000, data.length + 2]) {
      expect(await toTelephone(wavOf(data, { saidBytes }), LIMIT)).toMatchObject({ durationMs: 1_000 });
    }
    expect(await toTelephone(wavOf(data, { saidBytes: 8_000 }), LIMIT)).toMatchObject({ durationMs: 500 });
    const list = Buffer.from('LIST\x05\0\0\0abcde\0', 'latin1');
    expect(await toTelephone(wavOf(data, { before: list }), LIMIT)).toMatchObject({ durationMs: 1_000 });
  });

  it('refuses what it cannot read', async () => {
    const data = sine({ rateHz: 8_000, hz: 440, seconds: 0.1 });
    const whole = wavOf(data);
    for (let length = 0; length < 44; length += 1) {
      expect(await faultOf(whole.subarray(0, length)), `${length} bytes`).toBe('not-audio');
    }
    expect(await faultOf(whole.subarray(0, 44))).toBe('empty');
    const wrong = [
      wavOf(data, { tag: 0x55 }),
      wavOf(data, { bits: 12 }),
      wavOf(data, { channels: 0 }),
      wavOf(data, { channels: 3 }),
      wavOf(data, { rateHz: 0 }),
      wavOf(data, { rateHz: 1 }),
      wavOf(data, { rateHz: 4_000_000_000 }),
      wavOf(data, { before: Buffer.from('LIST\xff\xff\xff\xff', 'latin1') }),
      wavOf(data, {
        before: Buffer.concat(Array.from({ length: 300 }, () => Buffer.from('junk\0\0\0\0', 'latin1'))),
      }),
    ];
    for (const [n, file] of wrong.entries()) expect(await faultOf(file), `file ${n}`).toBe('not-audio');
  });

  it('refuses audio that is too long', async () => {
    const wav = wavOf(Buffer.alloc(8_001), { bits: 8 });
    expect(await faultOf(wav, { secondsMax: 1 })).toBe('too-long');
    expect(await faultOf(wavOf(Buffer.alloc(8_000), { bits: 8 }), { secondsMax: 1 })).toBe('none');
  });
});

describe('telephone audio of MP3', () => {
  it.each([
    ['tone-440-44100-stereo.mp3', 0.3],
    ['tone-440-22050-vbr.mp3', 0.3],
  ])('decodes %s', async (name, level) => {
    const audio = await toTelephone(fixture(name), LIMIT);
    expect(audio.format).toBe('mp3');
    expect(Math.abs(audio.durationMs - 1_000)).toBeLessThan(60);
    expect(amplitudeAt(samplesOf(audio.wav), 440)).toBeCloseTo(level, 1);
  });

  it('finds the frames behind tags and between garbage', async () => {
    const mp3 = fixture('tone-440-44100-stereo.mp3');
    const tag = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\x08\0', 'latin1'), Buffer.alloc(1_024, 0xff)]);
    const trailer = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)]);
    const dirty = Buffer.concat([tag, Buffer.from('garbage'), mp3, Buffer.alloc(5_000, 0x41), mp3, trailer]);
    const audio = await toTelephone(dirty, LIMIT);
    expect(Math.abs(audio.durationMs - 2_000)).toBeLessThan(120);
  });

  it('counts its length before it decodes: small frames of much silence are refused', async () => {
    expect((await toTelephone(silentFrames(100), LIMIT)).durationMs).toBeGreaterThan(7_000);
    const first = readMp3(silentFrames(30_000), 1_800).next();
    await expect(first).rejects.toMatchObject({ fault: 'too-long' });
    expect(await faultOf(silentFrames(30_000), { secondsMax: 1_800 })).toBe('too-long');
  });

  it('takes two frames, or frames in text, for no MP3', async () => {
    expect(await faultOf(silentFrames(2))).toBe('not-audio');
    expect(await faultOf(Buffer.concat([Buffer.alloc(70_000, 0x20), silentFrames(100)]))).toBe('not-audio');
    const endless = Buffer.concat([Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1'), silentFrames(100)]);
    expect(await faultOf(endless)).toBe('not-audio');
  });
});

describe('telephone audio', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('hello '.repeat(1_000))],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
    ['an archive', Buffer.from(`504b0304${'00'.repeat(100)}`, 'hex')],
    ['Ogg', Buffer.from('OggS\0\x02'.padEnd(200, '\0'), 'latin1')],
    ['ones', Buffer.alloc(100_000, 0xff)],
  ])('is not made of %s', async (_name, bytes) => {
    expect(await faultOf(bytes)).toBe('not-audio');
  });

  it('is refused when the file is not what it has to be', async () => {
    const wav = wavOf(sine({ rateHz: 8_000, hz: 440, seconds: 0.1 }));
    const mp3 = fixture('tone-440-22050-vbr.mp3');
    await expect(toTelephone(wav, { ...LIMIT, format: 'mp3' })).rejects.toMatchObject({ fault: 'not-audio' });
    await expect(toTelephone(mp3, { ...LIMIT, format: 'wav' })).rejects.toMatchObject({ fault: 'not-audio' });
    expect((await toTelephone(mp3, { ...LIMIT, format: 'mp3' })).format).toBe('mp3');
  });

  it('or a clear fault comes of arbitrary bytes behind a WAV header', async () => {
    const files = fc.tuple(
      fc.uint8Array({ maxLength: 400 }),
      fc.record({
        tag: fc.constantFrom(1, 3, 6, 7, 0x55, 0xfffe),
        bits: fc.constantFrom(8, 16, 24, 32, 0, 64),
        channels: fc.constantFrom(1, 2, 3),
        rateHz: fc.constantFrom(4_000, 8_000, 44_100, 44_099, 0, 0xffffffff),
        saidBytes: fc.constantFrom(0, 1, 7, 200, 0xffffffff),
      }),
      fc.nat(60),
    );
    await fc.assert(
      fc.asyncProperty(files, async ([data, header, cut]) => {
        const file = wavOf(Buffer.from(data), header);
        const fault = await faultOf(file.subarray(0, Math.max(0, file.length - cut)));
        expect(['none', 'not-audio', 'empty']).toContain(fault);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the resampler', () => {
  it('gives the same whatever the blocks', () => {
    const input = Float32Array.from({ length: 5_000 }, (_, n) => Math.sin(n / 7) * Math.cos(n / 91));
    const run = (fromHz: number, sizes: readonly number[]): number[] => {
      const filter = new Resampler(fromHz, 8_000);
      const out: number[] = [];
      let at = 0;
      for (let n = 0; at < input.length; n += 1) {
        const size = sizes[n % sizes.length]!;
        out.push(...filter.push(input.subarray(at, at + size)));
        at += size;
      }
      return [...out, ...filter.end()];
    };
    for (const fromHz of [6_000, 16_000, 22_050, 44_100, 48_000]) {
      const whole = run(fromHz, [5_000]);
      expect(whole.length).toBe(Math.round((5_000 * 8_000) / fromHz));
      expect(run(fromHz, [1, 2, 3, 700])).toEqual(whole);
      expect(run(fromHz, [64])).toEqual(whole);
    }
  });

  it('delays nothing: a click stays where it was', () => {
    const input = new Float32Array(44_100);
    input[22_050] = 1;
    const filter = new Resampler(44_100, 8_000);
    const out = [...filter.push(input), ...filter.end()];
    const loudest = out.reduce((best, value, n) => (Math.abs(value) > Math.abs(out[best]!) ? n : best), 0);
    expect(loudest).toBe(4_000);
  });
});
