import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signPlayPlan, verifyPlayPlan } from '../../src/features/carriers/index.ts';
import type { CallHeard, PlayPlan } from '../../src/features/carriers/index.ts';
import { HEARD_TOPIC, MessageCache } from '../../src/features/detection/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { audioDir } from '../../benchmarks/detection/corpus.ts';
import { channelOf, parseWav } from '../../src/main/cli/detect/wav.parser.ts';
import { FileStorage } from '../../src/platform/storage/index.ts';
import { wavOf } from '../platform/audio/wav.ts';
import { mulaw } from '../socket/audio.ts';
import { socketWorld } from '../socket/world.ts';
import type { Driver, SocketWorld } from '../socket/world.ts';
import { until } from '../_util/index.ts';
import { StreamDouble } from './stream.double.ts';
import type { StreamOptions } from './stream.double.ts';

/** Recordings that stay out of the project. */
const RECORDINGS = audioDir(process.env, join(import.meta.dirname, '../..'));
const SAMPLES = join(import.meta.dirname, '../../samples');

export const hasRecordings = existsSync(RECORDINGS);
if (!hasRecordings) process.stderr.write(`Skipped: calls with recordings, ${RECORDINGS} is not there.\n`);

/** A recording's audio, mu-law 8 kHz. */
const mulawOf = (path: string): Uint8Array => channelOf(parseWav(readFileSync(path)), 1);
export const recording = (name: string): Uint8Array => mulawOf(join(RECORDINGS, name));
export const sample = (name: string): Uint8Array => mulawOf(join(SAMPLES, name));

/** A stored message: what was put into the storage, and what must be heard of it. */
export interface StoredMessage {
  readonly key: string;
  /** mu-law, by the tests' own G.711. */
  readonly audio: Buffer;
}

export interface CallsWorld extends SocketWorld {
  readonly messages: MessageCache;
  readonly storage: FileStorage;
  readonly masterKey: Buffer;
  readonly teamId: string;
  /** A message of `ms`, unlike any other. */
  store(ms: number, encoding?: 'pcm16' | 'mulaw'): Promise<StoredMessage>;
  put(file: Buffer): Promise<string>;
  plan(changes?: Partial<PlayPlan>): PlayPlan;
  /** A whole call by a plan. */
  call(
    plan: PlayPlan,
    options: Partial<StreamOptions> & Pick<StreamOptions, 'answer'>,
  ): Promise<StreamDouble>;
  /** What sends is told of it, once it is in the database. */
  heard(plan: PlayPlan): Promise<CallHeard>;
  /** Every message told of a send. */
  told(sendId: string): Promise<{ lane: string; payload: CallHeard }[]>;
}

export async function callsWorld(options: {
  readonly driver: Driver;
  readonly maxSessions?: number;
  readonly clock?: Clock;
}): Promise<CallsWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'tonegate-calls-'));
  const storage = new FileStorage(folder);
  const masterKey = randomBytes(32);
  const messages = new MessageCache({ storage });
  const verifyPlan = (token: string): PlayPlan | null =>
    verifyPlayPlan(token, { masterKeys: [masterKey], nowMs: systemClock.nowMs() });
  const world = await socketWorld({ ...options, gateway: { play: { verifyPlan, messages } } });
  const { teamId } = await world.createAccount({ funds: '0' });
  let stored = 0;

  const put = async (file: Buffer): Promise<string> => {
    const key = randomUUID();
    await storage.put(key, [file], { bytesMax: file.length });
    return key;
  };
  const store = async (ms: number, encoding: 'pcm16' | 'mulaw' = 'pcm16'): Promise<StoredMessage> => {
    stored += 1;
    const hz = 150 + 37 * stored;
    const sampleAt = (sec: number): number =>
      Math.round(6_000 * Math.sin(2 * Math.PI * hz * sec) + 3_000 * Math.sin(sec * sec * 900));
    // A long one repeats its beginning.
    const partMs = Math.min(ms, 10_000);
    const part = Buffer.alloc(partMs * 16);
    for (let n = 0; n < partMs * 8; n += 1) part.writeInt16LE(sampleAt(n / 8_000), n * 2);
    const audio = Buffer.alloc(ms * 8, mulaw(partMs, sampleAt));
    const pcm = Buffer.alloc(ms * 16, part);
    const file = encoding === 'pcm16' ? wavOf(pcm) : wavOf(audio, { tag: 7, bits: 8 });
    return { key: await put(file), audio };
  };
  const plan = (changes: Partial<PlayPlan> = {}): PlayPlan => ({
    sendId: systemSendId(),
    teamId,
    attempt: 1,
    onSpeech: null,
    onBeep: null,
    noVerdict: 'hang_up',
    optOutDigit: null,
    expiresAtMs: systemClock.nowMs() + 600_000,
    ...changes,
  });
  const call: CallsWorld['call'] = (of, given) =>
    StreamDouble.run({
      url: `${world.wsUrl}/carrier/ws/twilio`,
      parameters: { play_plan: signPlayPlan(of, masterKey) },
      onStarted: () => until(() => messages.pending === 0).then(() => undefined),
      ...given,
    });
  const told = async (sendId: string): Promise<{ lane: string; payload: CallHeard }[]> => {
    const { rows } = await world.db.query<{ lane: string; payload: CallHeard }>(
      'select lane, payload from outbox where topic = $1 and key = $2',
      [HEARD_TOPIC, sendId],
    );
    return rows;
  };
  return {
    ...world,
    ...{ messages, storage, masterKey, teamId, store, put, plan, call, told },
    heard: async ({ sendId }) => (await until(async () => (await told(sendId))[0])).payload,
    close: async () => {
      await world.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Ids of sends are of version 7 and name their time. */
const systemSendId = (): string => randomUUID().replace(/^(.{14})4/, '$17');
