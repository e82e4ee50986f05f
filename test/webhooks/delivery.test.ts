import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeliveryRetention } from '../../src/features/webhooks/index.ts';
import { ManualClock, systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import { catchWebhooks, testDb, until } from '../_util/index.ts';
import type { Answer, CaughtWebhook, Catcher, TestDb } from '../_util/index.ts';
import { isSigned, KNOWN_KEY_ID, WebhookHarness } from './harness.ts';

const START_MS = Date.parse('2026-03-01T12:00:00Z');

describe('a detection webhook', () => {
  let database: TestDb;
  let clock: ManualClock;
  let harness: WebhookHarness;
  const catchers: Catcher[] = [];

  const catchWith = async (answer?: (hook: CaughtWebhook, number: number) => Answer): Promise<Catcher> => {
    const catcher = await catchWebhooks(answer);
    catchers.push(catcher);
    return catcher;
  };
  /** Everything that is due now, then in each of `steps` later moments. */
  const play = async (...stepsMs: number[]): Promise<void> => {
    await harness.relay.poke();
    for (const stepMs of stepsMs) {
      clock.advance(stepMs);
      await harness.relay.poke();
    }
  };

  beforeEach(async () => {
    database = await testDb();
    clock = new ManualClock(START_MS);
    harness = new WebhookHarness(database.db, clock);
  });
  afterEach(async () => {
    await Promise.all(catchers.splice(0).map((catcher) => catcher.close()));
    await harness.stop();
    await database.drop();
  });

  it('carries the headers of the contract, its own body to the byte, and the extra headers', async () => {
    const catcher = await catchWith();
    const deliveryId = randomUUID();
    const body = `{ "delivery_id":"${deliveryId}", "source" : "platform", "data":{"reason":"ü"} }`;
    await harness.accept({
      ...{ deliveryId, event: 'beep', url: catcher.url, body },
      headers: { 'X-Tenant': '42', Authorization: 'Bearer receiver', 'x-signature': 'forged' },
    });
    await play();
    const [hook] = catcher.caught;
    expect(hook?.body).toBe(body);
    expect(hook?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-delivery-id': deliveryId,
      'x-event': 'beep',
      'x-source': 'platform',
      'x-timestamp': String(START_MS),
      'x-tenant': '42',
      authorization: 'Bearer receiver',
    });
    expect(hook && isSigned(hook)).toBe(true);
    expect(hook && isSigned(hook, 'another key')).toBe(false);
    expect(await harness.delivery(deliveryId)).toMatchObject({
      state: 'delivered',
      attempts: 1,
      status_code: 200,
    });
  });

  it('is tried four times with the same id and body, a fresh timestamp and signature each time', async () => {
    const catcher = await catchWith(() => ({ status: 503, body: 'busy' }));
    const [id = ''] = await harness.accept({ url: catcher.url });
    await play(2_999, 1, 10_000, 30_000, 60_000);
    expect(catcher.caught.map((hook) => Number(hook.headers['x-timestamp']) - START_MS)).toEqual([
      0, 3_000, 13_000, 43_000,
    ]);
    expect(new Set(catcher.caught.map((hook) => hook.body)).size).toBe(1);
    expect(new Set(catcher.caught.map((hook) => hook.headers['x-delivery-id']))).toEqual(new Set([id]));
    expect(new Set(catcher.caught.map((hook) => hook.headers['x-signature'])).size).toBe(4);
    expect(catcher.caught.every((hook) => isSigned(hook))).toBe(true);
    expect(await harness.delivery(id)).toMatchObject({ state: 'failed', attempts: 4, status_code: 503 });
    expect(await harness.attempts(id)).toMatchObject(
      [1, 2, 3, 4].map((attempt) => ({ attempt, status_code: 503, error: null, response_excerpt: 'busy' })),
    );
    expect((await database.db.query('select * from outbox')).rowCount).toBe(0);
  });

  it('is delivered by a later attempt', async () => {
    const catcher = await catchWith((_hook, number) => ({ status: number < 3 ? 500 : 204 }));
    const [id = ''] = await harness.accept({ url: catcher.url });
    await play(3_000, 10_000, 60_000);
    expect(catcher.caught).toHaveLength(3);
    expect(await harness.delivery(id)).toMatchObject({ state: 'delivered', attempts: 3, status_code: 204 });
  });

  it.each([301, 307, 400, 404, 410])(
    'is final after a %i, and a redirect is not followed',
    async (status) => {
      const elsewhere = await catchWith();
      const catcher = await catchWith(() => ({
        status,
        headers: { location: elsewhere.url, 'retry-after': '1' },
      }));
      const [id = ''] = await harness.accept({ url: catcher.url });
      await play(60_000);
      expect([catcher.caught.length, elsewhere.caught.length]).toEqual([1, 0]);
      expect(await harness.delivery(id)).toMatchObject({ state: 'failed', attempts: 1, status_code: status });
    },
  );

  it.each([
    ['5', 5_000],
    [new Date(START_MS + 8_000).toUTCString(), 8_000],
    ['3600', 30_000],
    ['in a while', 3_000],
  ])('waits after a 429 with Retry-After %s', async (retryAfter, waitMs) => {
    const catcher = await catchWith((_hook, number) =>
      number === 1 ? { status: 429, headers: { 'retry-after': retryAfter } } : { status: 200 },
    );
    await harness.accept({ url: catcher.url });
    await play(waitMs - 1);
    expect(catcher.caught).toHaveLength(1);
    await play(waitMs * 0.1 + 1);
    expect(catcher.caught).toHaveLength(2);
  });

  it('is tried again when nobody listens, when the name is gone and when the certificate is bad', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const dropping = createServer((socket) => socket.once('data', () => socket.destroy())).listen(
      0,
      '127.0.0.1',
    );
    await once(dropping, 'listening');
    const plain = await catchWith();
    const urls = {
      connection_refused: `http://127.0.0.1:${port}/`,
      dns: 'http://nowhere.invalid/',
      tls: plain.url.replace('http:', 'https:'),
      connection_lost: `http://127.0.0.1:${(dropping.address() as AddressInfo).port}/`,
    };
    const ids = await harness.accept(...Object.values(urls).map((url) => ({ url, sourceId: randomUUID() })));
    await play(3_000, 10_000, 30_000);
    dropping.close();
    for (const [index, error] of Object.keys(urls).entries()) {
      const attempts = await harness.attempts(ids[index] ?? '');
      expect(attempts.map((attempt) => [attempt.error, attempt.status_code])).toEqual(
        Array(4).fill([error, null]),
      );
      expect((await harness.delivery(ids[index] ?? '')).state).toBe('failed');
    }
  });

  it('never reaches a private address, and is final then', async () => {
    await harness.stop();
    harness = new WebhookHarness(
      database.db,
      clock,
      createNet({ allowPrivateTargets: false, logger: silentLogger }),
    );
    const catcher = await catchWith();
    const [id = ''] = await harness.accept({ url: catcher.url.replace('http:', 'https:') });
    await play(60_000);
    expect(await harness.attempts(id)).toMatchObject([{ attempt: 1, error: 'target_refused_address' }]);
    expect((await harness.delivery(id)).state).toBe('failed');
  });

  it('gives up waiting for an answer after 10 s and tries again', async () => {
    await harness.stop();
    harness = new WebhookHarness(database.db, systemClock);
    const catcher = await catchWith((_hook, number) => (number === 1 ? 'never' : { status: 200 }));
    harness.relay.start();
    const [id = ''] = await harness.accept({ url: catcher.url });
    await until(async () => (await harness.delivery(id)).state === 'delivered', 40_000);
    const [first, second] = await harness.attempts(id);
    expect(first).toMatchObject({ error: 'timeout', status_code: null });
    expect(first?.duration_ms).toBeGreaterThanOrEqual(9_900);
    expect(second).toMatchObject({ error: null, status_code: 200 });
  });

  it('keeps the start of a large answer only', async () => {
    const catcher = await catchWith(() => ({ status: 200, body: 'x'.repeat(1_000_000) }));
    const [id = ''] = await harness.accept({ url: catcher.url });
    await play();
    expect((await harness.attempts(id))[0]?.response_excerpt).toBe('x'.repeat(1_024));
  });

  it('fails for good when its key is gone', async () => {
    const catcher = await catchWith();
    const [id = ''] = await harness.accept({ url: catcher.url, signingKeyId: randomUUID() });
    await play(60_000);
    expect(catcher.caught).toHaveLength(0);
    expect(await harness.attempts(id)).toMatchObject([{ error: 'signing_key' }]);
  });

  it('of one session go out in order while they succeed, and never wait for a failing one', async () => {
    const catcher = await catchWith((hook) => ({
      status: hook.headers['x-event'] === 'failing' ? 500 : 200,
    }));
    const events = ['ready', 'speech_start', 'failing', 'beep', 'close', 'stopped'];
    await harness.accept(...events.map((event) => ({ event, url: catcher.url })));
    await play();
    expect(catcher.caught.map((hook) => hook.headers['x-event'])).toEqual(events);
  });

  it('to a receiver that hangs delay neither its own later events nor other receivers', async () => {
    await harness.stop();
    harness = new WebhookHarness(database.db, systemClock);
    const hanging = await catchWith(() => 'never');
    const quick = await catchWith();
    harness.relay.start();
    await harness.accept(...Array.from({ length: 60 }, () => ({ url: hanging.url, sourceId: randomUUID() })));
    await hanging.waitFor(16);
    const sourceId = randomUUID();
    await harness.accept(...['a', 'b', 'c'].map((event) => ({ event, url: quick.url, sourceId })));
    await quick.waitFor(3);
    expect(hanging.caught).toHaveLength(16);

    const slow = await catchWith(() => 'never');
    await harness.accept(
      { url: slow.url, sourceId, event: 'first' },
      { url: slow.url, sourceId, event: 'second' },
    );
    const [first, second] = await slow.waitFor(2);
    expect([first?.headers['x-event'], second?.headers['x-event']]).toEqual(['first', 'second']);
  });

  it('loses what was said, and the extra headers, once it is final', async () => {
    const catcher = await catchWith((_hook, number) => ({ status: number === 1 ? 500 : 200 }));
    const body = JSON.stringify({
      event: 'transcript',
      source: 'ws',
      data: { text: 'my number is', words: ['my'] },
    });
    const [id = ''] = await harness.accept({ url: catcher.url, body, headers: { Authorization: 'secret' } });
    await play();
    expect(await harness.delivery(id)).toMatchObject({
      state: 'pending',
      body,
      headers: { Authorization: 'secret' },
    });
    await play(3_000);
    expect(catcher.caught.map((hook) => hook.body)).toEqual([body, body]);
    const final = await harness.delivery(id);
    expect(final).toMatchObject({ state: 'delivered', headers: {} });
    expect(JSON.parse(final.body)).toEqual({ event: 'transcript', source: 'ws', data: {} });
  });

  it('keeps what was said for an account that wants it', async () => {
    const catcher = await catchWith();
    const body = JSON.stringify({ event: 'transcript', source: 'ws', data: { text: 'hello' } });
    const [id = ''] = await harness.accept({ url: catcher.url, body, keepTranscripts: true });
    await play();
    expect(await harness.delivery(id)).toMatchObject({ state: 'delivered', body });
  });

  it('accepted twice is made once', async () => {
    const catcher = await catchWith();
    const deliveryId = randomUUID();
    await harness.accept({ deliveryId, url: catcher.url });
    await play();
    await harness.accept({ deliveryId, url: catcher.url });
    await play();
    expect(catcher.caught).toHaveLength(1);
    expect((await harness.attempts(deliveryId)).length).toBe(1);
  });

  it('attempted by two at once is recorded once, and neither is tried again', async () => {
    const catcher = await catchWith(() => ({ status: 200, delayMs: 50 }));
    const deliveryId = randomUUID();
    for (const sourceId of [randomUUID(), randomUUID()])
      await harness.accept({ deliveryId, sourceId, url: catcher.url });
    await play();
    expect(catcher.caught).toHaveLength(2);
    expect(await harness.attempts(deliveryId)).toHaveLength(1);
    expect(await harness.delivery(deliveryId)).toMatchObject({ state: 'delivered', attempts: 1 });
    expect((await database.db.query('select * from outbox')).rowCount).toBe(0);
  });

  it('is deleted with its attempts when it is old and final, in batches', async () => {
    const catcher = await catchWith();
    const ids = await harness.accept(
      ...Array.from({ length: 3 }, () => ({ url: catcher.url, sourceId: randomUUID() })),
    );
    await play();
    clock.advance(90 * 86_400_000 + 1);
    const [young = ''] = await harness.accept({ url: catcher.url, signingKeyId: KNOWN_KEY_ID });
    await play();
    const [pending = ''] = await harness.accept({ url: catcher.url, createdAtMs: START_MS });
    const retention = createDeliveryRetention({ db: database.db, clock, retentionDays: 90 });
    expect(await retention.run()).toBe(3);
    expect(await harness.attempts(ids[0] ?? '')).toEqual([]);
    expect([(await harness.delivery(young)).state, (await harness.delivery(pending)).state]).toEqual([
      'delivered',
      'pending',
    ]);
  });
});
