import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/kernel/clock.ts';
import { EspeakEngine } from '../../../src/platform/audio/index.ts';
import type { EspeakOptions } from '../../../src/platform/audio/index.ts';
import { toTelephone } from '../../../src/platform/audio/telephone.ts';
import { isRunning, until } from '../../_util/index.ts';

const VOICES = [
  'Pty Language       Age/Gender VoiceName          File                 Other Languages',
  ' 5  af              --/M      Afrikaans          gmw/af               ',
  ' 2  en-us           --/M      English_(America)  gmw/en-US            (en 3)',
  ' 5  en-us           --/M      English_again      gmw/en-US-2          ',
  '    broken line',
].join('\n');

describe('the espeak engine', () => {
  let folder: string;
  const clock = new ManualClock(0);
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'tonegate-speech-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** An executable in the engine's place: a shell script. */
  const engine = async (script: string, options: Partial<EspeakOptions> = {}): Promise<EspeakEngine> => {
    const executable = join(folder, 'engine');
    await writeFile(executable, `#!/bin/sh\ncd '${folder}'\n${script}\n`);
    await chmod(executable, 0o755);
    return new EspeakEngine({ clock, executable, timeLimitMs: 10_000, ...options });
  };
  const say = (on: EspeakEngine, text = 'Hello', voiceId = 'en-us') => on.synthesize({ voiceId, text });

  it('lists the first voice of each language', async () => {
    await writeFile(join(folder, 'voices'), VOICES);
    expect(await (await engine('cat voices')).voices()).toEqual([
      { voiceId: 'af', name: 'Afrikaans', language: 'af' },
      { voiceId: 'en-us', name: 'English (America)', language: 'en-us' },
    ]);
  });

  it('speaks with the file of a voice, since not every one is found by its language', async () => {
    await writeFile(join(folder, 'voices'), VOICES);
    const on = await engine('[ "$1" = --voices ] && cat voices || echo "$2"');
    await on.voices();
    expect(Buffer.from(await say(on)).toString()).toBe('gmw/en-US\n');
  });

  it('asks for the voices once a minute, and again after a failure', async () => {
    const on = await engine('echo x >> asked; exit 3');
    await expect(on.voices()).rejects.toMatchObject({ fault: 'failed' });
    await writeFile(join(folder, 'voices'), VOICES);
    await writeFile(join(folder, 'engine'), `#!/bin/sh\ncd '${folder}'\necho x >> asked; cat voices\n`);
    await on.voices();
    await on.voices();
    expect(await readFile(join(folder, 'asked'), 'utf8')).toBe('x\nx\n');
    clock.advance(60_001);
    await on.voices();
    expect(await readFile(join(folder, 'asked'), 'utf8')).toBe('x\nx\nx\n');
  });

  it('has no voices where it is not installed', async () => {
    const missing = new EspeakEngine({ clock, executable: join(folder, 'nothing') });
    expect(await missing.voices()).toEqual([]);
    await expect(say(missing)).rejects.toMatchObject({ fault: 'missing' });
  });

  it('gives the text on stdin, never as an argument, and no environment but the path', async () => {
    const on = await engine('echo "$@" > args; cat > text; env > env; printf wav');
    const text = '--voices $(touch broken) "; [[f@n]] \u00e9';
    expect(String(await say(on, text))).toBe('wav');
    expect(await readFile(join(folder, 'args'), 'utf8')).toBe('-v en-us -b 1 --stdin --stdout\n');
    expect(await readFile(join(folder, 'text'), 'utf8')).toBe(text.replace('[[', '[ ['));
    const names = (await readFile(join(folder, 'env'), 'utf8')).split('\n').map((line) => line.split('=')[0]);
    expect(names.filter((name) => name && !['PATH', 'PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))).toEqual(
      [],
    );
  });

  it('kills what takes too long, with all that it started', async () => {
    const on = await engine('sleep 600 & echo $! > child; echo $$ > parent; wait', { timeLimitMs: 500 });
    await expect(say(on)).rejects.toMatchObject({ fault: 'too-slow' });
    for (const name of ['child', 'parent']) {
      const pid = Number(await readFile(join(folder, name), 'utf8'));
      await until(() => !isRunning(pid), 10_000, `the end of the ${name}`);
    }
  });

  it('kills what says too much', async () => {
    await expect(say(await engine('cat > /dev/null; yes x'))).rejects.toMatchObject({ fault: 'failed' });
  });

  it('tells a failure, also one that reads nothing of a long text', async () => {
    await expect(say(await engine('exit 1'), 'x'.repeat(1_000_000))).rejects.toMatchObject({
      fault: 'failed',
    });
  });

  it('runs so many at once and no more, and refuses more than may wait', async () => {
    const script =
      'cat > /dev/null; mkdir busy || exit 9; while [ ! -e go ]; do sleep 0.05; done; rmdir busy; printf x';
    const on = await engine(script, { childrenMax: 1, waitingMax: 2 });
    const running = [say(on), say(on), say(on)];
    await expect(say(on)).rejects.toMatchObject({ fault: 'busy' });
    await writeFile(join(folder, 'go'), '');
    expect((await Promise.all(running)).map(String)).toEqual(['x', 'x', 'x']);
  });
});

const installed = new EspeakEngine({ clock: new ManualClock(0) });
const isInstalled = (await installed.voices()).length > 0;
if (!isInstalled) console.warn('SKIPPED: speech of the real engine, since espeak-ng is not installed');

describe.runIf(isInstalled)('the installed espeak-ng', () => {
  it('speaks a text as audio that can be made telephone audio', async () => {
    expect((await installed.voices()).map((voice) => voice.voiceId)).toContain('en-us');
    const wav = await installed.synthesize({ voiceId: 'en-us', text: 'Your order is ready.' });
    expect((await toTelephone(wav, { secondsMax: 60 })).durationMs).toBeGreaterThan(500);
  });

  it('speaks with every voice it lists', async () => {
    const voices = await installed.voices();
    const speak = async (voiceId: string): Promise<void> => {
      expect((await installed.synthesize({ voiceId, text: 'Hi.' })).length, voiceId).toBeGreaterThan(100);
    };
    for (let n = 0; n < voices.length; n += 8)
      await Promise.all(voices.slice(n, n + 8).map(({ voiceId }) => speak(voiceId)));
  });
});
