import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManualClock } from '../../../src/kernel/clock.ts';
import { testDb, until } from '../../_util/index.ts';
import type { TestDb } from '../../_util/index.ts';
import { message, OutboxHarness, recorder, START_MS } from './harness.ts';

describe('the outbox', () => {
  let database: TestDb;
  let harness: OutboxHarness;
  let clock: ManualClock;

  beforeEach(async () => {
    database = await testDb();
    harness = new OutboxHarness(database.db);
    clock = harness.clock as ManualClock;
  });
  afterEach(async () => {
    await harness.stop();
    await database.drop();
  });

  it('hands a message with its payload to the handler of its topic and forgets it', async () => {
    const handler = recorder();
    const payload = { text: 'ü "quoted" \\', list: [1, null, true], __proto__: undefined } as never;
    await harness.add({ key: 'a', payload });
    await harness.relay([handler]).poke();
    expect(handler.seen).toHaveLength(1);
    expect(handler.seen[0]).toMatchObject({
      topic: 'test.run',
      key: 'a',
      attempts: 1,
      availableAtMs: START_MS,
    });
    expect(handler.seen[0]?.payload).toEqual({ text: 'ü "quoted" \\', list: [1, null, true] });
    expect(await harness.count()).toBe(0);
  });

  it('lets nothing leave a transaction that rolls back, and wakes nobody for it', async () => {
    const woken: string[] = [];
    harness.queue.onWake((lane) => woken.push(lane));
    const failed = harness.outbox.tx(async (tx) => {
      await harness.outbox.add(tx, [message({})]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(woken).toEqual([]);
    expect(await harness.count()).toBe(0);
  });

  it('wakes each lane once, after the commit, and not the lanes of a later time', async () => {
    const woken: string[] = [];
    harness.queue.onWake((lane) => woken.push(lane));
    await harness.outbox.tx(async (tx) => {
      const far = { lane: 'far', availableAtMs: START_MS + 3_600_000 };
      await harness.outbox.add(tx, [
        message({ lane: 'a' }),
        message({ lane: 'b' }),
        message({ lane: 'a' }),
        message(far),
      ]);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      expect(woken).toEqual([]);
    });
    await until(() => woken.length > 0);
    expect(woken).toEqual(['test.run|a', 'test.run|b']);
  });

  it('keeps a message until its time', async () => {
    const handler = recorder();
    const relay = harness.relay([handler]);
    await harness.add({ key: 'soon', availableAtMs: START_MS + 5_000 });
    await relay.poke();
    expect(handler.keys()).toEqual([]);
    clock.advance(5_000);
    await relay.poke();
    expect(handler.keys()).toEqual(['soon']);
  });

  it('lets messages of a far future wait beside the hot table and brings them back in time', async () => {
    const handler = recorder();
    const relay = harness.relay([handler]);
    await harness.add({ key: 'far', availableAtMs: START_MS + 3_600_000 }, { key: 'now' });
    expect([await harness.count(), await harness.count('outbox_later')]).toEqual([1, 1]);
    await relay.poke();
    expect(handler.keys()).toEqual(['now']);
    clock.advance(3_600_000 - 60_000);
    await relay.poke();
    expect([await harness.count(), await harness.count('outbox_later')]).toEqual([1, 0]);
    expect(handler.keys()).toEqual(['now']);
    clock.advance(60_000);
    await relay.poke();
    expect(handler.keys()).toEqual(['now', 'far']);
  });

  it('takes messages back by topic and key, near and far, and no others', async () => {
    const far = START_MS + 3_600_000;
    await harness.add(
      { key: 'a' },
      { key: 'a', availableAtMs: far },
      { key: 'b' },
      { key: 'a', topic: 'test.other' },
    );
    const cancelled = await harness.outbox.tx((tx) => harness.outbox.cancel(tx, 'test.run', 'a'));
    expect(cancelled).toBe(2);
    const handler = recorder();
    const other = recorder({ topic: 'test.other' });
    await harness.relay([handler, other]).poke();
    expect([handler.keys(), other.keys()]).toEqual([['b'], ['a']]);
  });

  it('tells a handler whose message was taken back that its lease is lost, and undoes its work', async () => {
    const ends: boolean[] = [];
    await database.db.query('create table effects (key text)');
    await harness.add({ key: 'a' });
    const handler = recorder({
      async handle(row, finish) {
        await harness.outbox.tx((tx) => harness.outbox.cancel(tx, row.topic, row.key));
        ends.push(await finish(async (tx) => void (await tx.query(`insert into effects values ('x')`))));
      },
    });
    await harness.relay([handler]).poke();
    expect(ends).toEqual([false]);
    expect((await database.db.query('select * from effects')).rowCount).toBe(0);
  });

  it('leaves topics without a handler alone', async () => {
    await harness.add({ topic: 'test.unknown' });
    await harness.relay([recorder()]).poke();
    expect(await harness.count()).toBe(1);
  });

  it('counts what is ready, held and in flight', async () => {
    await harness.add({ key: 'a' }, { key: 'b', availableAtMs: START_MS + 1_000 });
    await harness.add({ key: 'c', availableAtMs: START_MS + 3_600_000 });
    clock.advance(250);
    const relay = harness.relay([recorder()]);
    expect(await relay.stats()).toEqual({ ready: 1, held: 2, inFlight: 0, oldestMs: 250 });
  });
});
