import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../src/kernel/clock.ts';
import type { TestAccount } from '../_util/api.ts';
import { until } from '../_util/index.ts';
import type { CaughtWebhook } from '../_util/index.ts';
import { isSignedByUs, isStandard, MINUTE_MS, START_MS, SubscriptionWorld } from './subscription.world.ts';

interface Body {
  event_id: string;
  event: string;
  event_at: number;
  data: Record<string, unknown>;
  sequence: number;
}
const bodyOf = (hook: CaughtWebhook): Body => JSON.parse(hook.body) as Body;

describe('deliveries of a subscription', () => {
  let world: SubscriptionWorld;
  let account: TestAccount;
  const open = async (options: Parameters<typeof SubscriptionWorld.open>[0] = {}): Promise<void> => {
    world = await SubscriptionWorld.open(options);
    account = await world.api.account();
  };
  beforeEach(() => open());
  afterEach(() => world.close());

  const reopen = async (options: Parameters<typeof SubscriptionWorld.open>[0]): Promise<void> => {
    await world.close();
    await open(options);
  };

  it('carry the event, its headers and both signatures over the same body', async () => {
    // The library that verifies knows only the real time.
    const nowMs = Date.now();
    await reopen({ clock: new ManualClock(nowMs) });
    const catcher = await world.catcher();
    const subscribed = await world.subscribe(account, { url: catcher.url });
    await world.announce(account, { event: 'contact.created', data: { contact_id: 'c', name: 'Ü "x"' } });
    await world.play();
    const [hook] = await catcher.waitFor(1);
    if (!hook) throw new Error('nothing came');
    const body = bodyOf(hook);
    expect(body).toEqual({
      ...{ event_id: expect.any(String), event: 'contact.created', event_at: nowMs, sequence: 1 },
      data: { contact_id: 'c', name: 'Ü "x"' },
    });
    const seconds = String(Math.floor(nowMs / 1_000));
    expect(hook.headers).toMatchObject({
      ...{ 'content-type': 'application/json', 'x-timestamp': seconds, 'x-signature-version': 'v1' },
      ...{ 'x-event-id': body.event_id, 'x-attempt': '1', 'webhook-id': body.event_id },
      'webhook-timestamp': seconds,
    });
    expect([isSignedByUs(hook, subscribed.secret), isStandard(hook, subscribed.secret)]).toEqual([
      true,
      true,
    ]);
    const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    expect([isSignedByUs(hook, other), isStandard(hook, other)]).toEqual([false, false]);
    const forged = { ...hook, body: hook.body.replace('"c"', '"d"') };
    expect([isSignedByUs(forged, subscribed.secret), isStandard(forged, subscribed.secret)]).toEqual([
      false,
      false,
    ]);
  });

  it('reach every subscription of the account that asks for the event, under one id, and no other', async () => {
    const catcher = await world.catcher();
    const stranger = await world.api.account();
    const at = (path: string): string => `${catcher.url}/${path}`;
    await world.subscribe(account, { url: at('exact'), eventTypes: ['contact.created'] });
    await world.subscribe(account, { url: at('prefix'), eventTypes: ['contact.*', 'contact.created'] });
    await world.subscribe(account, { url: at('deeper'), eventTypes: ['contact.consent.*'] });
    await world.subscribe(account, { url: at('campaign'), eventTypes: ['campaign.*'] });
    await world.subscribe(stranger, { url: at('stranger') });
    await world.announce(account, 'contact.created', 'contact.consent.granted');
    await world.play();
    const seen = catcher.caught.map((hook) => [hook.path, bodyOf(hook).event, bodyOf(hook).sequence]);
    expect(seen.sort()).toEqual([
      ['/hook/deeper', 'contact.consent.granted', 1],
      ['/hook/exact', 'contact.created', 1],
      ['/hook/prefix', 'contact.consent.granted', 2],
      ['/hook/prefix', 'contact.created', 1],
    ]);
    const ids = (event: string) =>
      new Set(
        catcher.caught
          .map(bodyOf)
          .filter((body) => body.event === event)
          .map((body) => body.event_id),
      );
    expect([ids('contact.created').size, ids('contact.consent.granted').size]).toEqual([1, 1]);
  });

  it('leave only when the transaction of the change commits', async () => {
    const catcher = await world.catcher();
    const subscribed = await world.subscribe(account, { url: catcher.url });
    const { outbox, publisher } = world.services;
    const news = [{ teamId: account.teamId, event: 'contact.created', data: {}, atMs: START_MS }];
    const failing = outbox.tx(async (tx) => {
      await publisher.announce(tx, news);
      throw new Error('the change failed');
    });
    await expect(failing).rejects.toThrow('the change failed');
    await world.play();
    expect([catcher.caught.length, (await world.deliveries(subscribed)).length]).toEqual([0, 0]);
    await world.announce(account, 'contact.created');
    await world.play();
    expect(catcher.caught.map((hook) => bodyOf(hook).sequence)).toEqual([1]);
  });

  it.each([408, 429, 500, 503])(
    'are tried after a %i one and five minutes later, then fail',
    async (status) => {
      const catcher = await world.catcher(() => ({ status, headers: { 'retry-after': '1' }, body: 'busy' }));
      const subscribed = await world.subscribe(account, { url: catcher.url });
      await world.announce(account, 'contact.created');
      await world.play(MINUTE_MS - 1, 1, 5 * MINUTE_MS - 1, 1, 60 * MINUTE_MS);
      const times = catcher.caught.map((hook) => Number(hook.headers['x-timestamp']) * 1_000 - START_MS);
      expect(times).toEqual([0, MINUTE_MS, 6 * MINUTE_MS]);
      expect(catcher.caught.map((hook) => hook.headers['x-attempt'])).toEqual(['1', '2', '3']);
      expect(new Set(catcher.caught.map((hook) => hook.headers['x-event-id'])).size).toBe(1);
      expect(new Set(catcher.caught.map((hook) => hook.body)).size).toBe(1);
      expect(catcher.caught.every((hook) => isSignedByUs(hook, subscribed.secret))).toBe(true);
      expect(await world.deliveries(subscribed)).toMatchObject([
        {
          status: 'failed',
          event: 'contact.created',
          attempts: [1, 2, 3].map((attempt) => ({
            ...{ attempt, status_code: status, error: null, response_excerpt: 'busy' },
          })),
        },
      ]);
    },
  );

  it.each([301, 302, 307, 308, 400, 401, 404, 409, 422])(
    'are final after a %i, and follow nothing',
    async (status) => {
      const elsewhere = await world.catcher();
      const catcher = await world.catcher(() => ({ status, headers: { location: elsewhere.url } }));
      const subscribed = await world.subscribe(account, { url: catcher.url });
      await world.announce(account, 'contact.created');
      await world.play(10 * MINUTE_MS);
      expect([catcher.caught.length, elsewhere.caught.length]).toEqual([1, 0]);
      expect(await world.deliveries(subscribed)).toMatchObject([{ status: 'failed' }]);
      expect((await world.subscription(subscribed)).status).toBe('active');
    },
  );

  it('that find nobody listening, or are cut off, are tried again', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const cutting = await world.catcher((_hook, number) => (number === 1 ? 'hangup' : { status: 204 }));
    const refused = await world.subscribe(account, { url: `http://127.0.0.1:${port}/` });
    const cut = await world.subscribe(account, { url: cutting.url });
    await world.announce(account, 'contact.created');
    await world.play(MINUTE_MS, 5 * MINUTE_MS);
    expect(await world.deliveries(refused)).toMatchObject([
      { status: 'failed', attempts: Array(3).fill({ status_code: null, error: 'connection_refused' }) },
    ]);
    expect(await world.deliveries(cut)).toMatchObject([
      { status: 'delivered', attempts: [{ error: 'connection_lost' }, { status_code: 204, error: null }] },
    ]);
  });

  it('wait 5 s for an answer, while other receivers and later events are not delayed', async () => {
    await reopen({ clock: systemClock });
    const silent = await world.catcher(() => 'never');
    const quick = await world.catcher();
    const slow = await world.subscribe(account, { url: silent.url });
    await world.subscribe(account, { url: quick.url });
    world.relay.start();
    await world.announce(account, ...Array<string>(30).fill('contact.created'));
    await quick.waitFor(30);
    await until(
      async () => (await world.deliveries(slow)).some(({ attempts }) => attempts.length > 0),
      20_000,
    );
    // In the time of one answer that did not come, others have left to the silent receiver too.
    expect(silent.caught.length).toBeGreaterThan(1);
    const [first] = (await world.deliveries(slow, '?limit=200')).filter(
      ({ attempts }) => attempts.length > 0,
    );
    expect(first).toMatchObject({ status: 'pending', attempts: [{ error: 'timeout', status_code: null }] });
    const [attempt] = first?.attempts ?? [];
    expect(attempt?.duration_ms).toBeGreaterThanOrEqual(4_900);
  });

  it('leave in their order while they succeed, and none waits for a failing one', async () => {
    const catcher = await world.catcher((hook) => ({ status: bodyOf(hook).sequence === 3 ? 500 : 200 }));
    await world.subscribe(account, { url: catcher.url });
    await world.announce(account, ...Array<string>(5).fill('contact.created'));
    await world.announce(account, ...Array<string>(5).fill('contact.updated'));
    await world.play();
    expect(catcher.caught.map((hook) => bodyOf(hook).sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('count without gap or repeat when many transactions announce at once', async () => {
    const catcher = await world.catcher();
    const two = [
      await world.subscribe(account, { url: catcher.url }),
      await world.subscribe(account, { url: catcher.url }),
    ];
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        world.announce(
          account,
          ...Array<string>(1 + (n % 3)).fill(n % 2 ? 'contact.created' : 'contact.deleted'),
        ),
      ),
    );
    const total = Array.from({ length: 40 }, (_, n) => 1 + (n % 3)).reduce((a, b) => a + b, 0);
    for (const subscribed of two) {
      const sequences = (await world.deliveries(subscribed, '?limit=200')).map(({ sequence }) => sequence);
      expect(sequences).toEqual(Array.from({ length: total }, (_, n) => total - n));
    }
  });

  it('are signed with the new secret after a rotation, retries included', async () => {
    const catcher = await world.catcher((_hook, number) => ({ status: number === 1 ? 500 : 200 }));
    const subscribed = await world.subscribe(account, { url: catcher.url });
    await world.announce(account, 'contact.created');
    await world.play();
    const path = `/register/public/webhooks/${subscribed.id}/rotate-secret`;
    const { data } = await world.api.request('POST', path, { as: account });
    await world.play(MINUTE_MS);
    const [before, after] = catcher.caught;
    expect(before && isSignedByUs(before, subscribed.secret)).toBe(true);
    expect(after && isSignedByUs(after, subscribed.secret)).toBe(false);
    expect(after && isSignedByUs(after, data.signing_secret as string)).toBe(true);
  });

  it('go to the address of now, and nowhere once the subscription is deleted', async () => {
    const first = await world.catcher(() => ({ status: 500 }));
    const second = await world.catcher(() => ({ status: 500 }));
    const subscribed = await world.subscribe(account, { url: first.url });
    const path = `/register/public/webhooks/${subscribed.id}`;
    await world.announce(account, 'contact.created');
    await world.play();
    await world.api.request('PUT', path, { as: account, body: { hook_url: second.url } });
    await world.play(MINUTE_MS);
    await world.api.request('DELETE', path, { as: account });
    await world.play(6 * MINUTE_MS);
    expect([first.caught.length, second.caught.length]).toEqual([1, 1]);
    const { rows } = await world.database.db.query('select state from webhook_deliveries');
    expect(rows).toEqual([{ state: 'dropped' }]);
    expect(
      (await world.database.db.query('select 1 from outbox union all select 1 from outbox_later')).rowCount,
    ).toBe(0);
  });

  it('of an import of 10,000 contacts are made in few statements, and none is lost', async () => {
    const { outbox, publisher } = world.services;
    const subscribed = await world.subscribe(account, { url: 'http://127.0.0.1:9/' });
    const news = Array.from({ length: 10_000 }, () => ({
      ...{ teamId: account.teamId, event: 'contact.created', atMs: START_MS },
      data: { contact_id: randomUUID() },
    }));
    let statements = 0;
    const counted = (): Promise<void> =>
      outbox.tx(async (tx) => {
        const query = tx.query.bind(tx) as (...args: unknown[]) => unknown;
        tx.query = ((...args: unknown[]) => ((statements += 1), query(...args))) as typeof tx.query;
        await publisher.announce(tx, news).finally(() => delete (tx as { query?: unknown }).query);
      });
    await counted();
    expect(statements).toBe(2 + 2 * 10);
    const { rows } = await world.database.db.query(
      `select count(*)::int as n, min(sequence)::int as first, max(sequence)::int as last, count(distinct event_id)::int as events,
         (select count(*)::int from outbox) as messages from webhook_deliveries where source_id = $1`,
      [subscribed.id],
    );
    expect(rows).toEqual([{ n: 10_000, first: 1, last: 10_000, events: 10_000, messages: 10_000 }]);

    statements = 0;
    await world.api.request('DELETE', `/register/public/webhooks/${subscribed.id}`, { as: account });
    await counted();
    expect(statements).toBe(1);
  });
});
