/** Files and standard input as audio for one detection session. */
import { open } from 'node:fs/promises';
import { basename } from 'node:path';

import { AudioFileError, channelOf, isWav, parseWav, type AudioEncoding } from './wav.parser.ts';

/** One channel, ready to be cut into frames. */
export interface CallAudio {
  name: string;
  encoding: AudioEncoding;
  sampleRateHz: 8000 | 16000;
  bytes: Uint8Array;
  durationMs: number;
  /** Channels in the file; 1 for raw mu-law. */
  channels: number;
}

/** A session hears at most 300 s (supplement 10): 16 kHz pcm16 with 8 channels, and its header, is below this. */
const READ_BYTES_MAX = 80 * 1024 * 1024;

/** What other containers begin with: they are refused, not played as noise. */
const FOREIGN: readonly [string, string][] = [
  ['OggS', 'Ogg'],
  ['fLaC', 'FLAC'],
  ['ID3', 'MP3'],
  ['RF64', 'RF64'],
  ['FORM', 'AIFF'],
  ['caff', 'CAF'],
  ['.snd', 'AU'],
];

/** Reads a file, or standard input for `-`. Throws {@link AudioFileError} with one line that names the file. */
export async function readCallAudio(
  file: string,
  channel: number,
  stdin: AsyncIterable<Uint8Array>,
): Promise<CallAudio> {
  const name = file === '-' ? 'standard input' : basename(file);
  const bytes = file === '-' ? await readAll(stdin) : await readFileHead(file);
  try {
    return callAudioOf(name, bytes, channel);
  } catch (error) {
    if (error instanceof AudioFileError) throw new AudioFileError(`${name}: ${error.message}`);
    throw error;
  }
}

/** WAV by its first bytes or its name, otherwise raw mu-law at 8 kHz. Throws {@link AudioFileError}. */
export function callAudioOf(name: string, bytes: Uint8Array, channel: number): CallAudio {
  if (bytes.length === 0) throw new AudioFileError('it is empty');
  const head = String.fromCharCode(...bytes.subarray(0, 4));
  const foreign = FOREIGN.find(([magic]) => head.startsWith(magic));
  if (foreign)
    throw new AudioFileError(`${foreign[1]} is not read; convert to WAV (PCM 16 bit, mu-law or A-law)`);
  if (!isWav(bytes) && !name.toLowerCase().endsWith('.wav')) {
    if (channel !== 1) throw new AudioFileError('raw mu-law has one channel');
    return { name, encoding: 'mulaw', sampleRateHz: 8000, bytes, durationMs: bytes.length / 8, channels: 1 };
  }
  const audio = parseWav(bytes);
  const data = channelOf(audio, channel);
  const samples = data.length / (audio.encoding === 'pcm16' ? 2 : 1);
  const { encoding, sampleRateHz, channels } = audio;
  return { name, encoding, sampleRateHz, bytes: data, durationMs: (samples / sampleRateHz) * 1000, channels };
}

async function readFileHead(file: string): Promise<Uint8Array> {
  try {
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      const buffer = Buffer.alloc(Math.min(size, READ_BYTES_MAX));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reason =
      code === 'ENOENT' ? 'no such file' : code === 'EISDIR' ? 'is a folder' : String(code ?? error);
    throw new AudioFileError(`${file}: ${reason}`);
  }
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk.subarray(0, READ_BYTES_MAX - length));
    length += chunk.length;
    if (length >= READ_BYTES_MAX) break;
  }
  return Buffer.concat(chunks);
}
