import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Scope } from '../../src/kernel/caller.ts';
import { catchWebhooks, until } from '../_util/index.ts';
import type { Catcher, TestAccount } from '../_util/index.ts';
import { AcceptWorld } from './accept.world.ts';
import type { Loose } from './accept.world.ts';

const CODE = 3007;
const MINUTE_MS = 60_000;

let world: AcceptWorld;
let receiver: Catcher;
let owner: TestAccount;

beforeAll(async () => {
  world = await AcceptWorld.start();
  receiver = await catchWebhooks();
  owner = await world.account();
});
afterAll(async () => {
  await receiver.close();
  await world.close();
});
// What one test used up of the quotas is there again.
beforeEach(() => world.clock.advance(MINUTE_MS));

const SCOPE_OF = { '/rvm': 'rvm:send', '/sms': 'sms:send', '/voice-broadcast': 'voice:send' } as const;

async function keyWith(scopes: readonly Scope[]): Promise<{ key: string; secret: string }> {
  return world.accounts.services.apiKeys.create(owner.caller, { scopes: [...scopes] });
}

/** Asks with these headers and waits for the callback. */
async function refused(headers: Record<string, string>, path = '/sms'): Promise<Loose> {
  const before = await world.sends(owner.teamId);
  const ends = world.ends.length;
  const foreignId = `${Math.random()}`;
  const body = { to: '+15550020001', body: 'Hello.', foreign_id: foreignId, callback_url: receiver.url };
  const answer = await world.request('POST', path, { headers, body });
  expect(answer.status).toBe(202);
  expect(answer.body).toEqual({ status: 'queued', message_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  const [hook] = await receiver.waitFor(1, ({ body: sent }) => sent.includes(foreignId));
  await until(() => world.ends.length > ends);
  expect(await world.sends(owner.teamId)).toEqual(before);
  const seen = await world.request('GET', `/sends/${answer.body.message_id}`, { as: owner });
  expect(seen.status).toBe(404);
  return { ...JSON.parse(hook?.body ?? 'null'), foreignId, headers: hook?.headers };
}

describe('no credential at all', () => {
  it.each(Object.keys(SCOPE_OF).concat('/ai-broadcast'))(
    'is 401 on %s, and nothing is reported',
    async (path) => {
      const ends = world.ends.length;
      const body = { to: '+15550020001', callback_url: receiver.url };
      const answer = await world.request('POST', path, { body });
      expect(answer.status).toBe(401);
      expect(answer.body.type).toMatch(/\/unauthorized$/);
      expect(world.ends).toHaveLength(ends);
    },
  );
});

describe('a refused credential is answered like any other and told to callback_url:', () => {
  it('an unknown key', async () => {
    const { foreignId, headers, drop_id, session_id, log_id, attempt_date, ...told } = await refused({
      ...{ 'x-key': 'tg_nobody', 'x-secret': 'tgs_nothing' },
    });
    expect(told).toEqual({
      ...{ team_id: null, contact_id: null, phone_number: '+15550020001' },
      ...{ caller_id: null, product_code: 'sms', status: 'failure', reason: 'invalid_credential' },
      ...{ reason_code: CODE, quantity: 0, product_cost: 0, compliance_fee: 0, tts_fee: 0, dnc: false },
      ...{ foreign_id: foreignId, proof_of_delivery_url: null },
    });
    for (const id of [drop_id, session_id, log_id]) expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set([drop_id, session_id, log_id]).size).toBe(3);
    expect(Date.parse(attempt_date)).toBe(world.clock.nowMs());
    expect(headers['content-type']).toBe('application/json');
    expect(Object.keys(headers).filter((name) => name.includes('signature'))).toEqual([]);
  });

  it('a wrong secret', async () => {
    const told = await refused({ 'x-key': owner.key, 'x-secret': (await world.account()).secret });
    expect(told.reason_code).toBe(CODE);
  });

  it('half a pair, either half, and with a bearer token beside it', async () => {
    expect((await refused({ 'x-key': owner.key })).reason_code).toBe(CODE);
    expect((await refused({ 'x-secret': owner.secret })).reason_code).toBe(CODE);
    expect((await refused({ 'x-key': owner.key, authorization: 'Bearer x' })).reason_code).toBe(CODE);
  });

  it('an empty header, and a scheme that is not ours', async () => {
    expect((await refused({ 'x-key': '' })).reason_code).toBe(CODE);
    expect((await refused({ authorization: 'Basic YTpi' })).reason_code).toBe(CODE);
  });

  it('a bearer token of nobody', async () => {
    const token = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.';
    expect((await refused({ authorization: `Bearer ${token}` })).reason_code).toBe(CODE);
  });

  it('a site token', async () => {
    const { authenticator, siteTokens } = world.accounts.services;
    const { token } = await siteTokens.mint(await authenticator.authenticate(owner), { scope: 'campaigns' });
    expect((await refused({ authorization: `Bearer ${token}` })).reason_code).toBe(CODE);
  });

  it('an access token for another audience', async () => {
    const { signingKeys, oauthClients } = world.accounts.services;
    const client = await oauthClients.create(owner.caller, { name: 'Machine', scopes: ['sms:send'] });
    const claims = {
      sub: client.clientId,
      client_id: client.clientId,
      team_id: owner.teamId,
      scope: 'sms:send',
    };
    const { addresses } = world.accounts.services;
    const token = (audience: string) =>
      signingKeys.sign(claims, {
        ...{ typ: 'at+jwt', issuer: addresses.authUrl(), audience },
        expiresAtMs: world.clock.nowMs() + MINUTE_MS,
      });
    const right = await token(addresses.publicUrl());
    await world.taken('/sms', { headers: { authorization: `Bearer ${right}` }, body: { n: 1 } });
    const told = await refused({ authorization: `Bearer ${await token('https://other.example')}` });
    expect(told.reason_code).toBe(CODE);
  });

  it.each(Object.entries(SCOPE_OF))('a key without the scope of %s', async (path, scope) => {
    const others = Object.values(SCOPE_OF).filter((one) => one !== scope);
    const { key, secret } = await keyWith(others);
    expect((await refused({ 'x-key': key, 'x-secret': secret }, path)).reason_code).toBe(CODE);
    const right = await keyWith([scope]);
    await world.taken(path, { as: right, body: { n: 1 } });
  });

  it('a deleted, an expired and a suspended key, and one of a suspended account', async () => {
    const { apiKeys } = world.accounts.services;
    const { db } = world.database;
    const deleted = await apiKeys.create(owner.caller, {});
    await apiKeys.delete(owner.caller, deleted.keyId);
    const expired = await apiKeys.create(owner.caller, {});
    await db.query(`update api_keys set expires_at = now() - interval '1 day' where id = $1`, [
      expired.keyId,
    ]);
    const suspended = await apiKeys.create(owner.caller, {});
    await db.query('update api_keys set suspended = true where id = $1', [suspended.keyId]);
    const away = await world.account();
    await db.query('update teams set suspended = true where id = $1', [away.teamId]);
    for (const { key, secret } of [deleted, expired, suspended, away])
      expect((await refused({ 'x-key': key, 'x-secret': secret })).reason_code).toBe(CODE);
  });
});

describe('a report', () => {
  const wrong = { 'x-key': 'tg_nobody', 'x-secret': 'x' };
  const ask = (body: unknown, headers: Record<string, string> = {}) =>
    world.request('POST', '/sms', { headers: { ...wrong, ...headers }, body });

  it('names no number that is none, and no reference that is too long', async () => {
    const { caught } = receiver;
    const before = caught.length;
    const ends = world.ends.length;
    await ask({ to: 'x'.repeat(200_000), foreign_id: 'y'.repeat(256), callback_url: receiver.url });
    await receiver.waitFor(before + 1);
    await until(() => world.ends.length > ends);
    const told = JSON.parse(caught.at(-1)?.body ?? 'null');
    expect(told).toMatchObject({ phone_number: null, foreign_id: null, reason_code: CODE });
  });

  it.each([[[]], ['"text"'], [{}], [{ callback_url: 7 }], [{ callback_url: 'nowhere' }]])(
    'is not made without an address (%j)',
    async (body) => {
      const ends = world.ends.length;
      expect((await ask(body)).status).toBe(202);
      expect(world.ends.slice(ends)).toEqual(['no_address']);
    },
  );

  it('is posted once, whatever the receiver answers', async () => {
    const broken = await catchWebhooks(() => ({ status: 500 }));
    const redirect = await catchWebhooks(() => ({ status: 307, headers: { location: broken.url } }));
    const hangup = await catchWebhooks(() => 'hangup');
    const catchers = [broken, redirect, hangup];
    const ends = world.ends.length;
    for (const [n, { url }] of catchers.entries())
      await ask({ callback_url: url }, { 'x-forwarded-for': `192.0.2.${n}` });
    await until(() => world.ends.length === ends + catchers.length);
    expect(world.ends.slice(ends).sort()).toEqual(['answered', 'answered', 'failed']);
    expect(catchers.map(({ caught }) => caught.length)).toEqual([1, 1, 1]);
    await Promise.all(catchers.map((catcher) => catcher.close()));
  });

  it('goes ten times a minute for one source, wherever it sends them, and one source has one /64', async () => {
    const ends = world.ends.length;
    const from = (n: number) => ({ 'x-forwarded-for': `2001:db8:7:7::${n.toString(16)}` });
    // Names of this machine: each its own host.
    const to = (n: number) => receiver.url.replace('127.0.0.1', `127.0.0.${1 + (n % 100)}`);
    for (let n = 1; n <= 30; n += 1) expect((await ask({ callback_url: to(n) }, from(n))).status).toBe(202);
    await until(() => world.ends.length === ends + 30);
    expect(world.ends.slice(ends).filter((end) => end === 'source')).toHaveLength(20);
    world.clock.advance(MINUTE_MS - 1);
    await ask({ callback_url: to(1) }, from(1));
    expect(world.ends.at(-1)).toBe('source');
    world.clock.advance(1);
    await ask({ callback_url: receiver.url }, from(1));
    await until(() => world.ends.at(-1) === 'answered');
  });

  it('goes ten times a minute to one host, whoever asks and however it is written', async () => {
    const ends = world.ends.length;
    const { port } = new URL(receiver.url);
    const ways = [
      `http://127.0.0.1:${port}/a`,
      `http://0x7f000001:${port}/b?c`,
      `http://2130706433:${port}/`,
    ];
    for (let n = 0; n < 30; n += 1)
      await ask({ callback_url: ways[n % ways.length] }, { 'x-forwarded-for': `192.0.2.${n}` });
    await until(() => world.ends.length === ends + 30);
    expect(world.ends.slice(ends).filter((end) => end === 'answered')).toHaveLength(10);
    expect(world.ends.slice(ends).filter((end) => end === 'host')).toHaveLength(20);
  });

  it('goes a hundred times a second in all', async () => {
    const ends = world.ends.length;
    for (let n = 0; n < 130; n += 1) {
      const headers = { 'x-forwarded-for': `198.51.100.${n}` };
      await ask({ callback_url: receiver.url.replace('127.0.0.1', `127.0.1.${n}`) }, headers);
    }
    await until(() => world.ends.length === ends + 130);
    expect(world.ends.slice(ends).filter((end) => end === 'rate')).toHaveLength(30);
  });

  it('is never posted to an address that is not public', async () => {
    const strict = await AcceptWorld.start({ allowPrivateTargets: false });
    try {
      const before = receiver.caught.length;
      const { port } = new URL(receiver.url);
      for (const url of [receiver.url, `https://127.0.0.1:${port}/`, `https://[::1]:${port}/`]) {
        const answer = await strict.request('POST', '/sms', { headers: wrong, body: { callback_url: url } });
        expect(answer.status).toBe(202);
      }
      await until(() => strict.ends.length === 3);
      expect(strict.ends).toEqual(['no_address', 'no_address', 'no_address']);
      expect(receiver.caught).toHaveLength(before);
    } finally {
      await strict.close();
    }
  });
});
