import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catchWebhooks, until } from '../_util/index.ts';
import { silence } from './audio.ts';
import { Client, expectSchema } from './client.ts';
import { AdvancedClock, DRIVERS, socketWorld } from './world.ts';
import type { SocketWorld } from './world.ts';

/** What only the general route has: answers on the socket. */
for (const driver of DRIVERS)
  describe(`the general route by ${driver}`, () => {
    const clock = new AdvancedClock();
    let world: SocketWorld;
    let account: Awaited<ReturnType<SocketWorld['createAccount']>>;
    beforeAll(async () => {
      world = await socketWorld({ driver, clock });
      account = await world.createAccount();
    });
    afterAll(() => world.close());

    const open = (detectionKey = account.detectionKey): Promise<Client> =>
      Client.open(`${world.wsUrl}/carrier/ws`, { headers: { authorization: `Bearer ${detectionKey}` } });
    const welcome = (client: Client, payload: Record<string, unknown> = {}): void =>
      client.send({ type: 'welcome', payload: { audio_encoding: 'mulaw', ...payload } });
    const end = async (client: Client): Promise<void> => {
      client.terminate();
      await client.closed;
      expect(client.faults).toEqual([]);
    };

    it('takes the defaults of the contract from an empty welcome, and from one without payload', async () => {
      for (const frame of [{ type: 'welcome', payload: {} }, { type: 'welcome' }]) {
        const client = await open();
        client.send(frame);
        expect((await client.waitFor('ready')).payload).toMatchObject({
          strategy: 'standard',
          audio_encoding: 'pcm16',
          sample_rate_hz: 8000,
          detection_timeout_sec: 45,
        });
        await end(client);
      }
    });

    it('takes every encoding at both rates', async () => {
      for (const audio_encoding of ['pcm16', 'mulaw', 'alaw'])
        for (const sample_rate_hz of [8000, 16000]) {
          const client = await open();
          client.send({ type: 'welcome', payload: { audio_encoding, sample_rate_hz, unknown_field: 1 } });
          await client.waitFor('ready');
          const bytesPerSec = sample_rate_hz * (audio_encoding === 'pcm16' ? 2 : 1);
          const quiet = { pcm16: 0, mulaw: 0xff, alaw: 0xd5 }[audio_encoding];
          client.binary(new Uint8Array(bytesPerSec).fill(quiet ?? 0));
          client.send({ command: 'stop' });
          expect((await client.waitFor('close')).payload['duration_ms']).toBe(1_000);
          await end(client);
        }
    });

    it('answers pings in order and does not extend the window by them', async () => {
      const client = await open();
      for (let i = 0; i < 3; i++) {
        clock.advance(18_000);
        await client.settled();
      }
      clock.advance(18_000);
      expect((await client.closed).code).toBe(1001);
    });

    it('sends a pong after every event of the audio before it', async () => {
      const client = await open();
      welcome(client);
      client.binary(silence(5_000));
      client.send({ type: 'ping' });
      await client.waitFor('pong');
      expect(client.names()).toContain('detection');
      expect(client.names().at(-1)).toBe('pong');
      await end(client);
    });

    it('takes one session after the other with keep_alive, each with its own id and no memory', async () => {
      const client = await open();
      for (let i = 1; i <= 3; i++) {
        welcome(client, { keep_alive: true, call_id: `call-${i}` });
        client.binary(silence(1_000 * i));
        client.send({ command: 'stop' });
        await client.waitFor('stopped', i);
      }
      expect(client.names().filter((name) => name === 'ready')).toHaveLength(3);
      expect(client.events('close').map((frame) => frame.payload['duration_ms'])).toEqual([
        1_000, 2_000, 3_000,
      ]);
      expect(new Set(client.events('ready').map((frame) => frame.payload.session_id)).size).toBe(3);
      expect(client.events('close')[2]?.payload['call_id']).toBe('call-3');
      await client.settled();
      clock.advance(61_000);
      expect((await client.closed).code).toBe(1001);
    });

    it('calls audio and commands between sessions by their names', async () => {
      const client = await open();
      welcome(client, { keep_alive: true });
      client.send({ command: 'stop' });
      await client.waitFor('stopped');
      client.binary(silence(20));
      client.send({ command: 'stop' });
      client.send({ command: 'answered' });
      client.text('x');
      await client.settled();
      expect(client.events('error').map((frame) => frame.payload['code'])).toEqual([
        'audio_before_ready',
        'not_started',
        'not_started',
        'unknown_command',
      ]);
      expect(client.events('error').every((frame) => frame.payload['recoverable'] === true)).toBe(true);
      await end(client);
    });

    it('calls audio after a refused welcome audio_before_ready', async () => {
      const client = await open();
      welcome(client, { sample_rate_hz: 44_100 });
      client.binary(silence(20));
      await client.settled();
      expect(client.events('error').map((frame) => frame.payload['code'])).toEqual([
        'invalid_welcome',
        'audio_before_ready',
      ]);
      await end(client);
    });

    it.each([
      ['audio_encoding', { audio_encoding: 'mp3' }],
      ['sample_rate_hz', { sample_rate_hz: '8000' }],
      ['strategy', { strategy: 1 }],
      ['call_id', { call_id: 7 }],
      ['call_id', { call_id: 'a\u0000b' }],
      ['call_id', { call_id: '\ud800' }],
      ['call_id', { call_id: 'x'.repeat(257) }],
      ['detection_timeout_sec', { detection_timeout_sec: 0 }],
      ['detection_timeout_sec', { detection_timeout_sec: 301 }],
      ['detection_timeout_sec', { detection_timeout_sec: 4.5 }],
      ['detection_timeout_sec', { detection_timeout_sec: '45' }],
      ['keep_alive', { keep_alive: 'yes' }],
      ['webhook', { webhook: 'https://example.com' }],
      ['webhook.events', { webhook: { url: 'https://example.com/', events: ['ready', 'nonsense'] } }],
      ['webhook.events', { webhook: { events: 'ready' } }],
      ['webhook.headers', { webhook: { headers: { Host: 'x' } } }],
      ['webhook.headers', { webhook: { headers: { 'Content-Type': 'x' } } }],
      ['webhook.headers', { webhook: { headers: { 'transfer-encoding': 'x' } } }],
      ['webhook.headers', { webhook: { headers: { Connection: 'x' } } }],
      ['webhook.headers', { webhook: { headers: { 'X-Signature': 'x' } } }],
      ['webhook.headers', { webhook: { headers: { 'X-Fine': 'a\r\nb' } } }],
      ['webhook.headers', { webhook: { headers: { 'bad name': 'x' } } }],
      ['webhook.headers', { webhook: { headers: { 'X-Fine': 1 } } }],
    ])('names %s when it is wrong: %j', async (field, payload) => {
      const client = await open();
      welcome(client, payload);
      expect((await client.waitFor('error')).payload).toMatchObject({
        code: 'invalid_welcome',
        field,
        recoverable: true,
      });
      await end(client);
    });

    it('names payload when it is no object', async () => {
      const client = await open();
      client.send({ type: 'welcome', payload: [] });
      expect((await client.waitFor('error')).payload).toMatchObject({
        code: 'invalid_welcome',
        field: 'payload',
      });
      await end(client);
    });

    it.each([
      'not an address',
      'http://',
      'https://user:secret@example.com/',
      'gopher://example.com/',
      7,
      null,
    ])('closes with 1008 for webhook.url %j', async (url) => {
      const client = await open();
      welcome(client, { webhook: { url } });
      expect((await client.closed).code).toBe(1008);
    });

    it('starts the clocks again at answered', async () => {
      const client = await open();
      welcome(client, { strategy: 'live_check', detection_timeout_sec: 6 });
      client.binary(silence(5_500));
      client.send({ command: 'answered' });
      client.binary(silence(5_500));
      await client.settled();
      expect(client.events('detection')).toHaveLength(0);
      client.binary(silence(1_000));
      expect((await client.waitFor('detection')).payload).toMatchObject({ type: 'silence', is_final: true });
      await end(client);
    });

    it('posts every event of the socket, in order, with its headers, to the webhook', async () => {
      const catcher = await catchWebhooks();
      const client = await open();
      welcome(client, { call_id: 'c-9', webhook: { url: catcher.url, headers: { 'X-Tenant': 'blue' } } });
      client.binary(silence(5_000));
      client.text('nonsense');
      client.send({ command: 'stop' });
      await client.closed;
      const caught = await catcher.waitFor(client.frames.length);
      const bodies = caught.map((hook) => JSON.parse(hook.body) as Record<string, unknown>);
      bodies.forEach((body) => expectSchema('delivery', body));
      bodies.sort((a, b) => Number(a['sequence']) - Number(b['sequence']));
      expect(bodies.map((body) => body['event'])).toEqual(client.names());
      client.frames.forEach((frame, i) => {
        const { session_id, call_id, ...data } = frame.payload;
        expect(bodies[i]).toMatchObject({ session_id, call_id, data, source: 'ws', sequence: i + 1 });
        expect(bodies[i]).not.toHaveProperty('platform_call_sid');
      });
      expect(caught.every((hook) => hook.headers['x-tenant'] === 'blue')).toBe(true);
      await catcher.close();
    });

    it('posts only the events that webhook.events selects', async () => {
      const catcher = await catchWebhooks();
      const client = await open();
      welcome(client, { webhook: { url: catcher.url, events: ['detection', 'stopped'] } });
      client.binary(silence(5_000));
      client.send({ command: 'stop' });
      await client.closed;
      await catcher.waitFor(1, (hook) => hook.headers['x-event'] === 'stopped');
      const names = new Set(catcher.caught.map((hook) => hook.headers['x-event']));
      expect(names).toEqual(new Set(['detection', 'stopped']));
      await catcher.close();
    });

    it('tells the webhook of a refused welcome too', async () => {
      const catcher = await catchWebhooks();
      const client = await open();
      welcome(client, { strategy: 'x', webhook: { url: catcher.url } });
      const [hook] = await catcher.waitFor(1);
      expect(JSON.parse(hook?.body ?? '')).toMatchObject({
        event: 'error',
        data: { code: 'invalid_welcome' },
      });
      await end(client);
      await catcher.close();
    });

    it('runs on when the key is revoked in mid-call, and refuses the next welcome of the socket', async () => {
      const other = await world.createAccount();
      const made = await world.keys.create(other.caller, {});
      const client = await open(made.apiKey);
      welcome(client, { keep_alive: true });
      await client.waitFor('ready');
      await world.keys.revoke(other.caller, made.keyId);
      client.binary(silence(5_000));
      await client.waitFor('detection');
      client.send({ command: 'stop' });
      await client.waitFor('stopped');
      clock.advance(16_000);
      welcome(client, { keep_alive: true });
      expect((await client.waitFor('error')).payload).toMatchObject({
        code: 'unauthorized',
        recoverable: false,
      });
      expect((await client.closed).code).toBe(1008);
    });

    it('runs on when the funds end in mid-call, and refuses the next welcome', async () => {
      const poor = await world.createAccount({ funds: '0.0001' });
      const client = await open(poor.detectionKey);
      welcome(client, { keep_alive: true });
      client.binary(silence(7_000));
      client.send({ command: 'stop' });
      await client.waitFor('stopped');
      await world.gateway.journal.flush(10_000);
      await until(async () => (await world.ledger.balance(poor.teamId)).balanceMicros < 0n);
      // The news of the funds travels by notification; until it is there a welcome is taken.
      const isRefused = (): boolean =>
        client.events('error').some((frame) => frame.payload['code'] === 'payment_required');
      for (let sessions = 1; !isRefused(); sessions++) {
        welcome(client, { keep_alive: true });
        client.send({ command: 'stop' });
        await until(() => isRefused() || client.events('stopped').length > sessions);
      }
      expect((await client.closed).code).toBe(1008);
    });

    it('ends the log of a session whose client vanishes', async () => {
      const lonely = await world.createAccount();
      const client = await open(lonely.detectionKey);
      welcome(client);
      client.binary(silence(5_000));
      await client.waitFor('detection');
      client.terminate();
      await until(async () =>
        (await world.sessions.list(lonely.caller)).some((one) => one.state === 'ended'),
      );
      const [session] = await world.sessions.list(lonely.caller);
      expect(session).toMatchObject({ endReason: 'disconnected', verdict: 'silence', verdictFinal: true });
    });
  });
