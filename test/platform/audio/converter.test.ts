import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AudioConverter } from '../../../src/platform/audio/index.ts';
import { sine, wavOf } from './wav.ts';

const LIMIT = { secondsMax: 60 };
const mp3 = readFileSync(fileURLToPath(new URL('tone-440-22050-vbr.mp3', import.meta.url)));
const tone = wavOf(sine({ rateHz: 44_100, hz: 440, seconds: 1 }), { rateHz: 44_100 });

describe('the converter', () => {
  it('makes telephone audio in a thread', async () => {
    const converter = new AudioConverter();
    const [one, two] = await Promise.all([
      converter.convert(async () => tone, LIMIT),
      converter.convert(async () => mp3, LIMIT),
    ]);
    expect([one.format, two.format]).toEqual(['wav', 'mp3']);
    expect(one.durationMs).toBe(1_000);
    expect(Buffer.from(one.wav.subarray(0, 4)).toString()).toBe('RIFF');
  });

  it('tells a fault of the file from a fault of its own', async () => {
    const converter = new AudioConverter();
    await expect(converter.convert(async () => Buffer.from('text'), LIMIT)).rejects.toMatchObject({
      name: 'AudioError',
      fault: 'not-audio',
    });
    await expect(converter.convert(async () => Promise.reject(new Error('disk')), LIMIT)).rejects.toThrow(
      'disk',
    );
  });

  it('does not keep a process alive that has nothing else to do', async () => {
    const module = new URL('../../../src/platform/audio/converter.ts', import.meta.url).href;
    const script = `
      const { AudioConverter } = await import(${JSON.stringify(module)});
      const audio = await new AudioConverter().convert(async () => Buffer.from(process.argv[1], 'base64'), { secondsMax: 9 });
      setTimeout(() => process.exit(7), 8_000).unref();
      process.stdout.write(String(audio.durationMs));`;
    const mp3Text = mp3.toString('base64');
    const args = ['--import', 'tsx', '--input-type=module', '-e', script, mp3Text];
    const done = await promisify(execFile)(process.execPath, args);
    expect(done).toMatchObject({ stdout: '1000', stderr: '' });
  });

  it('ends a thread that takes too long, and works on', async () => {
    const converter = new AudioConverter({ timeLimitMs: 1, threadsMax: 1 });
    const slow = converter.convert(async () => tone, LIMIT);
    await expect(slow).rejects.toMatchObject({ fault: 'too-slow' });
    await expect(converter.convert(async () => tone, LIMIT)).rejects.toMatchObject({ fault: 'too-slow' });
  });

  it('loads a file when its turn comes, and refuses more than may wait', async () => {
    const converter = new AudioConverter({ threadsMax: 1, waitingMax: 1 });
    const loaded: string[] = [];
    const load = (name: string) => async () => {
      loaded.push(name);
      return tone;
    };
    const first = converter.convert(load('first'), LIMIT);
    const second = converter.convert(load('second'), LIMIT);
    await expect(converter.convert(load('third'), LIMIT)).rejects.toMatchObject({ fault: 'busy' });
    expect(loaded).toEqual(['first']);
    await Promise.all([first, second]);
    expect(loaded).toEqual(['first', 'second']);
  });
});
