import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TeamSecrets } from '../../src/features/credentials/index.ts';
import { legacyRoutes } from '../../src/features/legacy/index.ts';
import type { Scope } from '../../src/kernel/caller.ts';
import type { TestAccount } from '../_util/index.ts';
import { AcceptWorld } from '../sends/accept.world.ts';
import type { Answer } from '../sends/accept.world.ts';

const RVM = { phone_number: '+15550010001', tts_body: 'Hello.', voice_id: 'en-us' };

let world: AcceptWorld;

beforeAll(async () => {
  world = await AcceptWorld.start({
    routes: ({ accounts, accept }) => {
      const { db, clock, keyUsage } = accounts.services;
      const teamSecrets = new TeamSecrets({ db, clock, usage: keyUsage });
      return {
        routes: legacyRoutes({ ...accounts.services, acceptSends: accept }),
        authenticateTeam: (credentials) => teamSecrets.authenticate(credentials),
      };
    },
  });
});
afterAll(async () => world.close());

type By = Pick<TestAccount, 'teamId' | 'secret'>;

const headersOf = ({ teamId, secret }: By) => ({ 'x-team-id': teamId, 'x-secret': secret });

/** Each from an address of its own, so that wrong credentials of one test do not count against another. */
let address = 0;
const ask = (
  method: string,
  path: string,
  of: { by?: By; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> => {
  const headers = {
    'x-forwarded-for': `2001:db8:${(address += 1).toString(16)}::1`,
    ...(of.by ? headersOf(of.by) : {}),
    ...of.headers,
  };
  return world.request(method, path, { headers, body: of.body });
};

describe('POST /v1/rvm', () => {
  it('queues a voicemail of version 1 under the names of version 2, without the secret', async () => {
    const by = await world.account();
    const body = {
      ...{
        team_id: by.teamId,
        secret: by.secret,
        ...RVM,
        foreign_id: 'f',
        brand_id: 'b',
        postal_code: '10001',
      },
      ...{
        forwarding_number: '+12025550123',
        callback_url: 'https://x.example/',
        recording_id: 'r',
        other: 1,
      },
    };
    const answer = await ask('POST', '/v1/rvm', { by, body });
    expect(answer).toMatchObject({ status: 200, body: { status: 'queued' } });
    expect(Object.keys(answer.body)).toEqual(['status']);
    const [row, ...more] = await world.sends(by.teamId);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      ...{ channel: 'rvm', version: 1, state: 'queued', foreign_id: 'f', callback_url: 'https://x.example/' },
      created_by: by.ownerId,
    });
    expect(row?.request).toEqual({
      ...{ to: '+15550010001', tts_body: 'Hello.', voice_id: 'en-us', foreign_id: 'f', brand_id: 'b' },
      ...{ postal_code: '10001', forwarding_number: '+12025550123', callback_url: 'https://x.example/' },
      media_id: 'r',
    });
  });
});

describe('POST /v1/sms', () => {
  it('queues a text of version 1 under the names of version 2', async () => {
    const by = await world.account();
    const body = {
      ...{ phone_number: '+15550020001', caller_id: '+12025550123', pool_id: 'line', sms_body: 'Hello.' },
      ...{ opt_in: true, foreign_id: 'f', callback_url: 'https://x.example/' },
    };
    expect((await ask('POST', '/v1/sms', { by, body })).status).toBe(200);
    const [row] = await world.sends(by.teamId);
    expect(row).toMatchObject({ channel: 'sms', version: 1, foreign_id: 'f' });
    expect(row?.request).toEqual({
      ...{ to: '+15550020001', caller_id: '+12025550123', phone_line_id: 'line', body: 'Hello.' },
      ...{ opt_in: true, foreign_id: 'f', callback_url: 'https://x.example/' },
    });
  });

  it.each(['[]', '"text"', '', '{'])('answers 400 to a body that is no object (%s)', async (body) => {
    const by = await world.account();
    expect((await ask('POST', '/v1/sms', { by, body })).status).toBe(400);
    expect(await world.sends(by.teamId)).toEqual([]);
  });
});

describe('the credential of version 1', () => {
  const key = (account: TestAccount, scopes: readonly Scope[]) =>
    world.accounts.services.apiKeys.create(account.caller, { scopes: [...scopes] });

  it('is an account and the secret of any of its keys, with that key’s scopes', async () => {
    const account = await world.account();
    const texts = { teamId: account.teamId, secret: (await key(account, ['sms:send'])).secret };
    expect((await ask('POST', '/v1/sms', { by: texts, body: {} })).status).toBe(200);
    expect((await ask('POST', '/v1/rvm', { by: texts, body: {} })).status).toBe(403);
    expect((await ask('GET', '/v1/brand', { by: texts })).status).toBe(403);
  });

  it.each(['/v1/rvm', '/v1/sms'])('is 401 on %s when it is missing or wrong in any part', async (path) => {
    const [by, other] = [await world.account(), await world.account()];
    const expired = await key(by, ['rvm:send', 'sms:send']);
    await world.database.db.query(`update api_keys set expires_at = now() - interval '1 day' where id = $1`, [
      expired.keyId,
    ]);
    const wrong: Record<string, string>[] = [
      {},
      { 'x-team-id': by.teamId },
      { 'x-secret': by.secret },
      headersOf({ teamId: by.teamId, secret: other.secret }),
      headersOf({ teamId: by.teamId, secret: by.secret.toUpperCase() }),
      headersOf({ teamId: 'none', secret: by.secret }),
      headersOf({ teamId: by.teamId, secret: expired.secret }),
      { 'x-key': by.key, 'x-secret': by.secret },
      { authorization: `Bearer ${by.secret}` },
    ];
    for (const headers of wrong) {
      const answer = await ask('POST', path, {
        headers,
        body: { ...RVM, team_id: by.teamId, secret: by.secret },
      });
      expect([answer.status, JSON.stringify(headers)]).toEqual([401, JSON.stringify(headers)]);
    }
    expect(await world.sends(by.teamId)).toEqual([]);
  });

  it('is 401 when the body repeats another one', async () => {
    const [by, other] = [await world.account(), await world.account()];
    for (const body of [{ team_id: other.teamId }, { secret: other.secret }, { secret: 7 }])
      for (const path of ['/v1/rvm', '/v1/sms', '/v1/list'])
        expect((await ask('POST', path, { by, body: { ...body, list_name: 'L' } })).status).toBe(401);
    expect(await world.sends(by.teamId)).toEqual([]);
  });

  it('of a suspended account is 403', async () => {
    const by = await world.account();
    await world.database.db.query('update teams set suspended = true where id = $1', [by.teamId]);
    expect((await ask('POST', '/v1/sms', { by, body: {} })).status).toBe(403);
  });
});

describe('brands and lists of version 1', () => {
  it('GET /v1/brand answers each brand with four fields', async () => {
    const by = await world.account();
    const { brands } = world.accounts.services.lookups;
    const { brandId } = await brands.create(by.caller, { companyName: 'Example Ltd' });
    const answer = await ask('GET', '/v1/brand', { by });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual([
      { brand_id: brandId, company_name: 'Example Ltd', registered: true, api_allowed: true },
    ]);
  });

  it('POST /v1/list makes a list, and POST /v1/list/{list_id}/contacts fills it', async () => {
    const by = await world.account();
    const made = await ask('POST', '/v1/list', { by, body: { list_name: 'Spring', secret: by.secret } });
    expect(made).toMatchObject({ status: 201, body: { list_name: 'Spring' } });
    const listId = made.body.list_id as string;
    const path = `/v1/list/${listId}/contacts`;
    const body = {
      fields: ['first_name', 'phone', 'email'],
      values: [
        ['Ada', '(202) 555-0123', 'ada@example.com'],
        ['Bob', 'no number'],
        ['Cleo', '(202) 555-0124'],
      ],
      region: 'US',
    };
    const filled = await ask('POST', path, { by, body });
    expect(filled.status).toBe(201);
    expect(filled.body).toMatchObject({ list_id: listId, updated: [], rejected: [{ index: 1 }] });
    expect(filled.body.inserted).toHaveLength(2);
    const { contacts } = await world.accounts.services.lists.members(by.caller, listId, { limit: 10 });
    expect(contacts.map((one) => one.phoneNumber).sort()).toEqual(['+12025550123', '+12025550124']);
    const again = await ask('POST', path, { by, body });
    expect(again.body).toMatchObject({ inserted: [] });
  });

  it('answers 404 to another account’s list, 400 to more than 10,000 rows and to unknown columns', async () => {
    const [by, other] = [await world.account(), await world.account()];
    const { listId } = await world.accounts.services.lists.create(other.caller, { name: 'L' });
    const status = async (id: string, body: object) =>
      (await ask('POST', `/v1/list/${id}/contacts`, { by, body })).status;
    const one = { fields: ['phone'], values: [['+12025550123']] };
    expect(await status(listId, one)).toBe(404);
    expect(await status('none', one)).toBe(404);
    const own = await world.accounts.services.lists.create(by.caller, { name: 'L' });
    const many = Array.from({ length: 10_001 }, () => ['+12025550123']);
    expect(await status(own.listId, { fields: ['phone'], values: many })).toBe(400);
    expect(await status(own.listId, { fields: ['none'], values: [['x']] })).toBe(400);
    const { rows } = await world.database.db.query('select 1 from contacts where team_id = $1', [by.teamId]);
    expect(rows).toEqual([]);
  });

  it('answers 402 to making lists and contacts while the account is unpaid', async () => {
    const by = await world.account();
    await world.database.db.query(`update teams set dunning_tier = 'restricted' where id = $1`, [by.teamId]);
    expect((await ask('POST', '/v1/list', { by, body: { list_name: 'L' } })).status).toBe(402);
    expect((await ask('POST', '/v1/sms', { by, body: {} })).status).toBe(200);
  });

  it('has no further routes', async () => {
    const by = await world.account();
    for (const path of ['/v1/voice-broadcast', '/v1/email', '/v1/campaign', '/v1/contacts'])
      expect((await ask('POST', path, { by, body: {} })).status).toBe(404);
    expect((await ask('GET', '/v1/rvm', { by })).status).toBe(405);
  });
});
