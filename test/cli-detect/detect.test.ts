import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { decodeMulaw, encodePcm16 } from '../../samples/signal.ts';
import { wavOf } from '../../samples/wav.ts';
import { parseWav } from '../../src/main/cli/detect/wav.parser.ts';
import { dataFolder, startService, stopService, tonegate } from '../_util/index.ts';
import type { RunningService } from '../_util/index.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const VOICEMAIL = join(PROJECT, 'samples/voicemail-beep.wav');
const BEEP = (
  JSON.parse(readFileSync(join(PROJECT, 'samples/truth.json'), 'utf8')) as {
    samples: { file: string; beep: { end_ms: number; frequency_hz: number } | null }[];
  }
).samples.find(({ file }) => file === 'voicemail-beep.wav')!.beep!;

interface Line {
  file: string;
  event: string;
  payload: Record<string, unknown>;
}
const linesOf = (stdout: string): Line[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

describe('tonegate detect, against the built service', () => {
  let data: Awaited<ReturnType<typeof dataFolder>>;
  let service: RunningService;
  let url: string;
  let scratch: string;

  beforeAll(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'tonegate-detect-'));
    data = await dataFolder();
    service = startService({ DATA_DIR: data.path });
    url = (await service.ready).detect;
  });
  afterAll(async () => {
    await stopService(service);
    await data.remove();
    rmSync(scratch, { recursive: true, force: true });
  });

  const detect = (...args: string[]) =>
    tonegate(['detect', '--url', url, '--speed', '10', ...args], { DATA_DIR: data.path });

  /** The beep was heard in the stream, where it is. */
  function expectBeep(lines: readonly Line[]): void {
    const beeps = lines.filter(({ event }) => event === 'beep').map(({ payload }) => payload);
    expect(beeps).toHaveLength(1);
    expect(Math.abs(Number(beeps[0]!.timestamp_ms) - BEEP.end_ms)).toBeLessThan(100);
    expect(Math.abs(Number(beeps[0]!.frequency_hz) - BEEP.frequency_hz)).toBeLessThan(10);
  }

  it('prints every event as a JSON line and ends with 0', async () => {
    const { code, stdout, stderr } = await detect('--json', VOICEMAIL);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = linesOf(stdout);
    expect(lines[0]).toMatchObject({ file: VOICEMAIL, type: 'event', event: 'ready' });
    expect(lines.slice(-2).map(({ event }) => event)).toEqual(['close', 'stopped']);
    expectBeep(lines);
  });

  it('prints lines for people without --json', async () => {
    const { code, stdout } = await detect(VOICEMAIL);
    expect(code).toBe(0);
    expect(stdout).toContain('voicemail-beep.wav: mu-law, 8 kHz, 8.3 s');
    expect(stdout).toMatch(/6\.\d\d s {2}beep +\d+\.\d Hz for \d+ ms/);
    expect(stdout).toMatch(/detection +voicemail \d\.\d\d .*final/);
  });

  it('hears the channel of a stereo file that is asked for', async () => {
    const call = encodePcm16(decodeMulaw(parseWav(readFileSync(VOICEMAIL)).data));
    const stereo = new Uint8Array(call.length * 2);
    for (let i = 0; i < call.length; i += 2) stereo.set(call.subarray(i, i + 2), 2 * i + 2);
    const file = join(scratch, 'stereo.wav');
    writeFileSync(file, wavOf(stereo, { encoding: 'pcm16', sampleRateHz: 8000, channels: 2 }));
    expectBeep(linesOf((await detect('--json', '--channel', '2', file)).stdout));
    const other = linesOf((await detect('--json', '--channel', '1', file)).stdout);
    expect(other.filter(({ event }) => event === 'beep')).toEqual([]);
  });

  it('takes raw mu-law on standard input', async () => {
    const child = spawn(
      process.execPath,
      [join(PROJECT, 'dist/main/cli/tonegate.js'), 'detect', '--url', url, '--speed', '10', '--json', '-'],
      { env: { PATH: process.env.PATH, DATA_DIR: data.path }, stdio: ['pipe', 'pipe', 'ignore'] },
    );
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stdin.end(Buffer.from(parseWav(readFileSync(VOICEMAIL)).data));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(0);
    expectBeep(linesOf(stdout));
  });

  it('streams the other files when one is broken, and ends with 1', async () => {
    const broken = join(scratch, 'broken.wav');
    writeFileSync(broken, readFileSync(VOICEMAIL).subarray(0, 30));
    const { code, stdout, stderr } = await detect('--json', broken, VOICEMAIL);
    expect(code).toBe(1);
    expect(stderr).toContain('broken.wav: the WAV');
    expect(stderr).toContain('1 of 2 files');
    expectBeep(linesOf(stdout));
  });

  it.each<[string, string[], number, RegExp]>([
    ['a file that is not there', ['/nowhere/x.wav'], 1, /no such file/],
    ['a key that is not known', ['--key', 'tgd_wrong', VOICEMAIL], 1, /Detection key was refused.*401/],
    [
      'a port where nothing listens',
      ['--url', 'ws://127.0.0.1:1', VOICEMAIL],
      1,
      /nothing listens at ws:\/\/127/,
    ],
    ['an address that is none', ['--url', 'nonsense', VOICEMAIL], 2, /--url must be/],
    ['a channel that is none', ['--channel', '0', VOICEMAIL], 2, /counted from 1/],
    ['a speed that is none', ['--speed', 'fast', VOICEMAIL], 2, /number from 0\.1 to 100/],
    ['a strategy that is none', ['--strategy', 'best', VOICEMAIL], 2, /live_check/],
    ['no file', [], 2, /file/],
  ])('says what is wrong with %s in one line', async (_, args, code, message) => {
    const result = await detect(...args);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
    expect(result.stderr.trim().split('\n')).toHaveLength(1);
    expect(result.stdout).not.toContain('ready');
  });

  it('shows an example in its help', async () => {
    const { code, stdout } = await tonegate(['detect', '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('tonegate detect samples/voicemail-beep.wav');
  });
});
