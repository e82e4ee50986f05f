import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signPlayPlan } from '../../src/features/carriers/index.ts';
import type { PlayPlan } from '../../src/features/carriers/index.ts';
import { HEARD_TOPIC } from '../../src/features/detection/index.ts';
import type { GatewayMessage } from '../../src/main/gateway/ipc.ts';
import { FileStorage } from '../../src/platform/storage/index.ts';
import { AccountsWorld, testDb, until } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { wavOf } from '../platform/audio/wav.ts';
import { StreamDouble } from './stream.double.ts';
import { sample } from './world.ts';

const ENTRY = new URL('../../src/main/gateway/entry.ts', import.meta.url).pathname;
const MASTER_KEY = randomBytes(32);
const FORMER_KEY = randomBytes(32);

/** mu-law of two seconds that no recording holds. */
const MESSAGE = Buffer.from(Uint8Array.from({ length: 16_000 }, (_, n) => (n * 7) % 101));

describe('a gateway process', () => {
  let database: TestDb;
  let folder: string;
  let teamId: string;
  let key: string;
  let child: ChildProcess;
  let url: string;
  const messages: GatewayMessage[] = [];

  beforeAll(async () => {
    database = await testDb();
    folder = await mkdtemp(join(tmpdir(), 'tonegate-gateway-'));
    const accounts = new AccountsWorld(database);
    ({ teamId } = await accounts.account());
    await accounts.services.close();
    key = randomUUID();
    const file = wavOf(MESSAGE, { tag: 7, bits: 8 });
    await new FileStorage(join(folder, 'media', 'kept')).put(key, [file], { bytesMax: file.length });
    child = fork(ENTRY, [], {
      execArgv: ['--import', 'tsx'],
      env: {
        ...{ PATH: process.env['PATH'], LOG_LEVEL: 'fatal', TONEGATE_PROCESS_ID: randomUUID() },
        ...{ DATABASE_URL: database.url, DATA_DIR: folder, DETECT_PORT: '0', MAX_SESSIONS: '10' },
        MASTER_KEY: MASTER_KEY.toString('base64'),
        MASTER_KEY_PREVIOUS: FORMER_KEY.toString('base64'),
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child.on('message', (message: GatewayMessage) => messages.push(message));
    const ready = await until(() => messages.find((message) => message.type === 'ready'));
    url = `ws://127.0.0.1:${ready.port}/carrier/ws/twilio`;
  });
  afterAll(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (plan: PlayPlan, masterKey: Buffer): Promise<StreamDouble> =>
    StreamDouble.run({
      url,
      parameters: { play_plan: signPlayPlan(plan, masterKey) },
      answer: sample('live-hello.wav'),
    });

  const plan = (): PlayPlan => ({
    ...{ sendId: randomUUID(), teamId, attempt: 1, onSpeech: key, onBeep: null },
    ...{ noVerdict: 'hang_up', optOutDigit: null, expiresAtMs: Date.now() + 600_000 },
  });

  const told = async ({ sendId }: PlayPlan): Promise<Record<string, unknown>> => {
    const find = async (): Promise<Record<string, unknown> | undefined> => {
      const sql = 'select payload from outbox where topic = $1 and key = $2';
      const { rows } = await database.db.query<{ payload: Record<string, unknown> }>(sql, [
        HEARD_TOPIC,
        sendId,
      ]);
      return rows[0]?.payload;
    };
    return until(find);
  };

  it('plays files of DATA_DIR by plans of MASTER_KEY and of the keys before it', async () => {
    for (const masterKey of [MASTER_KEY, FORMER_KEY]) {
      const mine = plan();
      const double = await call(mine, masterKey);
      expect(double.sound.equals(MESSAGE)).toBe(true);
      expect(await told(mine)).toMatchObject({ teamId, played: 'speech', isHeardWhole: true });
    }
    // Who handles it is woken, not left to its own round.
    const lane = `${HEARD_TOPIC}|${teamId}:heard`;
    await until(() => messages.some((message) => message.type === 'wake' && message.lane === lane));
    const stranger = await call(plan(), randomBytes(32));
    expect(stranger.closed?.code).toBe(1008);
  });

  it('has written how its calls ended when it stops', async () => {
    const mine = plan();
    const double = await StreamDouble.run({
      url,
      parameters: { play_plan: signPlayPlan(mine, MASTER_KEY) },
      answer: sample('live-hello.wav'),
      onStarted: async () => void child.send({ type: 'drain', graceMs: 0 }),
    });
    expect(double.closed?.code).toBe(1001);
    await once(child, 'exit');
    expect(await told(mine)).toMatchObject({ teamId, isHeardWhole: false });
  });
});
