import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManualClock } from '../../src/kernel/clock.ts';
import type { TestAccount } from '../_util/api.ts';
import type { Answer, Catcher } from '../_util/index.ts';
import { MINUTE_MS, START_MS, SubscriptionWorld } from './subscription.world.ts';
import type { Subscribed } from './subscription.world.ts';

const PAUSE_MS = 5 * MINUTE_MS;

describe('the endpoint of a subscription', () => {
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
  const path = (rest = ''): string => `/register/public/webhooks/${subscribed.id}${rest}`;
  const statusOf = async (): Promise<string> => (await world.subscription(subscribed)).status;
  const logged = async (): Promise<string[]> =>
    (await world.deliveries(subscribed, '?limit=200')).map(({ status }) => status).reverse();
  /** Ten failures in a row by as many events, each final. */
  const pause = async (): Promise<void> => {
    answer = { status: 400 };
    await events(10);
    await world.play();
    expect(await statusOf()).toBe('paused');
  };

  it('is paused for five minutes by its tenth failed attempt in a row, retries counted', async () => {
    answer = { status: 500 };
    await events(4);
    await world.play(MINUTE_MS);
    expect([catcher.caught.length, await statusOf()]).toEqual([8, 'active']);
    await events(1);
    await world.play();
    expect(await statusOf()).toBe('active');
    await world.play(30_000);
    await events(1);
    await world.play();
    expect(await world.subscription(subscribed)).toMatchObject({
      ...{ status: 'paused', paused_until: START_MS + 90_000 + PAUSE_MS },
    });
    expect(catcher.caught).toHaveLength(10);
    expect(world.changes).toEqual([{ from: 'active', to: 'paused' }]);
  });

  it('is not paused when one attempt in between succeeds', async () => {
    answer = { status: 400 };
    await events(9);
    await world.play();
    answer = { status: 200 };
    await events(1);
    await world.play();
    answer = { status: 400 };
    await events(9);
    await world.play();
    expect(await statusOf()).toBe('active');
    await events(1);
    await world.play();
    expect(await statusOf()).toBe('paused');
  });

  it('gets nothing of its pause: events and retries are dropped and stay in the log', async () => {
    answer = { status: 500 };
    await events(10);
    await world.play();
    expect(await statusOf()).toBe('paused');
    answer = { status: 200 };
    await events(2);
    await world.play(MINUTE_MS, MINUTE_MS);
    expect(catcher.caught).toHaveLength(10);
    expect(await logged()).toEqual(Array(12).fill('dropped'));
    // The events of the pause itself were never due; ten retries were.
    expect(world.dropped).toBe(10);
    const [youngest] = await world.deliveries(subscribed);
    expect(youngest).toMatchObject({ status: 'dropped', sequence: 12, attempts: [] });
  });

  it('is active again when the first event after the pause is taken, and those behind it follow in order', async () => {
    await pause();
    answer = { status: 200 };
    await world.play(PAUSE_MS);
    expect(await statusOf()).toBe('paused');
    await events(5);
    await world.play();
    await world.play(1_000, 1_000);
    const sequences = catcher.caught
      .slice(10)
      .map((hook) => (JSON.parse(hook.body) as { sequence: number }).sequence);
    expect(sequences).toEqual([11, 12, 13, 14, 15]);
    expect(await world.subscription(subscribed)).toMatchObject({ status: 'active', paused_until: null });
    expect(world.changes.at(-1)).toEqual({ from: 'paused', to: 'active' });
  });

  it('is paused again when the probe fails, having got nothing but the probe', async () => {
    await pause();
    await world.play(PAUSE_MS);
    await events(5);
    await world.play(1_000, 1_000);
    expect(catcher.caught).toHaveLength(11);
    expect(await world.subscription(subscribed)).toMatchObject({
      ...{ status: 'paused', paused_until: START_MS + 2 * PAUSE_MS },
    });
    expect(await logged()).toEqual([
      ...Array<string>(11).fill('failed'),
      ...Array<string>(4).fill('dropped'),
    ]);
  });

  it('gets one probe even when two workers find events after the pause', async () => {
    await pause();
    await world.play(PAUSE_MS);
    const probing = await world.catcher(() => 'never');
    // The address is changed beneath the service, so that the endpoint stays paused.
    const { db } = world.database;
    await db.query('update webhook_subscriptions set hook_url = $1', [probing.url]);
    await events(1);
    const first = world.relay.poke();
    await probing.waitFor(1);
    await events(3);
    const { rows } = await db.query<{ n: number }>(
      `select count(*)::int as n from webhook_deliveries where state = 'pending'`,
    );
    expect(rows).toEqual([{ n: 4 }]);
    // Behind a start that does not answer the next of the subscription starts after half a second.
    (world.clock as ManualClock).advance(1_000);
    const second = world.another();
    await second.poke();
    expect(probing.caught).toHaveLength(1);
    await second.stop({ graceMs: 0 });
    await probing.close();
    await first;
  });

  it('is disabled by an answer 410, and active again when its address is given again', async () => {
    answer = { status: 410 };
    await events(3);
    await world.play();
    expect(catcher.caught).toHaveLength(1);
    expect(await logged()).toEqual(['failed', 'dropped', 'dropped']);
    expect(await statusOf()).toBe('disabled');
    answer = { status: 200 };
    await events(1);
    await world.play(60 * MINUTE_MS);
    expect([catcher.caught.length, (await logged()).length]).toEqual([1, 3]);
    const replay = await world.api.request('POST', path('/deliveries/replay'), {
      ...{ as: account, body: { from: 0, to: world.clock.nowMs() } },
    });
    expect(replay.status).toBe(409);

    await world.api.request('PUT', path(), { as: account, body: { name: 'no cure' } });
    expect(await statusOf()).toBe('disabled');
    await world.api.request('PUT', path(), { as: account, body: { hook_url: catcher.url } });
    expect(await statusOf()).toBe('active');
    await events(1);
    await world.play();
    expect(catcher.caught).toHaveLength(2);
  });

  it('follows its states whatever comes in whatever order', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 18 }), async (steps) => {
        const trace = new Trace();
        const own = await world.catcher(() => {
          trace.add(world.clock.nowMs(), trace.answering);
          return { status: trace.answering };
        });
        const of = await world.subscribe(account, { url: own.url });
        for (const one of steps) {
          if (one.kind === 'answer') trace.answering = one.status;
          if (one.kind === 'advance') await world.play(one.ms);
          if (one.kind === 'events')
            await world.announce(account, ...Array<string>(one.count).fill('contact.updated'));
          if (one.kind === 'mend') {
            const body = { hook_url: own.url };
            await world.api.request('PUT', `/register/public/webhooks/${of.id}`, { as: account, body });
            trace.mend();
          }
          await world.play();
          const { rows } = await world.database.db.query(
            'select status, failures, paused_until from webhook_subscriptions where id = $1',
            [of.id],
          );
          expect(rows[0]).toEqual(trace.expected());
        }
        trace.answering = 200;
        await world.play(...Array<number>(8).fill(MINUTE_MS));
        const open = (await world.deliveries(of, '?limit=200')).filter(({ status }) => status === 'pending');
        expect(open).toEqual([]);
        await world.api.request('DELETE', `/register/public/webhooks/${of.id}`, { as: account });
        expect(trace.violations).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});

type Step =
  | { kind: 'answer'; status: number }
  | { kind: 'advance'; ms: number }
  | { kind: 'events'; count: number }
  | { kind: 'mend' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('answer'),
      status: fc.constantFrom(200, 400, 500, 500, 503, 410),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('advance'),
      ms: fc.constantFrom(1_000, MINUTE_MS, PAUSE_MS - 1, PAUSE_MS),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('events'), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mend') }) },
);

/** What the endpoint's states must be, told from nothing but the requests it got. */
class Trace {
  answering = 200;
  readonly violations: string[] = [];
  #failures = 0;
  #pausedUntilMs: number | null = null;
  #pausedAtMs = 0;
  #disabledAtMs: number | null = null;

  add(atMs: number, status: number): void {
    const isPaused = this.#pausedUntilMs !== null && atMs < this.#pausedUntilMs;
    // Requests of the very moment of a change were under way when it came.
    if (this.#disabledAtMs !== null) return this.#late(atMs, this.#disabledAtMs, 'a request while disabled');
    if (status === 410) return this.#disable(atMs);
    if (isPaused) return this.#late(atMs, this.#pausedAtMs, 'a request in the pause');
    if (status < 300) {
      this.#failures = 0;
      this.#pausedUntilMs = null;
      return;
    }
    this.#failures += 1;
    if (this.#failures < 10) return;
    this.#pausedUntilMs = atMs + PAUSE_MS;
    this.#pausedAtMs = atMs;
  }

  mend(): void {
    this.#failures = 0;
    this.#pausedUntilMs = null;
    this.#disabledAtMs = null;
  }

  expected(): { status: string; failures: number; paused_until: Date | null } {
    const status =
      this.#disabledAtMs !== null ? 'disabled' : this.#pausedUntilMs !== null ? 'paused' : 'active';
    const until = this.#pausedUntilMs === null ? null : new Date(this.#pausedUntilMs);
    return { status, failures: this.#failures, paused_until: until };
  }

  #disable(atMs: number): void {
    this.#failures += 1;
    this.#pausedUntilMs = null;
    this.#disabledAtMs = atMs;
  }

  #late(atMs: number, sinceMs: number, what: string): void {
    if (atMs !== sinceMs) this.violations.push(`${what}, ${atMs - sinceMs} ms after it began`);
  }
}
