/** Redis carries wake-ups only: away, frozen or emptied, it costs no webhook and no more than 15 s (house rules). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../_util/index.ts';
import { completeCall, sample } from './_util/call.ts';
import type { CallOptions } from './_util/call.ts';
import { Lab } from './_util/lab.ts';
import type { Receiver } from './_util/receiver.ts';
import { Line, redisForTests } from './_util/redis.ts';
import { CELL_LIMIT_MS, scaled } from './_util/scale.ts';

const VOICEMAIL = sample('voicemail-beep.wav');
const CALLS = scaled(5, 40);
const SPEED = 8;
/** The promise: work goes on within 15 s, whatever Redis does. */
const GOES_ON_MS = 15_000;

const redis = await redisForTests();
if (!redis)
  console.warn('SKIPPED: Redis under the service, since none answers and there is no redis-server to start');

describe.skipIf(!redis)('webhooks while Redis', { timeout: CELL_LIMIT_MS }, () => {
  let lab: Lab;
  let line: Line;
  let receiver: Receiver;
  let options: CallOptions;

  beforeAll(async () => {
    if (!redis) return;
    line = await Line.to(redis);
    lab = await Lab.open({ REDIS_URL: redis.urlBy(line.port) });
    receiver = await lab.receiver();
    const service = await lab.start();
    options = { url: service.detectUrl, key: lab.credentials.detection_key, webhookUrl: receiver.url };
  }, CELL_LIMIT_MS);
  afterAll(async () => {
    await lab.close();
    await line.cut();
    await redis?.close();
  });

  /** Calls are made, and every event that their sockets heard arrives. */
  const expectWebhooks = async (meanwhile?: () => Promise<unknown>): Promise<void> => {
    const made = Promise.all(Array.from({ length: CALLS }, () => completeCall(options, VOICEMAIL, SPEED)));
    await meanwhile?.();
    const calls = await made;
    const heard = calls.reduce((sum, call) => sum + call.events.length, 0);
    const arrived = (): number =>
      calls.reduce((sum, call) => sum + receiver.ofSession(call.sessionId).length, 0);
    await until(() => arrived() === heard, GOES_ON_MS, `${heard} webhooks`);
    for (const call of calls) {
      const inOrder = receiver.ofSession(call.sessionId).sort((a, b) => a.sequence - b.sequence);
      expect(inOrder.map(({ event }) => event)).toEqual(call.events.map(({ event }) => event));
    }
  };

  it('is away since before the start', () => expectWebhooks());

  it('comes', async () => {
    await line.connect();
    await until(() => line.open >= 2, 30_000, 'connections of the main process and its gateway');
    await expectWebhooks();
  });

  it('loses all its keys under way', () =>
    expectWebhooks(async () => {
      for (let round = 0; round < 20; round += 1) await redis?.loseKeys();
    }));

  it('freezes', async () => {
    line.freeze();
    await expectWebhooks();
    line.thaw();
  });

  it('is cut off under way, and comes back', async () => {
    await expectWebhooks(() => line.cut());
    await line.connect();
    await until(() => line.open >= 2, 30_000, 'new connections');
    await expectWebhooks();
    await lab.ledger.settled();
    await lab.ledger.expectNothingLost(receiver);
    await lab.ledger.expectWholeLogs();
  });
});
