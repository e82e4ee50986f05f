import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SITE_SCOPES } from '../../src/features/credentials/index.ts';
import type { Scope } from '../../src/kernel/caller.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { startApi, testDb } from '../_util/index.ts';
import type { TestAccount, TestApi, TestDb } from '../_util/index.ts';

const MINT = '/phone/public/embed/token';
const START_MS = Date.parse('2026-03-01T12:00:00.250Z');
const SMTP = { kind: 'smtp', name: 'Mail', settings: { host: '192.0.2.1', port: 25 } } as const;

describe('site tokens', () => {
  let database: TestDb;
  let api: TestApi;
  let account: TestAccount;
  let carrierId: string;
  const clock = new ManualClock(START_MS);

  beforeAll(async () => {
    database = await testDb();
    api = await startApi(database, { clock, env: { ALLOW_PRIVATE_TARGETS: 'true' } });
  });
  beforeEach(async () => {
    account = await api.account();
    carrierId = (await api.services.carriers.connect(account.caller, SMTP)).carrierId;
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  const mint = (body?: unknown, as: { key: string; secret: string } | { bearer: string } = account) =>
    api.request('POST', MINT, { as, body });
  const tokenFor = async (scope: string): Promise<string> => {
    const { data, status } = await mint({ scope });
    expect(status).toBe(201);
    return (data as { token: string }).token;
  };
  const statusOf = async (path: string, bearer: string): Promise<number> =>
    (await api.request('GET', path, { as: { bearer } })).status;
  /** A further key of the account. */
  const keyWith = (scopes: readonly Scope[]) => api.services.apiKeys.create(account.caller, { scopes });

  it('are minted for the dialer for an hour unless told otherwise', async () => {
    const answer = await mint();
    expect([answer.status, answer.data]).toEqual([
      201,
      {
        token: expect.any(String) as string,
        expires_at: Date.parse('2026-03-01T13:00:00Z'),
        jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        pool_id: carrierId,
      },
    ]);
    const claims = decodeJwt(answer.data.token as string);
    expect(claims).toMatchObject({
      jti: answer.data.jti,
      scope: 'dialer:webrtc',
      iss: api.url,
      aud: api.url,
    });
    expect((claims.exp ?? 0) * 1_000).toBe(answer.data.expires_at);
  });

  it('carry the site, the visitor and every scope that is asked for, as text or list, once each', async () => {
    const body = { site_id: 'shop', sub: 'visitor-17', scope: SITE_SCOPES.join('  '), ttl_seconds: 60 };
    const answer = await mint(body);
    const claims = decodeJwt(answer.data.token as string);
    expect(claims).toMatchObject({ site_id: 'shop', sub: 'visitor-17', scope: SITE_SCOPES.join(' ') });
    expect(answer.data.expires_at).toBe(Date.parse('2026-03-01T12:01:00Z'));
    const listed = await mint({ scope: ['media', 'voice', 'media'] });
    expect(decodeJwt(listed.data.token as string)['scope']).toBe('media voice');
  });

  it.each([
    { scope: '' },
    { scope: ' ' },
    { scope: [] },
    { scope: 'everything' },
    { scope: 'media everything' },
    { scope: ['media', 'everything'] },
    { scope: 'media,voice' },
    { scope: 5 },
    { scope: 'x'.repeat(10_000) },
    { ttl_seconds: 3_601 },
    { ttl_seconds: 0 },
    { ttl_seconds: -1 },
    { ttl_seconds: 1.5 },
    { ttl_seconds: '60' },
    { site_id: '' },
    { site_id: 'x'.repeat(256) },
    { sub: 'a\0b' },
    { sub: 17 },
  ])('are refused with 400 for %j', async (body) => {
    const answer = await mint(body);
    expect([answer.status, answer.body.type]).toEqual([400, expect.stringMatching(/validation-error$/)]);
  });

  it.each([{ scope: 'everything' }, { scope: [] }, { ttlSeconds: 3_601 }, { siteId: '' }, { sub: 5 }])(
    'are refused by the service itself for %j',
    async (input) => {
      await expect(api.services.siteTokens.mint(account.caller, input)).rejects.toMatchObject({
        code: 'validation-error',
      });
    },
  );

  it('need numbers:write', async () => {
    const key = await keyWith(['numbers:read', 'account:write']);
    const answer = await mint({ scope: 'media' }, key);
    expect([answer.status, answer.body.type]).toEqual([403, expect.stringMatching(/insufficient-scope$/)]);
  });

  it('are not minted by a site token', async () => {
    const bearer = await tokenFor('contacts');
    const answer = await mint({ scope: 'contacts' }, { bearer });
    expect(answer.status).toBe(403);
    const caller = await api.services.authenticator.authenticate({ bearer });
    await expect(api.services.siteTokens.mint(caller, {})).rejects.toMatchObject({ code: 'forbidden' });
  });

  it.each([
    ['contacts', ['contacts:read']],
    ['campaigns', ['campaigns:read', 'campaigns:send']],
    ['media', ['media:read']],
    ['voice', ['media:read']],
    ['detection', []],
    ['dialer:webrtc', []],
    ['phone:hub', []],
  ] as const)('of %s open %j, and are minted only by who holds that', async (scope, opened) => {
    const enough = await keyWith(['numbers:write', ...opened]);
    const answer = await mint({ scope }, enough);
    expect(answer.status).toBe(201);
    const caller = await api.services.authenticator.authenticate({ bearer: answer.data.token as string });
    expect(caller).toMatchObject({ kind: 'site_token', teamId: account.teamId, userId: account.ownerId });
    expect([...caller.scopes]).toEqual(opened);
    for (const missing of opened) {
      const less = await keyWith(['numbers:write', ...opened.filter((one) => one !== missing)]);
      const refused = await mint({ scope }, less);
      expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining(missing)]);
    }
  });

  it('of the dialer need a connected carrier, for which the simulator does not count; others need none', async () => {
    const { carriers } = api.services;
    await carriers.remove(account.caller, carrierId);
    await carriers.connect(account.caller, { kind: 'simulator', name: 'Simulator' });
    for (const scope of ['dialer:webrtc', 'phone:hub', 'media phone:hub']) {
      const answer = await mint({ scope });
      expect([answer.status, answer.body.type]).toEqual([403, expect.stringMatching(/byoc-required$/)]);
    }
    const other = await mint({ scope: 'media' });
    expect(other.status).toBe(201);
    expect(other.data).not.toHaveProperty('pool_id');
  });

  it('of the dialer need funds and a paid subscription; others need neither', async () => {
    const poor = await api.account({ funds: 0 });
    await api.services.carriers.connect(poor.caller, SMTP);
    const answer = await mint({}, poor);
    expect([answer.status, answer.body.type]).toEqual([402, expect.stringMatching(/payment-required$/)]);
    expect(answer.body).not.toHaveProperty('details');
    expect((await mint({ scope: 'media' }, poor)).status).toBe(201);
    await api.services.accounts.setFlags(account.teamId, { dunningTier: 'canceled' });
    const unpaid = await mint();
    expect([unpaid.status, unpaid.body.details]).toEqual([402, { dunning_tier: 'canceled' }]);
  });

  it('are not minted for an inactive account', async () => {
    await api.services.accounts.setFlags(account.teamId, { plan: 'inactive' });
    expect((await mint({ scope: 'media' })).status).toBe(403);
  });

  it('are taken as bearer tokens by the routes that their scopes open, and by no other', async () => {
    const bearer = await tokenFor('contacts');
    expect(await statusOf('/contact/public/fields', bearer)).toBe(200);
    expect(await statusOf('/register/public/account', bearer)).toBe(200);
    for (const path of ['/register/public/apikeys', '/campaign/public/balance', '/media/public/media']) {
      expect([path, await statusOf(path, bearer)]).toEqual([path, 403]);
    }
    const body = { label: 'x' };
    expect((await api.request('POST', '/tag/public/tags', { as: { bearer }, body })).status).toBe(403);
  });

  it('end at their time', async () => {
    const bearer = await tokenFor('contacts');
    clock.advance(3_599_000);
    expect(await statusOf('/contact/public/fields', bearer)).toBe(200);
    clock.advance(1_000);
    expect(await statusOf('/contact/public/fields', bearer)).toBe(401);
  });

  it('end with the key that minted them, and with its suspension', async () => {
    const key = await keyWith(['numbers:write', 'contacts:read']);
    const bearer = (await mint({ scope: 'contacts' }, key)).data.token as string;
    const operator = await api.account({ operator: true });
    const of = { teamId: account.teamId, keyId: key.keyId };
    await api.services.apiKeys.setSuspended(operator.caller, { ...of, suspended: true });
    expect(await statusOf('/contact/public/fields', bearer)).toBe(401);
    await api.services.apiKeys.setSuspended(operator.caller, { ...of, suspended: false });
    expect(await statusOf('/contact/public/fields', bearer)).toBe(200);
    await api.services.apiKeys.delete(account.caller, key.keyId);
    expect(await statusOf('/contact/public/fields', bearer)).toBe(401);
  });

  it('are refused with 403 while their account is suspended', async () => {
    const bearer = await tokenFor('contacts');
    await api.services.accounts.setFlags(account.teamId, { suspended: true });
    expect(await statusOf('/contact/public/fields', bearer)).toBe(403);
  });

  it('never make an operator, whoever minted them', async () => {
    const operator = await api.account({ operator: true });
    const { data } = await mint({ scope: 'contacts' }, operator);
    const caller = await api.services.authenticator.authenticate({ bearer: data.token as string });
    expect(caller.operator).toBe(false);
  });

  it('of another address, or changed, are refused with 401', async () => {
    const bearer = await tokenFor('contacts');
    const [header, payload = '', signature] = bearer.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const wider = Buffer.from(JSON.stringify({ ...claims, scope: 'campaigns' })).toString('base64url');
    expect(await statusOf('/contact/public/fields', `${header}.${wider}.${signature}`)).toBe(401);
    const foreign = await api.services.signingKeys.sign(claims as Record<string, unknown>, {
      ...{ typ: 'site+jwt', audience: 'https://else.example.com', issuer: api.url },
      expiresAtMs: clock.nowMs() + 60_000,
    });
    expect(await statusOf('/contact/public/fields', foreign)).toBe(401);
    const otherKind = await api.services.signingKeys.sign(claims as Record<string, unknown>, {
      ...{ typ: 'at+jwt', audience: api.url, issuer: api.url, expiresAtMs: clock.nowMs() + 60_000 },
    });
    expect(await statusOf('/contact/public/fields', otherKind)).toBe(401);
  });
});
