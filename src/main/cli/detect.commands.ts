/** `tonegate detect`: streams files over a detection socket and prints what the service says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { InvalidArgumentError, Option, type Command } from 'commander';

import { loadSettings } from '../../platform/settings/index.ts';
import { CommandFailed, UsageError, type CliContext } from './context.ts';
import { readCallAudio } from './detect/audio.reader.ts';
import { CallError, routeUrl, streamCall, type WireEvent } from './detect/call.client.ts';
import { audioLine, eventLine } from './detect/event.printer.ts';
import { AudioFileError } from './detect/wav.parser.ts';

interface DetectOptions {
  url?: string;
  key?: string;
  strategy: string;
  channel: number;
  json: boolean;
  speed: number;
}

/** Faster than this no machine sends, slower no deadline is met. */
const SPEED_MIN = 0.1;
const SPEED_MAX = 100;

/** Adds the command to the program. */
export function register(program: Command, cli: CliContext): void {
  program
    .command('detect')
    .description('stream WAV or raw mu-law files over a detection socket at real time and print the events')
    .argument(
      '<file...>',
      'WAV (PCM 16 bit, mu-law, A-law; 8 or 16 kHz) or raw mu-law at 8 kHz; - reads standard input',
    )
    .option('--url <url>', 'address of the service (default: DETECT_URL, else from HOST and DETECT_PORT)')
    .option('--key <key>', 'Detection key (default: that of DATA_DIR/credentials.json)')
    .addOption(
      new Option('--strategy <name>', 'what to listen for')
        .choices(['standard', 'live_check', 'beep_only'])
        .default('standard'),
    )
    .option('--channel <n>', 'channel of a file with several, counted from 1', channelOption, 1)
    .option('--speed <n>', `times real time, ${SPEED_MIN} to ${SPEED_MAX}`, speedOption, 1)
    .option('--json', 'one event a line, as on the wire, with the file’s name', false)
    .addHelpText(
      'after',
      '\nExample:\n  tonegate detect samples/voicemail-beep.wav\n  sox call.mp3 -t wav -r 8000 -b 16 - | tonegate detect --json -',
    )
    .action((files: string[], options: DetectOptions) => detect(files, options, cli));
}

async function detect(files: string[], options: DetectOptions, cli: CliContext): Promise<void> {
  const url = routeUrl(options.url ?? loadSettings(cli.env).detectUrl);
  const key = options.key ?? storedKey(cli.env);
  let failed = 0;
  for (const file of files) {
    try {
      await detectFile(file, { ...options, url, key }, cli);
    } catch (error) {
      if (!(error instanceof CallError || error instanceof AudioFileError)) throw error;
      if (files.length === 1) throw error;
      // The other files are still worth hearing; the exit code tells at the end.
      cli.stderr(error.message);
      failed += 1;
    }
  }
  if (failed > 0)
    throw new CommandFailed(`${failed} of ${files.length} files were not streamed to their end`);
}

async function detectFile(
  file: string,
  options: DetectOptions & { url: string; key: string },
  cli: CliContext,
): Promise<void> {
  const audio = await readCallAudio(file, options.channel, process.stdin);
  if (!options.json) cli.stdout(audioLine(audio));
  const show = (event: WireEvent): void =>
    cli.stdout(options.json ? JSON.stringify({ file, ...event }) : eventLine(event));
  const { url, key, strategy, speed } = options;
  await streamCall({ url, key, audio, strategy, speed, onEvent: show });
}

/** The Detection key that the first start wrote. Throws {@link UsageError}. */
function storedKey(env: NodeJS.ProcessEnv): string {
  const path = join(loadSettings(env).dataDir, 'credentials.json');
  try {
    const { detection_key: key } = JSON.parse(readFileSync(path, 'utf8')) as { detection_key?: unknown };
    if (typeof key === 'string') return key;
  } catch {
    // Missing, unreadable and broken all mean the same to the user, who is told what to do.
  }
  throw new UsageError(`no Detection key in ${path}: give one with --key, or set DATA_DIR`);
}

function channelOption(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('Channels are counted from 1.');
  return Number(text);
}

function speedOption(text: string): number {
  const speed = Number(text);
  if (!(speed >= SPEED_MIN && speed <= SPEED_MAX)) {
    throw new InvalidArgumentError(`Expected a number from ${SPEED_MIN} to ${SPEED_MAX}.`);
  }
  return speed;
}
