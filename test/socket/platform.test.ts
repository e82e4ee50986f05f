import twilio from 'twilio';
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catchWebhooks, until } from '../_util/index.ts';
import type { Catcher } from '../_util/index.ts';
import { silence } from './audio.ts';
import { Client, expectSchema, refusedUpgrade } from './client.ts';
import { mediaFrame, startFrame, STREAM } from './dialects.ts';
import { DRIVERS, socketWorld } from './world.ts';
import type { SocketWorld } from './world.ts';

const TOKEN = 'the-account-token-of-the-platform';

/** As the platform signs a stream: no parameters beside the address. */
const sign = (address: string, token = TOKEN): string => {
  const signature = createHmac('sha1', token).update(address).digest('base64');
  // The platform's own validator agrees with what is made here.
  expect(twilio.validateRequest(token, signature, address, {})).toBe(true);
  return signature;
};

/** What only the platform route has: its signature, its frames, its ids. */
for (const driver of DRIVERS)
  describe(`the platform route by ${driver}`, () => {
    let world: SocketWorld;
    let account: Awaited<ReturnType<SocketWorld['createAccount']>>;
    let signed: Awaited<ReturnType<SocketWorld['createAccount']>>;
    let catcher: Catcher;
    beforeAll(async () => {
      world = await socketWorld({ driver });
      account = await world.createAccount();
      signed = await world.createAccount();
      await world.accounts.setPlatformToken(signed.teamId, TOKEN);
      catcher = await catchWebhooks();
    });
    afterAll(async () => {
      await catcher.close();
      await world.close();
    });

    const open = (signature = 'any', path = '/carrier/ws/twilio'): Promise<Client> =>
      Client.open(world.wsUrl + path, { headers: { 'X-Twilio-Signature': signature } });

    const bodies = (callId: string): Array<Record<string, unknown>> =>
      catcher.caught
        .map((hook) => JSON.parse(hook.body) as Record<string, unknown>)
        .filter((body) => body['call_id'] === callId);

    it.each(['/carrier/ws/twilio', '/carrier/ws/platform'])(
      'answers 403 on %s without the signature',
      async (path) => {
        expect((await refusedUpgrade(world.wsUrl + path)).status).toBe(403);
        const empty = await refusedUpgrade(world.wsUrl + path, { headers: { 'X-Twilio-Signature': '' } });
        expect(empty.status).toBe(403);
        expect(empty.body['type']).toMatch(/forbidden$/);
      },
    );

    it('needs no key at the upgrade and answers by webhook only, with the ids of the stream', async () => {
      const client = await open('any', '/carrier/ws/platform');
      client.send({ event: 'connected' });
      client.send(
        startFrame({
          api_key: account.detectionKey,
          webhook_url: catcher.url,
          webhook_events: ' ready, stopped ',
        }),
      );
      client.send(mediaFrame(silence(1_000), 0));
      client.send({
        event: 'dtmf',
        streamSid: STREAM.streamSid,
        dtmf: { track: 'inbound_track', digit: '1' },
      });
      client.send({ event: 'mark', streamSid: STREAM.streamSid, mark: { name: 'm' } });
      client.send({ event: 'stop', streamSid: STREAM.streamSid, stop: STREAM });
      expect(await client.closed).toEqual({ code: 1000, reason: 'stop' });
      expect(client.frames).toEqual([]);
      await catcher.waitFor(1, (hook) => hook.headers['x-event'] === 'stopped');
      const mine = bodies(STREAM.callSid);
      expect(new Set(mine.map((body) => body['event']))).toEqual(new Set(['ready', 'stopped']));
      for (const body of mine) {
        expectSchema('delivery', body);
        expect(body).toMatchObject({
          source: 'platform',
          platform_call_sid: STREAM.callSid,
          platform_account_sid: STREAM.accountSid,
          platform_stream_sid: STREAM.streamSid,
          twilio_call_sid: STREAM.callSid,
          twilio_account_sid: STREAM.accountSid,
          twilio_stream_sid: STREAM.streamSid,
        });
      }
    });

    it('drops other tracks than inbound and places chunks by media.timestamp', async () => {
      const client = await open();
      client.send(startFrame({ api_key: account.detectionKey, webhook_url: catcher.url, call_id: 'tracks' }));
      client.send(mediaFrame(silence(1_000), 0));
      client.send(mediaFrame(silence(1_000), 0, 'outbound'));
      // A gap of a second in the media time.
      client.send(mediaFrame(silence(1_000), 2_000));
      client.send({ event: 'stop', streamSid: STREAM.streamSid, stop: STREAM });
      await client.closed;
      const close = await until(() => bodies('tracks').find((body) => body['event'] === 'close'));
      const data = close['data'] as Record<string, number>;
      expect(data['duration_ms']).toBeLessThanOrEqual(3_000);
      expect(data['duration_ms']).toBeGreaterThanOrEqual(2_000);
    });

    it.each([
      ['missing', {}],
      ['malformed', { api_key: 'nonsense' }],
      ['no text', { api_key: 7 }],
      ['unknown', { api_key: `tgd_${'A'.repeat(49)}` }],
    ])('closes with 1008 after start when the key is %s', async (_name, parameters) => {
      const client = await open();
      client.send(startFrame(parameters));
      expect((await client.closed).code).toBe(1008);
    });

    it('closes with 1008 when the account has no funds, or detection is off', async () => {
      const poor = await world.createAccount({ funds: '0' });
      const off = await world.createAccount();
      await world.accounts.setFlags(off.teamId, { detection: false });
      for (const { detectionKey } of [poor, off]) {
        const client = await open();
        client.send(startFrame({ api_key: detectionKey }));
        expect((await client.closed).code).toBe(1008);
      }
    });

    it.each(['nonsense', 'ftp://example.com/', 'https://u:p@example.com/'])(
      'closes with 1008 for webhook_url %s',
      async (webhook_url) => {
        const client = await open();
        client.send(startFrame({ api_key: account.detectionKey, webhook_url }));
        expect((await client.closed).code).toBe(1008);
      },
    );

    it('closes with 1003 for media before start', async () => {
      const client = await open();
      client.send({ event: 'connected' });
      client.send(mediaFrame(silence(20), 0));
      expect((await client.closed).code).toBe(1003);
    });

    it('names a media frame without payload by webhook and goes on', async () => {
      const client = await open();
      client.send(startFrame({ api_key: account.detectionKey, webhook_url: catcher.url, call_id: 'nopay' }));
      client.send({ event: 'media', media: { track: 'inbound', payload: 12 } });
      client.send({ event: 'media' });
      client.send({ event: 'media', media: null });
      const errors = await until(() => {
        const found = bodies('nopay').filter((body) => body['event'] === 'error');
        return found.length === 3 && found;
      });
      expect(errors.every((body) => (body['data'] as { code: string }).code === 'unknown_command')).toBe(
        true,
      );
      client.send({ event: 'stop' });
      expect((await client.closed).code).toBe(1000);
    });

    it.each([
      ['with the port', 'wss://calls.example.com:8081/carrier/ws/twilio'],
      ['without the port', 'wss://calls.example.com/carrier/ws/twilio'],
      ['with the port of the scheme', 'wss://calls.example.com:443/carrier/ws/twilio'],
    ])('verifies the signature of an account that stored its token, %s', async (_name, address) => {
      const client = await open(sign(address));
      client.send(startFrame({ api_key: signed.detectionKey, webhook_url: catcher.url, call_id: address }));
      await until(() => bodies(address).find((body) => body['event'] === 'ready'));
      client.send({ event: 'stop' });
      expect((await client.closed).code).toBe(1000);
    });

    it('verifies the address of the alias and that of the Host header', async () => {
      for (const [path, address] of [
        ['/carrier/ws/platform', 'wss://calls.example.com/carrier/ws/platform'],
        ['/carrier/ws/twilio', `wss://127.0.0.1:${world.port}/carrier/ws/twilio`],
      ] as const) {
        const client = await open(sign(address), path);
        client.send(startFrame({ api_key: signed.detectionKey }));
        client.send({ event: 'stop' });
        expect((await client.closed).code).toBe(1000);
      }
    });

    it.each([
      ['of another token', () => sign('wss://calls.example.com/carrier/ws/twilio', 'another-token')],
      ['of another address', () => sign('wss://other.example.com/carrier/ws/twilio')],
      ['of another path', () => sign('wss://calls.example.com/carrier/ws/platform')],
      ['that is nonsense', () => 'x'],
    ])('closes with 1008 after start for a signature %s', async (_name, make) => {
      const client = await open(make());
      client.send(startFrame({ api_key: signed.detectionKey }));
      expect((await client.closed).code).toBe(1008);
    });
  });
