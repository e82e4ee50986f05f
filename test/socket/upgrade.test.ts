import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../_util/index.ts';
import { Client, refusedUpgrade } from './client.ts';
import { DRIVERS, socketWorld } from './world.ts';
import type { SocketWorld } from './world.ts';

/** Sends raw bytes and answers what came until the peer closed. */
export async function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setTimeout(15_000, () => socket.destroy(new Error(`no end after: ${answer}`)));
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

const HEAD = [
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
];

const request = (key: string, lines: readonly string[], head: readonly string[] = HEAD): string =>
  [`GET /carrier/ws?api_key=${key} HTTP/1.1`, ...head, ...lines, '', ''].join('\r\n');

for (const driver of DRIVERS)
  describe(`the upgrade by ${driver}`, () => {
    let world: SocketWorld;
    let account: Awaited<ReturnType<SocketWorld['createAccount']>>;
    beforeAll(async () => {
      world = await socketWorld({ driver, maxSessions: 2 });
      account = await world.createAccount();
    });
    afterAll(() => world.close());

    const general = (): string => `${world.wsUrl}/carrier/ws`;
    const bearer = (key: string): { headers: Record<string, string> } => ({
      headers: { authorization: `Bearer ${key}` },
    });

    it('takes the key by header or by query', async () => {
      for (const open of [
        () => Client.open(general(), bearer(account.detectionKey)),
        () => Client.open(`${general()}?x=1&api_key=${account.detectionKey}`),
      ]) {
        const client = await open();
        await client.settled();
        client.terminate();
        await client.closed;
      }
    });

    it.each([
      ['missing', () => ({})],
      ['empty', () => ({ headers: { authorization: 'Bearer ' } })],
      ['of another scheme', () => ({ headers: { authorization: `Basic ${account.detectionKey}` } })],
      ['malformed', () => bearer('tgd_nonsense')],
      ['unknown', () => bearer(`${account.detectionKey.slice(0, -8)}AAAAAAAA`)],
      ['very long', () => bearer('x'.repeat(4_000))],
    ])('answers 401 when the key is %s', async (_name, options) => {
      const refused = await refusedUpgrade(general(), options());
      expect(refused.status).toBe(401);
      expect(refused.body).toMatchObject({ status: 401, instance: '/carrier/ws' });
      expect(refused.body['type']).toMatch(/\/unauthorized$/);
      expect(refused.headers['x-request-id']).toBe(refused.body['request_id']);
    });

    it('prefers the header to the query', async () => {
      const url = `${general()}?api_key=${account.detectionKey}`;
      expect((await refusedUpgrade(url, bearer('tgd_nonsense'))).status).toBe(401);
    });

    it('answers with the request id that was sent', async () => {
      const refused = await refusedUpgrade(general(), { headers: { 'x-request-id': 'mine-1' } });
      expect(refused.headers['x-request-id']).toBe('mine-1');
    });

    it('answers 401 for revoked and expired keys', async () => {
      const { caller } = await world.createAccount();
      const revoked = await world.keys.create(caller, {});
      await world.keys.revoke(caller, revoked.keyId);
      const expired = await world.keys.create(caller, { expiresInSeconds: 300 });
      await world.db.query("update detection_keys set expires_at = now() - interval '1 s' where id = $1", [
        expired.keyId,
      ]);
      for (const key of [revoked, expired])
        expect((await refusedUpgrade(general(), bearer(key.apiKey))).status).toBe(401);
    });

    it('answers 402 without funds, and takes the key again when funds are added', async () => {
      const poor = await world.createAccount({ funds: '0' });
      const refused = await refusedUpgrade(general(), bearer(poor.detectionKey));
      expect(refused.status).toBe(402);
      expect(refused.body['type']).toMatch(/payment-required$/);
      await world.accounts.addFunds(poor.teamId, 1_000_000n);
      const client = await until(() => Client.open(general(), bearer(poor.detectionKey)).catch(() => null));
      client.terminate();
      await client.closed;
    });

    it('answers 403 when detection is off for the account', async () => {
      const off = await world.createAccount();
      await world.accounts.setFlags(off.teamId, { detection: false });
      expect((await refusedUpgrade(general(), bearer(off.detectionKey))).status).toBe(403);
    });

    it('hears of a revocation at once, not after the cache', async () => {
      const { caller } = await world.createAccount();
      const made = await world.keys.create(caller, {});
      const client = await Client.open(general(), bearer(made.apiKey));
      client.terminate();
      await client.closed;
      await world.keys.revoke(caller, made.keyId);
      await until(async () => {
        const again = new Client(general(), bearer(made.apiKey));
        const { code } = await Promise.race([
          again.closed,
          again.settled().then(
            () => ({ code: 0 }),
            () => ({ code: 1006 }),
          ),
        ]);
        again.terminate();
        return code === 1006;
      }, 10_000);
    });

    it('answers 503 above the socket limit and session_cap above the session limit', async () => {
      const options = bearer(account.detectionKey);
      await until(() => world.gateway.openSockets === 0);
      const clients = [];
      for (let i = 0; i < 4; i++) clients.push(await Client.open(general(), options));
      const refused = await refusedUpgrade(general(), options);
      expect(refused.status).toBe(503);
      const [first, second, third] = clients as [Client, Client, Client];
      for (const client of [first, second]) {
        client.send({ type: 'welcome' });
        await client.waitFor('ready');
      }
      third.send({ type: 'welcome', payload: { call_id: 'late' } });
      expect((await third.waitFor('error')).payload).toMatchObject({
        code: 'session_cap',
        recoverable: true,
        call_id: 'late',
      });
      first.send({ command: 'stop' });
      await first.closed;
      third.send({ type: 'welcome' });
      await third.waitFor('ready');
      for (const client of clients) client.terminate();
      await Promise.all(clients.map((client) => client.closed));
      await until(() => world.gateway.openSockets === 0);
    });

    it("answers session_cap above the account's own limit, and lets other accounts in", async () => {
      const small = await world.createAccount({ concurrentSessions: 1 });
      const clients = [];
      for (let i = 0; i < 2; i++) clients.push(await Client.open(general(), bearer(small.detectionKey)));
      const [first, second] = clients as [Client, Client];
      first.send({ type: 'welcome' });
      await first.waitFor('ready');
      second.send({ type: 'welcome' });
      expect((await second.waitFor('error')).payload['code']).toBe('session_cap');
      const other = await Client.open(general(), bearer(account.detectionKey));
      other.send({ type: 'welcome' });
      await other.waitFor('ready');
      for (const client of [first, second, other]) client.terminate();
      await until(() => world.gateway.openSockets === 0);
    });

    it('serves /healthz and nothing else over plain HTTP', async () => {
      const base = `http://127.0.0.1:${world.port}`;
      const health = await fetch(`${base}/healthz`);
      expect([health.status, await health.text()]).toEqual([200, '{"status":"ok"}']);
      expect((await fetch(`${base}/healthz`, { method: 'POST', body: 'x' })).status).toBe(405);
      expect((await fetch(`${base}/carrier/ws`)).status).toBe(404);
      expect((await refusedUpgrade(`${world.wsUrl}/other`)).status).toBe(404);
    });

    it.each([
      ['no Host', []],
      ['an empty Host', ['Host: ']],
      ['two Hosts', ['Host: a', 'Host: b']],
      ['a Content-Length', ['Host: a', 'Content-Length: 0']],
      ['two Content-Lengths', ['Host: a', 'Content-Length: 0', 'Content-Length: 0']],
      ['a Transfer-Encoding', ['Host: a', 'Transfer-Encoding: chunked']],
      ['two Authorizations', ['Host: a', 'Authorization: Bearer x', 'Authorization: Bearer y']],
    ])('refuses an upgrade with %s', async (_name, lines) => {
      const answer = await raw(world.port, request(account.detectionKey, lines));
      // Either the parser itself refuses it, or we do; never 101.
      expect(answer).toMatch(/^HTTP\/1\.1 (400|503|404)|^$/);
      expect(answer).not.toContain('HTTP/1.1 101');
      expect((await fetch(`http://127.0.0.1:${world.port}/healthz`)).status).toBe(200);
    });

    it('refuses another version of the protocol with 426', async () => {
      const head = HEAD.map((line) => line.replace('Version: 13', 'Version: 8'));
      const answer = await raw(world.port, request(account.detectionKey, ['Host: a'], head));
      expect(answer).toMatch(/^HTTP\/1\.1 426/);
      expect(answer.toLowerCase()).toContain('sec-websocket-version: 13');
    });
  });
