import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAccount } from '../_util/api.ts';
import { SubscriptionWorld } from './subscription.world.ts';

const PATH = '/register/public/webhooks';
const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('webhook subscriptions', () => {
  let world: SubscriptionWorld;
  let account: TestAccount;
  beforeAll(async () => {
    world = await SubscriptionWorld.open();
    account = await world.api.account();
  });
  afterAll(() => world.close());

  const url = 'http://127.0.0.1:9/hook';
  const post = (body: unknown, as = account) => world.api.request('POST', PATH, { as, body });
  const put = (id: string, body: unknown) => world.api.request('PUT', `${PATH}/${id}`, { as: account, body });

  it('are made with a secret of 32 bytes that is shown once', async () => {
    const body = { hook_url: url, event_types: ['contact.sms.status', 'campaign.*'], name: 'CRM' };
    const { status, data } = await post(body);
    expect(status).toBe(201);
    expect(data).toMatchObject({ ...body, status: 'active', paused_until: null });
    expect(data.signing_secret).toMatch(/^whsec_/);
    expect(Buffer.from((data.signing_secret as string).slice(6), 'base64')).toHaveLength(32);

    const list = await world.api.request('GET', PATH, { as: account });
    expect((list.data as { webhook_id: string }[]).map((one) => one.webhook_id)).toContain(data.webhook_id);
    expect(list.text).not.toContain('whsec_');
    expect(list.data[0]).toMatchObject({ signing_secret_created_at: world.clock.nowMs() });
    const { rows } = await world.database.db.query<{ secret_ciphertext: string }>(
      'select secret_ciphertext from webhook_subscriptions where id = $1',
      [data.webhook_id],
    );
    const { cipher } = world.services;
    expect(cipher.decrypt(rows[0]?.secret_ciphertext ?? '', `webhook:${data.webhook_id}`)).toBe(
      data.signing_secret,
    );
  });

  it.each([
    ['no address', { event_types: ['contact.*'] }],
    ['no event types', { hook_url: url }],
    ['an empty set', { hook_url: url, event_types: [] }],
    ['an unknown event', { hook_url: url, event_types: ['contact.exploded'] }],
    ['an unknown prefix', { hook_url: url, event_types: ['contacts.*'] }],
    ['half a word as a prefix', { hook_url: url, event_types: ['contact.sm*'] }],
    ['a bare star', { hook_url: url, event_types: ['*'] }],
    ['an event that is not offered', { hook_url: url, event_types: ['contact.pipeline.stage.entered'] }],
    ['event types that are no texts', { hook_url: url, event_types: [1] }],
    ['more event types than there are', { hook_url: url, event_types: Array(101).fill('contact.*') }],
    ['a long name', { hook_url: url, event_types: ['contact.*'], name: 'x'.repeat(101) }],
    ['an empty name', { hook_url: url, event_types: ['contact.*'], name: ' ' }],
    ['NUL in the name', { hook_url: url, event_types: ['contact.*'], name: 'a\0' }],
    ['no address at all', { hook_url: 'hooks', event_types: ['contact.*'] }],
    ['another scheme', { hook_url: 'ftp://example.com/', event_types: ['contact.*'] }],
    ['credentials in the address', { hook_url: 'https://a:b@example.com/', event_types: ['contact.*'] }],
  ])('are refused with %s', async (_what, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.type).toMatch(/validation-error$/);
  });

  it('may have a name of 100 characters, and without one get that of the host', async () => {
    const long = await post({ hook_url: url, event_types: ['contact.*'], name: 'ü'.repeat(100) });
    const none = await post({ hook_url: url, event_types: ['contact.*', 'contact.*'] });
    expect([long.status, none.status]).toEqual([201, 201]);
    expect(none.data).toMatchObject({ name: '127.0.0.1:9', event_types: ['contact.*'] });
  });

  it('change what is given, replace the whole set, and refuse a change of nothing', async () => {
    const made = (await post({ hook_url: url, event_types: ['contact.*'], name: 'before' })).data;
    const types = await put(made.webhook_id, { event_types: ['campaign.started'] });
    expect(types.status).toBe(200);
    expect(types.data).toMatchObject({ event_types: ['campaign.started'], name: 'before', hook_url: url });
    expect(types.text).not.toContain('whsec_');
    const rest = await put(made.webhook_id, { name: 'after', hook_url: `${url}/2` });
    expect(rest.data).toMatchObject({
      name: 'after',
      hook_url: `${url}/2`,
      event_types: ['campaign.started'],
    });
    for (const body of [{}, { color: 'red' }, { event_types: [] }, { hook_url: 'ftp://example.com/' }])
      expect((await put(made.webhook_id, body)).status, JSON.stringify(body)).toBe(400);
  });

  it('get a new secret on demand', async () => {
    const made = (await post({ hook_url: url, event_types: ['contact.*'] })).data;
    const path = `${PATH}/${made.webhook_id}/rotate-secret`;
    const { status, data } = await world.api.request('POST', path, { as: account });
    expect(status).toBe(200);
    expect(data).toEqual({
      webhook_id: made.webhook_id,
      signing_secret: expect.stringMatching(/^whsec_/),
      signing_secret_created_at: world.clock.nowMs(),
    });
    expect(data.signing_secret).not.toBe(made.signing_secret);
  });

  it('are deleted, and unknown then', async () => {
    const { webhook_id: id } = (await post({ hook_url: url, event_types: ['contact.*'] })).data;
    const gone = await world.api.request('DELETE', `${PATH}/${id}`, { as: account });
    expect([gone.status, gone.data]).toEqual([200, { webhook_id: id, deleted: true }]);
    expect((await world.api.request('DELETE', `${PATH}/${id}`, { as: account })).status).toBe(404);
  });

  it('of another account are unknown and unchanged, as are ids that are none', async () => {
    const stranger = await world.api.account();
    const theirs = (await post({ hook_url: url, event_types: ['contact.*'] }, stranger)).data.webhook_id;
    for (const id of [theirs, NOBODY, 'not-an-id']) {
      const requests: [string, string, unknown?][] = [
        ['PUT', id, { name: 'taken' }],
        ['DELETE', id],
        ['POST', `${id}/rotate-secret`],
        ['POST', `${id}/test`],
        ['GET', `${id}/deliveries`],
        ['POST', `${id}/deliveries/${NOBODY}/replay`],
        ['POST', `${id}/deliveries/replay`, { from: 0, to: 1 }],
      ];
      for (const [method, path, body] of requests) {
        const answer = await world.api.request(method, `${PATH}/${path}`, { as: account, body });
        expect(answer.status, `${method} ${path}`).toBe(404);
      }
    }
    const { data } = await world.api.request('GET', PATH, { as: stranger });
    expect(data).toMatchObject([{ webhook_id: theirs, name: '127.0.0.1:9' }]);
  });

  it('are at most 50 for an account, even when all are made at once', async () => {
    const crowd = await world.api.account();
    const body = { hook_url: url, event_types: ['contact.*'] };
    const answers = await Promise.all(Array.from({ length: 55 }, () => post(body, crowd)));
    const statuses = answers.map(({ status }) => status);
    expect([201, 409].map((status) => statuses.filter((one) => one === status).length)).toEqual([50, 5]);
    expect((await world.api.request('GET', PATH, { as: crowd })).data).toHaveLength(50);
  });

  it.each([
    ['webhooks:read', [200, 200, 403, 403, 403]],
    ['webhooks:write', [403, 403, 201, 404, 404]],
    ['contacts:read', [403, 403, 403, 403, 403]],
  ] as const)('with the scope %s alone answer %j', async (scope, expected) => {
    const as = await world.api.account({ scopes: [scope] });
    const body = { hook_url: url, event_types: ['contact.*'] };
    const answers = [
      await world.api.request('GET', PATH, { as }),
      await world.api.request('GET', '/register/public/webhook-event-types', { as }),
      await world.api.request('POST', PATH, { as, body }),
      await world.api.request('POST', `${PATH}/${NOBODY}/rotate-secret`, { as }),
      await world.api.request('DELETE', `${PATH}/${NOBODY}`, { as }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(expected);
  });
});

describe('the address of a subscription', () => {
  it('must be https and public', async () => {
    const world = await SubscriptionWorld.open({ allowPrivateTargets: false });
    const account = await world.api.account();
    const tries = [
      ['https://203.0.114.7/hook', 201],
      ['http://203.0.114.7/hook', 400],
      ['https://127.0.0.1/hook', 400],
      ['https://localhost/hook', 400],
      ['https://10.1.2.3/', 400],
      ['https://169.254.169.254/latest', 400],
      ['https://[::ffff:10.0.0.1]/', 400],
      ['https://2130706433/', 400],
    ] as const;
    for (const [hook_url, expected] of tries) {
      const body = { hook_url, event_types: ['contact.*'] };
      expect((await world.api.request('POST', PATH, { as: account, body })).status, hook_url).toBe(expected);
    }
    const { data } = await world.api.request('GET', PATH, { as: account });
    const path = `${PATH}/${data[0].webhook_id}`;
    const moved = await world.api.request('PUT', path, {
      as: account,
      body: { hook_url: 'https://10.1.2.3/' },
    });
    expect(moved.status).toBe(400);
    expect((await world.api.request('GET', PATH, { as: account })).data[0].hook_url).toBe(tries[0][0]);
    await world.close();
  });
});
