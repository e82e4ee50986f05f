/** Plays a case to the addon: 20 ms frames as fast as they go, on a clock made of the audio itself. */
import { createRequire } from 'node:module';

import { seeded } from '../../samples/signal.ts';
import type { NativeEvent, SessionOptions } from '../../native/node/index.d.ts';
import { seedOf, type Case } from './case.ts';
import { carry, type Variant } from './mix.ts';

/** The part of the addon that the benchmark needs. */
export interface NativeSession {
  push(nowMs: number, bytes: Uint8Array): NativeEvent[] | null;
  stop(nowMs: number): NativeEvent[] | null;
  close(): void;
}
export type OpenSession = (options: SessionOptions) => NativeSession;

/** An event and the media time that had been received when it came out. */
export interface Heard {
  event: NativeEvent;
  atMs: number;
}

/** What a session said of one case. */
export interface Outcome {
  case: Case;
  variant: string;
  heard: Heard[];
  audioMs: number;
}

const FRAME_MS = 20;

/** The built addon. Throws when it is missing: `npm run build:native` makes it. */
export function loadAddon(): OpenSession {
  const addon = createRequire(import.meta.url)('#addon') as {
    Session: new (options: SessionOptions) => NativeSession;
  };
  return (options) => new addon.Session(options);
}

/** Renders, carries and plays one case, then stops the session as a client does when the call ends. */
export function play(
  open: OpenSession,
  item: Case,
  { variant, seed }: { variant: Variant; seed: number },
): Outcome {
  const random = seeded(seedOf(item.id, seed));
  const line = carry(item.render(random), variant, random);
  const session = open({
    encoding: line.encoding,
    sampleRateHz: line.sampleRateHz,
    strategy: item.strategy,
    detectionTimeoutMs: item.detectionTimeoutMs,
  });
  const frameBytes = (line.sampleRateHz / 1000) * FRAME_MS * (line.encoding === 'pcm16' ? 2 : 1);
  const heard: Heard[] = [];
  const take = (events: NativeEvent[] | null, atMs: number): void => {
    for (const event of events ?? []) heard.push({ event, atMs });
  };
  let nowMs = 0;
  for (let at = 0; at + frameBytes <= line.bytes.length; at += frameBytes) {
    nowMs += FRAME_MS;
    take(session.push(nowMs, line.bytes.subarray(at, at + frameBytes)), nowMs);
  }
  take(session.stop(nowMs), nowMs);
  session.close();
  return { case: item, variant: variant.name, heard, audioMs: nowMs };
}
