import { createRequire } from 'node:module';
import type { AudioEncoding, SampleRateHz, Strategy } from './event.type.ts';

/** What a session of the addon is built with. */
export interface NativeOptions {
  encoding: AudioEncoding;
  sampleRateHz: SampleRateHz;
  strategy: Strategy;
  detectionTimeoutMs: number;
}

/** One call in the addon. Every time is monotonic wall milliseconds unless it says media. */
export interface NativeSession {
  /** Borrows `bytes` for the call; null when nothing happened. `mediaMs`: media time at which they start. */
  push(nowMs: number, bytes: Uint8Array, mediaMs?: number): NativeEvent[] | null;
  /** As `push`, of a lent buffer that follows the audio before. */
  pushBuffer(nowMs: number, bytes: ArrayBuffer): NativeEvent[] | null;
  /** Deadlines that the wall reached. */
  tick(nowMs: number): NativeEvent[] | null;
  /** The call was picked up now. */
  answered(nowMs: number): NativeEvent[] | null;
  /** The client's stop: a standing verdict once more as final. */
  stop(nowMs: number): NativeEvent[] | null;
  /** Media milliseconds received. */
  audioMs(): number;
  /** Frees the native side; later calls answer null. */
  close(): void;
}

/** The addon's one flat event; fields that do not belong to it are absent. */
export interface NativeEvent {
  event: 'speech_start' | 'speech_end' | 'silence' | 'detection' | 'beep' | 'timeout' | 'ended';
  timestampMs: number;
  type?: string;
  confidence?: number;
  beepDetected?: boolean;
  isFinal?: boolean;
  isRefinement?: boolean;
  reason?: string;
  speechMs?: number;
  silenceMs?: number;
  evidence?: Readonly<Record<string, unknown>>;
  frequencyHz?: number;
  durationMs?: number;
}

export interface NativeModule {
  Session: new (options: NativeOptions) => NativeSession;
}

/** Loads the addon. Throws with the way out when it was not built. */
export function loadNative(): NativeModule {
  try {
    return createRequire(import.meta.url)('#addon') as NativeModule;
  } catch (error) {
    throw new Error('the native addon does not load: run `npm run build:native`', { cause: error });
  }
}
