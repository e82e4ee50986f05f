import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../_util/api.ts';
import type { Answer, Catcher } from '../_util/index.ts';
import { isSignedByUs, MINUTE_MS, START_MS, SubscriptionWorld } from './subscription.world.ts';
import type { Subscribed } from './subscription.world.ts';

describe('the log of deliveries and its replay', () => {
  let world: SubscriptionWorld;
  let account: TestAccount;
  let catcher: Catcher;
  let subscribed: Subscribed;
  let answer: Answer;
  beforeEach(async () => {
    world = await SubscriptionWorld.open();
    account = await world.api.account();
    answer = { status: 200 };
    catcher = await world.catcher(() => answer);
    subscribed = await world.subscribe(account, { url: catcher.url });
  });
  afterEach(() => world.close());

  const events = (count: number): Promise<void> =>
    world.announce(account, ...Array<string>(count).fill('contact.updated'));
  const path = (rest: string): string => `/register/public/webhooks/${subscribed.id}/deliveries${rest}`;
  const replay = (id: string) => world.api.request('POST', path(`/${id}/replay`), { as: account });
  const replayRange = (body: unknown) => world.api.request('POST', path('/replay'), { as: account, body });
  const sent = (): number[] =>
    catcher.caught.map((hook) => (JSON.parse(hook.body) as { sequence: number }).sequence);

  it('is newest first and read in pages', async () => {
    await events(3);
    await world.play(1_000);
    await events(2);
    await world.play();
    const sequences = async (query: string) =>
      (await world.deliveries(subscribed, query)).map(({ sequence }) => sequence);
    expect(await sequences('')).toEqual([5, 4, 3, 2, 1]);
    expect(await sequences('?limit=2')).toEqual([5, 4]);
    expect(await sequences('?limit=2&skip=3')).toEqual([2, 1]);
    expect(await sequences('?limit=100000')).toHaveLength(5);
    for (const query of ['?limit=0', '?limit=-1', '?limit=x', '?skip=-1'])
      expect((await world.api.request('GET', path(query), { as: account })).status, query).toBe(400);
  });

  it('delivers one again: same event and body, an id of its own, the secret of now', async () => {
    answer = { status: 404 };
    await events(1);
    await world.play(1);
    const [failed] = await world.deliveries(subscribed);
    const rotation = `/register/public/webhooks/${subscribed.id}/rotate-secret`;
    const { data: fresh } = await world.api.request('POST', rotation, { as: account });
    answer = { status: 200 };
    const { status, data } = await replay(failed?.delivery_id ?? '');
    expect([status, data]).toEqual([201, { delivery_id: expect.any(String), event_id: failed?.event_id }]);
    expect(data.delivery_id).not.toBe(failed?.delivery_id);
    await world.play();
    const [first, second] = catcher.caught;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers).toMatchObject({ 'x-event-id': failed?.event_id, 'x-attempt': '1' });
    expect(second && isSignedByUs(second, fresh.signing_secret as string)).toBe(true);
    expect(await world.deliveries(subscribed)).toMatchObject([
      { delivery_id: data.delivery_id, status: 'delivered', replay_of: failed?.delivery_id },
      { delivery_id: failed?.delivery_id, status: 'failed', replay_of: null },
    ]);
  });

  it('names the first delivery of a replay of a replay', async () => {
    await events(1);
    await world.play(1);
    const [original] = await world.deliveries(subscribed);
    const once = await replay(original?.delivery_id ?? '');
    await world.play(1);
    await replay(once.data.delivery_id as string);
    await world.play();
    const log = await world.deliveries(subscribed);
    expect(log.map(({ replay_of }) => replay_of)).toEqual([
      original?.delivery_id,
      original?.delivery_id,
      null,
    ]);
  });

  it('does not repeat what is still under way, nor what belongs to another subscription', async () => {
    answer = { status: 500 };
    await events(1);
    await world.play();
    const [pending] = await world.deliveries(subscribed);
    expect((await replay(pending?.delivery_id ?? '')).status).toBe(409);
    const other = await world.subscribe(account, { url: catcher.url });
    const foreign = `/register/public/webhooks/${other.id}/deliveries/${pending?.delivery_id}/replay`;
    expect((await world.api.request('POST', foreign, { as: account })).status).toBe(404);
  });

  it('is sent once even in a pause, and then tells nothing of the endpoint', async () => {
    answer = { status: 400 };
    await events(10);
    await world.play();
    await events(1);
    const [dropped] = await world.deliveries(subscribed);
    expect(dropped?.status).toBe('dropped');
    answer = { status: 200 };
    const good = await replay(dropped?.delivery_id ?? '');
    await world.play();
    answer = { status: 500 };
    const bad = await replay(dropped?.delivery_id ?? '');
    await world.play(MINUTE_MS);
    const log = await world.deliveries(subscribed);
    const ends = [good, bad].map(({ data }) => log.find((one) => one.delivery_id === data.delivery_id));
    expect(ends).toMatchObject([
      { status: 'delivered', attempts: [{ attempt: 1 }] },
      { status: 'dropped', attempts: [{ attempt: 1 }] },
    ]);
    expect(await world.subscription(subscribed)).toMatchObject({
      ...{ status: 'paused', paused_until: START_MS + 5 * MINUTE_MS },
    });
  });

  it('delivers a time range again in order, both ends included, without the replays in it', async () => {
    await events(2);
    await world.play(1_000);
    await events(3);
    await world.play(1_000);
    await events(2);
    await world.play();
    catcher.caught.length = 0;
    const range = { from: START_MS + 1_000, to: START_MS + 1_999 };
    const { status, data } = await replayRange(range);
    expect([status, data]).toEqual([201, { replayed: 3 }]);
    await world.play();
    expect(sent()).toEqual([3, 4, 5]);
    catcher.caught.length = 0;
    expect((await replayRange({ from: START_MS + 2_000, to: START_MS + 2_000 })).data).toEqual({
      replayed: 2,
    });
    await world.play();
    expect(sent()).toEqual([6, 7]);
    expect((await replayRange({ from: 0, to: START_MS - 1 })).data).toEqual({ replayed: 0 });
  });

  it('delivers thousands again in their order, and refuses more than 10,000 at once', async () => {
    const { db } = world.database;
    const fill = (count: number, from: number) =>
      db.query(
        `insert into webhook_deliveries (id, team_id, kind, source_id, sequence, event, url, body, signing_key_id, state,
           created_at, event_id)
         select gen_random_uuid(), $1, 'subscription', $2, n, 'contact.updated', 'http://127.0.0.1:9/', '{}', $2, 'dropped',
           $5, gen_random_uuid()
         from generate_series($3::int, $4::int) n`,
        [account.teamId, subscribed.id, from, from + count - 1, new Date(START_MS)],
      );
    await fill(2_500, 1);
    expect((await replayRange({ from: START_MS, to: START_MS })).data).toEqual({ replayed: 2_500 });
    const { rows } = await db.query<{ sequence: number }>(
      `select d.sequence::int as sequence from outbox o join webhook_deliveries d on d.id::text = o.key order by o.id`,
    );
    expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 2_500 }, (_, n) => n + 1));
    await fill(7_501, 2_501);
    const tooMany = await replayRange({ from: START_MS, to: START_MS });
    expect(tooMany.status).toBe(400);
    expect(tooMany.body.detail).toContain('10000');
  });

  it.each([
    {},
    { from: 1 },
    { from: 2, to: 1 },
    { from: -1, to: 1 },
    { from: 0.5, to: 1 },
    { from: '0', to: 1 },
    { from: 0, to: 1e300 },
  ])('refuses the range %j', async (body) => {
    expect((await replayRange(body)).status).toBe(400);
  });
});
