import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { callAudioOf } from '../../src/main/cli/detect/audio.reader.ts';
import { AudioFileError, channelOf, parseWav } from '../../src/main/cli/detect/wav.parser.ts';
import { wavOf } from '../../samples/wav.ts';

const MULAW = { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 } as const;

/** A file with one field of its header changed. */
function patched(file: Uint8Array, change: (view: DataView) => void): Uint8Array {
  const copy = file.slice();
  change(new DataView(copy.buffer));
  return copy;
}

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(AudioFileError);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}

describe('the WAV reader', () => {
  it.each([
    ['mulaw', 8000, 1],
    ['alaw', 8000, 1],
    ['pcm16', 16000, 1],
    ['pcm16', 8000, 2],
  ] as const)('reads %s at %i Hz with %i channels', (encoding, sampleRateHz, channels) => {
    const data = Uint8Array.from({ length: 320 }, (_, i) => i & 0xff);
    const audio = parseWav(wavOf(data, { encoding, sampleRateHz, channels }));
    expect(audio).toEqual({ encoding, sampleRateHz, channels, data });
  });

  it('takes the channel asked for out of interleaved samples', () => {
    const stereo = Uint8Array.from([1, 2, 101, 102, 3, 4, 103, 104]);
    const audio = parseWav(wavOf(stereo, { encoding: 'pcm16', sampleRateHz: 8000, channels: 2 }));
    expect([...channelOf(audio, 1)]).toEqual([1, 2, 3, 4]);
    expect([...channelOf(audio, 2)]).toEqual([101, 102, 103, 104]);
    expect(messageOf(() => channelOf(audio, 3))).toContain('channel 3 does not exist: the file has 2');
  });

  it('skips chunks it does not know, padded to even lengths', () => {
    const file = wavOf(Uint8Array.from([9, 8, 7, 6]), MULAW);
    const list = Uint8Array.from([0x4c, 0x49, 0x53, 0x54, 3, 0, 0, 0, 1, 2, 3, 0]);
    const longer = Buffer.concat([file.subarray(0, 36), list, file.subarray(36)]);
    expect([...parseWav(longer).data]).toEqual([9, 8, 7, 6]);
  });

  it('takes what is there when a writer to a pipe left no length, or the file was cut short', () => {
    const file = wavOf(new Uint8Array(100).fill(7), MULAW);
    for (const length of [0, 0xffffffff, 4000]) {
      expect(parseWav(patched(file, (view) => view.setUint32(40, length, true))).data).toHaveLength(100);
    }
  });

  it('reads the sub-format of the extensible format', () => {
    const plain = wavOf(new Uint8Array(8), MULAW);
    const format = new Uint8Array(40);
    format.set(plain.subarray(20, 36));
    const view = new DataView(format.buffer);
    view.setUint16(0, 0xfffe, true);
    view.setUint16(24, 7, true);
    const head = plain.slice(0, 20);
    new DataView(head.buffer).setUint32(16, 40, true);
    expect(parseWav(Buffer.concat([head, format, plain.subarray(36)])).encoding).toBe('mulaw');
  });

  it.each<[string, (view: DataView) => void, string]>([
    ['another rate', (view) => view.setUint32(24, 44100, true), '44100 Hz; detection takes 8000 or 16000'],
    ['another format', (view) => view.setUint16(20, 85, true), 'WAV format 85 is not read'],
    ['another width', (view) => view.setUint16(34, 24, true), '24 bits a sample'],
    ['no channel', (view) => view.setUint16(22, 0, true), '0 channels'],
    ['65535 channels', (view) => view.setUint16(22, 65535, true), '65535 channels'],
    ['a format chunk past the end', (view) => view.setUint32(16, 0xfffffff0, true), 'ends in its format'],
  ])('refuses %s and says why', (_, change, message) => {
    expect(messageOf(() => parseWav(patched(wavOf(new Uint8Array(16), MULAW), change)))).toContain(message);
  });

  it('refuses a file without audio', () => {
    expect(messageOf(() => parseWav(wavOf(new Uint8Array(0), MULAW)))).toContain('no audio');
    expect(messageOf(() => parseWav(wavOf(new Uint8Array(0), MULAW).subarray(0, 36)))).toContain(
      'no data chunk',
    );
    expect(messageOf(() => parseWav(wavOf(new Uint8Array(0), MULAW).subarray(0, 12)))).toContain(
      'no format chunk',
    );
  });

  it('answers every mutation of a header with audio inside the file or a named refusal', () => {
    const file = wavOf(new Uint8Array(64).fill(3), { encoding: 'pcm16', sampleRateHz: 16000, channels: 2 });
    const mutation = fc.array(fc.tuple(fc.nat({ max: 47 }), fc.nat({ max: 255 })), { maxLength: 6 });
    fc.assert(
      fc.property(mutation, fc.nat({ max: file.length }), (changes, length) => {
        const bytes = file.slice(0, length);
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        try {
          const audio = parseWav(bytes);
          expect(audio.data.length).toBeGreaterThan(0);
          expect(audio.data.length).toBeLessThanOrEqual(bytes.length);
          for (let channel = 1; channel <= audio.channels; channel += 1) channelOf(audio, channel);
        } catch (error) {
          expect(error).toBeInstanceOf(AudioFileError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('audio of a call', () => {
  it('takes what is no WAV as raw mu-law', () => {
    const audio = callAudioOf('call.ulaw', new Uint8Array(8000), 1);
    expect(audio).toMatchObject({ encoding: 'mulaw', sampleRateHz: 8000, durationMs: 1000 });
  });

  it('refuses other containers, broken WAV files and nothing at all by name', () => {
    expect(messageOf(() => callAudioOf('a.ogg', Buffer.from('OggS....'), 1))).toContain('Ogg is not read');
    expect(messageOf(() => callAudioOf('a.wav', Buffer.from('RIFX____WAVE'), 1))).toContain('not a WAV file');
    expect(messageOf(() => callAudioOf('a.raw', new Uint8Array(0), 1))).toContain('empty');
    expect(messageOf(() => callAudioOf('a.raw', new Uint8Array(9), 2))).toContain('one channel');
  });
});
