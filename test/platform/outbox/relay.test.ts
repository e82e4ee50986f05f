import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../../src/kernel/clock.ts';
import { openDb } from '../../../src/platform/db/index.ts';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import type { Handler } from '../../../src/platform/outbox/index.ts';
import { testDb, until } from '../../_util/index.ts';
import type { TestDb } from '../../_util/index.ts';
import { gate, OutboxHarness, recorder, START_MS } from './harness.ts';

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe('the relay', () => {
  let database: TestDb;
  let harness: OutboxHarness;
  let clock: ManualClock;

  const use = (manual: boolean): void => {
    clock = new ManualClock(START_MS);
    harness = new OutboxHarness(database.db, manual ? clock : systemClock);
  };

  beforeEach(async () => {
    database = await testDb();
    use(true);
  });
  afterEach(async () => {
    await harness.stop();
    await database.drop();
  });

  it('starts a message at once on its wake-up, and finds one without a wake-up by its poll', async () => {
    use(false);
    const handler = recorder();
    harness.relay([handler]).start();
    await harness.add({ key: 'woken' });
    await until(() => handler.keys().includes('woken'));
    await database.db.tx((tx) =>
      harness.outbox.add(tx, [{ topic: 'test.run', key: 'polled', lane: 'x', payload: {} }]),
    );
    await until(() => handler.keys().includes('polled'));
  });

  it('takes lanes in turn: one message is not held up by a thousand of another lane', async () => {
    const handler = recorder({ concurrencyMax: 4 });
    const relay = harness.relay([handler]);
    await harness.add(...range(1_000).map((i) => ({ key: `many-${i}`, lane: 'many' })));
    await harness.add({ key: 'one', lane: 'few' });
    await relay.poke();
    expect(handler.seen).toHaveLength(1_001);
    expect(handler.keys().indexOf('one')).toBeLessThan(20);
  });

  it('bounds what is in flight, overall and per lane, and slow lanes leave room for others', async () => {
    use(false);
    const { opened, open } = gate();
    let running = 0;
    let most = 0;
    const perLane = new Map<string, number>();
    const done: string[] = [];
    const handler: Handler = {
      topic: 'test.run',
      concurrencyMax: 32,
      laneConcurrencyMax: 4,
      leaseMs: 30_000,
      async handle(row, finish) {
        running += 1;
        most = Math.max(most, running);
        perLane.set(row.lane, (perLane.get(row.lane) ?? 0) + 1);
        if (row.key.startsWith('slow')) await opened;
        running -= 1;
        await finish(async () => undefined);
        done.push(row.key);
      },
    };
    harness.relay([handler]).start();
    await harness.add(...range(200).map((i) => ({ key: `slow-${i}`, lane: `slow-${i % 4}` })));
    await until(() => running >= 8);
    await harness.add(...range(10).map((i) => ({ key: `fast-${i}`, lane: 'fast' })));
    await until(() => done.filter((key) => key.startsWith('fast')).length === 10);
    expect(
      Math.max(...[...perLane].filter(([lane]) => lane.includes('slow')).map(([, n]) => n)),
    ).toBeLessThanOrEqual(4);
    open();
    await until(async () => (await harness.count()) === 0);
    expect(most).toBeLessThanOrEqual(32);
  });

  it('starts messages of one order key in their order, one at a time, while they succeed', async () => {
    use(false);
    const started: string[] = [];
    let running = 0;
    let overlaps = 0;
    const handler = recorder({
      async handle(row, finish) {
        running += 1;
        if (running > 1) overlaps += 1;
        started.push(row.key);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        await finish(async () => undefined);
      },
    });
    harness.relay([handler]).start();
    await harness.add(...range(30).map((i) => ({ key: String(i), orderKey: 'session' })));
    await until(() => started.length === 30);
    expect(started).toEqual(range(30).map(String));
    expect(overlaps).toBe(0);
  });

  it('lets a message pass one that failed, and one that does not answer', async () => {
    use(false);
    const { opened, open } = gate();
    const order: string[] = [];
    const handler = recorder({
      async handle(row, finish) {
        order.push(row.key);
        if (row.key === 'hanging') await opened;
        const fails = row.key === 'failing' && row.attempts === 1;
        await finish(async () => (fails ? { retryAtMs: systemClock.nowMs() + 700 } : undefined));
      },
    });
    harness.relay([handler]).start();
    await harness.add(...['failing', 'hanging', 'last'].map((key) => ({ key, orderKey: 'session' })));
    await until(() => order.includes('last'));
    expect(order.slice(0, 3)).toEqual(['failing', 'hanging', 'last']);
    await until(() => order.filter((key) => key === 'failing').length === 2);
    open();
    await until(async () => (await harness.count()) === 0);
  });

  it('tries a message again after its handler threw, keeping the count', async () => {
    const relayErrors: number[] = [];
    const handler = recorder({
      async handle(row, finish) {
        relayErrors.push(row.attempts);
        if (row.attempts < 3) throw new Error('handler');
        await finish(async () => undefined);
      },
    });
    const relay = harness.relay([handler]);
    await harness.add({});
    for (let i = 0; i < 3; i += 1) {
      await relay.poke();
      clock.advance(60_000);
    }
    expect(relayErrors).toEqual([1, 2, 3]);
    expect(await harness.count()).toBe(0);
  });

  it('treats a handler that returns without ending its row as failed', async () => {
    const relay = harness.relay([recorder({ handle: async () => undefined })]);
    await harness.add({});
    await relay.poke();
    expect(await relay.stats()).toMatchObject({ ready: 0, held: 1, inFlight: 0 });
  });

  it('puts a message off to a far future beside the hot table, with its count of starts', async () => {
    const attempts: number[] = [];
    const handler = recorder({
      async handle(row, finish) {
        attempts.push(row.attempts);
        await finish(async () => (row.attempts === 1 ? { retryAtMs: clock.nowMs() + 3_600_000 } : undefined));
      },
    });
    const relay = harness.relay([handler]);
    await harness.add({});
    await relay.poke();
    expect([await harness.count(), await harness.count('outbox_later')]).toEqual([0, 1]);
    clock.advance(3_600_000);
    await relay.poke();
    expect(attempts).toEqual([1, 2]);
  });

  it('hands a row out again when its lease ran out, and the first holder changes nothing any more', async () => {
    const first = gate();
    const ends: [string, boolean][] = [];
    await database.db.query('create table effects (who text)');
    const worker = (who: string, waits: Promise<void>): Handler =>
      recorder({
        async handle(_row, finish) {
          await waits;
          ends.push([
            who,
            await finish(async (tx) => void (await tx.query('insert into effects values ($1)', [who]))),
          ]);
        },
      });
    const slow = harness.relay([worker('slow', first.opened)]);
    const other = harness.relay([worker('other', Promise.resolve())]);
    await harness.add({});
    const slowEnd = slow.poke();
    await until(async () => (await slow.stats()).inFlight === 1);
    await other.poke();
    expect(ends).toEqual([]);
    clock.advance(30_001);
    await other.poke();
    first.open();
    await slowEnd;
    expect(ends).toEqual([
      ['other', true],
      ['slow', false],
    ]);
    expect((await database.db.query('select who from effects')).rows).toEqual([{ who: 'other' }]);
  });

  it('hands leases back at its end, so that another relay goes on at once and no start is counted', async () => {
    const started = gate();
    const handler = recorder({
      handle: (_row, _finish, signal) =>
        new Promise((_resolve, reject) => {
          started.open();
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    });
    const relay = harness.relay([handler]);
    await harness.add({ key: 'a' });
    void relay.poke();
    await started.opened;
    await relay.stop({ graceMs: 0 });
    const next = recorder();
    await harness.relay([next]).poke();
    expect(next.seen.map(({ key, attempts }) => [key, attempts])).toEqual([['a', 1]]);
  });

  it('lets what runs finish within the grace of its end', async () => {
    const { opened, open } = gate();
    const handler = recorder({
      async handle(_row, finish) {
        await opened;
        await finish(async () => undefined);
      },
    });
    const relay = harness.relay([handler]);
    await harness.add({});
    void relay.poke();
    await until(async () => (await relay.stats()).inFlight === 1);
    const stopped = relay.stop({ graceMs: 30_000 });
    open();
    await stopped;
    expect(await harness.count()).toBe(0);
  });

  it('gives each row one effect when two relays race for 400 rows', async () => {
    use(false);
    const other = openDb({
      url: database.url,
      maxConnections: 10,
      applicationName: 'other',
      logger: silentLogger,
    });
    await database.db.query('create table effects (key text primary key)');
    const handler = (): Handler =>
      recorder({
        concurrencyMax: 8,
        async handle(row, finish) {
          await finish(async (tx) => void (await tx.query('insert into effects values ($1)', [row.key])));
        },
      });
    harness.relay([handler()]).start();
    harness.relay([handler()], other).start();
    await Promise.all(
      range(20).map((batch) =>
        harness.add(...range(20).map((i) => ({ key: `${batch}-${i}`, lane: `${i % 5}` }))),
      ),
    );
    await until(async () => (await harness.count()) === 0, 60_000);
    expect((await database.db.query('select * from effects')).rowCount).toBe(400);
    await harness.stop();
    await other.close();
  });

  it('survives a database that drops its connections in mid-work', async () => {
    use(false);
    await database.db.query('create table effects (key text primary key)');
    const handler = recorder({
      async handle(row, finish) {
        await finish(async (tx) => void (await tx.query('insert into effects values ($1)', [row.key])));
      },
    });
    harness.relay([handler]).start();
    for (let round = 0; round < 5; round += 1) {
      await harness.add(...range(20).map((i) => ({ key: `${round}-${i}`, lane: `${i % 3}` })));
      await database.db
        .query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        )
        .catch(() => undefined);
    }
    await until(async () => (await harness.count().catch(() => 1)) === 0, 60_000);
    expect((await database.db.query('select * from effects')).rowCount).toBe(100);
  });
});
