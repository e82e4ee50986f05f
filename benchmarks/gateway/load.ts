/** What the load generator is told and what it answers, and the audio that it plays. */
import { readFileSync } from 'node:fs';

import { parseWav } from '../../src/main/cli/detect/wav.parser.ts';
import { loadAddon } from '../detection/play.ts';
import { maskedFrame } from './frames.ts';

/** One run of the generator. */
export interface LoadPlan {
  host: string;
  port: number;
  path: string;
  tls: boolean;
  headers: Record<string, string>;
  /** Binary frames after a welcome, or base64 JSON of the platform's stream. */
  dialect: 'general' | 'platform';
  /** Parameters of the platform's start frame. */
  customParameters?: Record<string, string>;
  sockets: number;
  /** Sockets that send audio; the others sit there, upgraded only or ready. */
  streaming: number;
  /** Whether a welcome is sent at all. */
  welcome: boolean;
  warmUpMs: number;
  measureMs: number;
  /** WAV file that every call plays, over and over, each from its own moment. */
  sampleFile: string;
}

/** What was seen within the measured time. */
export interface LoadResult {
  /** Sockets that were upgraded, that became ready, that were told `session_cap`. */
  upgraded: number;
  ready: number;
  capped: number;
  /** HTTP statuses of refused upgrades, by status. */
  refused: Record<string, number>;
  /** Why sockets ended while they should have lived. */
  ended: Record<string, number>;
  framesSent: number;
  measuredMs: number;
  events: number;
  /** From the frame that carries the last audio a beep's event needs, to the event: quantiles in ms. */
  latency: { count: number; p50Ms: number; p99Ms: number; maxMs: number };
  /** Frames that left later than a frame's length after their time: above 1 % the generator was the limit. */
  lateShare: number;
  /** Share of one core that the generator took. */
  generatorLoad: number;
}

export const FRAME_MS = 20;
const FRAME_BYTES = 160;
/** Frames that are made beforehand: a minute and a half, longer than any run. */
const FRAMES_MAX = 4_500;

/** Masked frames of a call, and the frames at which the detector hears a beep end in it. */
export interface CallFrames {
  frames: Buffer[];
  beepFrames: ReadonlySet<number>;
}

/** The looped sample as frames of a dialect. */
export function callFrames(plan: LoadPlan): CallFrames {
  const audio = parseWav(readFileSync(plan.sampleFile)).data;
  const frameAt = (n: number): Uint8Array => {
    const at = (n * FRAME_BYTES) % (Math.floor(audio.length / FRAME_BYTES) * FRAME_BYTES);
    return audio.subarray(at, at + FRAME_BYTES);
  };
  const frames: Buffer[] = [];
  const beepFrames = new Set<number>();
  const session = loadAddon()({
    encoding: 'mulaw',
    sampleRateHz: 8000,
    strategy: 'standard',
    detectionTimeoutMs: 45_000,
  });
  for (let n = 0; n < FRAMES_MAX; n += 1) {
    const bytes = frameAt(n);
    const events = session.push((n + 1) * FRAME_MS, bytes);
    if (events?.some(({ event }) => event === 'beep')) beepFrames.add(n);
    frames.push(plan.dialect === 'general' ? maskedFrame(bytes, 'binary') : mediaFrame(n, bytes));
  }
  session.close();
  return { frames, beepFrames };
}

const STREAM_ID = 'MZ00000000000000000000000000000001';

/** One media frame of the platform's stream (supplement 7): counters are strings, audio is base64. */
function mediaFrame(n: number, bytes: Uint8Array): Buffer {
  const frame = {
    event: 'media',
    sequenceNumber: String(n + 2),
    media: {
      track: 'inbound',
      chunk: String(n + 1),
      timestamp: String(n * FRAME_MS),
      payload: Buffer.from(bytes).toString('base64'),
    },
    streamSid: STREAM_ID,
  };
  return maskedFrame(Buffer.from(JSON.stringify(frame)), 'text');
}

/** The frames that open a session. */
export function openingFrames(plan: LoadPlan): Buffer[] {
  const text = (value: object): Buffer => maskedFrame(Buffer.from(JSON.stringify(value)), 'text');
  if (plan.dialect === 'general') {
    return [text({ type: 'welcome', payload: { audio_encoding: 'mulaw', sample_rate_hz: 8000 } })];
  }
  return [
    text({ event: 'connected', protocol: 'Call', version: '1.0.0' }),
    text({
      event: 'start',
      sequenceNumber: '1',
      streamSid: STREAM_ID,
      start: {
        accountSid: 'AC00000000000000000000000000000001',
        callSid: 'CA00000000000000000000000000000001',
        streamSid: STREAM_ID,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: plan.customParameters ?? {},
      },
    }),
  ];
}
