import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, claimsOf, readKey } from '../../src/features/sends/idempotency.rules.ts';
import { AcceptService } from '../../src/features/sends/accept.service.ts';
import type { SendChannel } from '../../src/features/delivery-rules/index.ts';
import { systemIds } from '../../src/kernel/ids.ts';
import { LocalLimiter } from '../../src/platform/limits/index.ts';
import { openDb } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { Outbox } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import type { TestAccount } from '../_util/index.ts';
import { AcceptWorld } from './accept.world.ts';

const TWINS = 100;
const DAY_MS = 24 * 3_600_000;

let world: AcceptWorld;

beforeAll(async () => {
  world = await AcceptWorld.start();
});
afterAll(async () => world.close());

const keyed = (key: string) => ({ 'idempotency-key': key });

describe('an Idempotency-Key', () => {
  it('makes one send of a hundred twins that come at once, and gives each its message_id', async () => {
    const as = await world.account();
    const of = { as, body: { to: '+15550020001', body: 'Once.' }, headers: keyed('order-7') };
    const ids = await Promise.all(Array.from({ length: TWINS }, () => world.taken('/sms', of)));
    expect(new Set(ids).size).toBe(1);
    expect((await world.sends(as.teamId)).map((row) => row.id)).toEqual([ids[0]]);
    const { rows } = await world.database.db.query('select 1 from outbox where key = $1', [ids[0]]);
    expect(rows).toHaveLength(1);
  });

  it('makes one send of twins within one batch and of twins in several processes', async () => {
    const { caller, teamId } = await world.account();
    const other = await anotherProcess();
    try {
      const accept = (one: AcceptService, n: number) =>
        one.accept({
          ...{ caller, channel: 'sms', version: 2, request: { n } },
          idempotencyKey: `twin-${n}`,
        });
      for (let round = 0; round < 10; round += 1) {
        // Each twice within its batch, and there the other way round: who claimed keys as they come would wait for each other.
        const keys = Array.from({ length: TWINS }, (_, n) => round * TWINS + n);
        const asked = [...keys, ...keys];
        const [here, there] = await Promise.all([
          Promise.all(asked.map((n) => accept(world.accept, n))),
          Promise.all(asked.toReversed().map((n) => accept(other.accept, n))),
        ]);
        expect(new Set([...here, ...there]).size).toBe(TWINS);
        expect(here).toEqual(there.toReversed());
      }
      expect(await world.sends(teamId)).toHaveLength(10 * TWINS);
    } finally {
      await other.close();
    }
  });

  it('is claimed once in a batch, by its first send, and all keys in one order by everybody', () => {
    const requestHash = Buffer.alloc(32);
    const keyed = ['b', 'a', 'c', 'a'].map((key, n) => ({ teamId: 't', key, sendId: `${n}`, requestHash }));
    const claimed = (of: typeof keyed) => claimsOf(of).map(({ key, sendId }) => key + sendId);
    expect(claimed(keyed)).toEqual(['a1', 'b0', 'c2']);
    expect(claimed(keyed.toReversed())).toEqual(['a3', 'b0', 'c2']);
  });

  it('with another body, or on another route, is a send that is refused with 3027', async () => {
    const as = await world.account();
    const headers = keyed('reused');
    const first = await world.taken('/sms', { as, headers, body: { to: '1', body: 'a' } });
    const second = await world.taken('/sms', { as, headers, body: { to: '1', body: 'b' } });
    const third = await world.taken('/rvm', { as, headers, body: { to: '1', body: 'a' } });
    const again = await world.taken('/sms', { as, headers, body: { body: 'a', to: '1' } });
    expect(new Set([first, second, third]).size).toBe(3);
    expect(again).toBe(first);
    const codes = (await world.sends(as.teamId)).map((row) => [row.id, row.accept_code]);
    expect(codes).toHaveLength(3);
    expect(codes).toEqual(
      expect.arrayContaining([
        [first, null],
        [second, 3027],
        [third, 3027],
      ]),
    );
  });

  it('is one send also with the conflict in the same batch', async () => {
    const as = await world.account();
    const headers = keyed('mixed');
    const bodies = [{ n: 1 }, { n: 2 }, { n: 1 }, { n: 2 }, { n: 1 }];
    const ids = await Promise.all(bodies.map((body) => world.taken('/sms', { as, headers, body })));
    const rows = await world.sends(as.teamId);
    const owner = rows.find((row) => row.accept_code === null);
    const same = rows.filter((row) => row.request.n === owner?.request.n);
    expect(same).toHaveLength(1);
    for (const [index, body] of bodies.entries())
      if (body.n === owner?.request.n) expect(ids[index]).toBe(owner.id);
    expect(rows.filter((row) => row.accept_code === 3027)).toHaveLength(owner?.request.n === 1 ? 2 : 3);
  });

  it('is kept for 24 hours and then is a key like any other', async () => {
    const as = await world.account();
    const of = { as, headers: keyed('daily'), body: { to: '1' } };
    const first = await world.taken('/sms', of);
    world.clock.advance(DAY_MS - 1);
    expect(await world.taken('/sms', of)).toBe(first);
    world.clock.advance(1);
    const second = await world.taken('/sms', of);
    expect(second).not.toBe(first);
    expect(await world.taken('/sms', of)).toBe(second);
    expect((await world.sends(as.teamId)).map((row) => row.accept_code)).toEqual([null, null]);
  });

  it('is an account’s own', async () => {
    const [one, other] = [await world.account(), await world.account()];
    const of = { headers: keyed('shared'), body: { to: '1' } };
    expect(await world.taken('/sms', { as: one, ...of })).not.toBe(
      await world.taken('/sms', { as: other, ...of }),
    );
  });

  it.each(['', '   '])('that is empty (%j) is none', async (key) => {
    const as = await world.account();
    const of = { as, headers: keyed(key), body: { to: '1' } };
    expect(await world.taken('/sms', of)).not.toBe(await world.taken('/sms', of));
    expect((await world.sends(as.teamId)).map((row) => row.accept_code)).toEqual([null, null]);
  });

  it.each(['k'.repeat(256), 'caf\u00e9', 'a\tb'])(
    'that is malformed makes a send each time, refused with 3028',
    async (key) => {
      const as = await world.account();
      const of = { as, headers: keyed(key), body: { to: '1' } };
      expect(await world.taken('/sms', of)).not.toBe(await world.taken('/sms', of));
      expect((await world.sends(as.teamId)).map((row) => row.accept_code)).toEqual([3028, 3028]);
    },
  );

  it('may be 255 characters of printable ASCII', () => {
    const key = `${'~ !'.repeat(84)}xyz`;
    expect(readKey(key)).toEqual({ kind: 'key', key });
    expect(readKey(`${key}.`)).toEqual({ kind: 'malformed' });
  });
});

describe('what the same body is', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).toReversed();
    return Object.fromEntries(entries.map(([key, inner]) => [key, shuffled(inner)]));
  };

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'small' }), (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 300 },
    );
  });

  it('depends on the order of items, the kind of values and every key', () => {
    const different = [
      ...['[1,2]', '[2,1]', '{"a":1}', '{"a":"1"}', '{"a":1,"b":null}', '{"a":[1]}', '{"b":1}', '{}', '[]'],
    ];
    const texts = different.map((text) => canonicalJson(JSON.parse(text)));
    expect(new Set(texts).size).toBe(different.length);
  });
});

/** What a key stands for: the first send of it that still lives. */
interface Model {
  readonly byKey: Map<string, { id: string; channel: string; body: string; atMs: number }>;
  /** Codes of the sends in the order they were stored. */
  readonly codes: (number | null)[];
}

const command = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      team: fc.nat(1),
      key: fc.constantFrom(undefined, 'a', 'b', '', 'ÿ'),
      channel: fc.constantFrom<SendChannel>('sms', 'rvm'),
      body: fc.constantFrom('{"x":1,"y":2}', '{"y":2, "x":1}', '{"x":2}'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ hours: fc.constantFrom(1, 12, 24) }) },
);

describe('idempotency', () => {
  it('is the model’s, whatever comes in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 50 }), async (commands) => {
        const accounts = [await world.account(), await world.account()];
        const models = accounts.map((): Model => ({ byKey: new Map(), codes: [] }));
        for (const one of commands) {
          if ('hours' in one) world.clock.advance((one.hours * DAY_MS) / 24);
          else await step(one, accounts[one.team]!, models[one.team]!);
        }
        for (const [index, { teamId }] of accounts.entries()) {
          const codes = (await world.sends(teamId)).map((row) => row.accept_code);
          expect(codes.sort()).toEqual([...models[index]!.codes].sort());
        }
        // Back to where there are partitions.
        world.clock.advance(Date.now() - world.clock.nowMs());
      }),
      { numRuns: 20 },
    );
  });

  async function step(
    of: { key: string | undefined; channel: SendChannel; body: string },
    { caller }: TestAccount,
    model: Model,
  ): Promise<void> {
    const request: unknown = JSON.parse(of.body);
    const id = await world.accept.accept({
      ...{ caller, channel: of.channel, version: 2, request },
      ...(of.key === undefined ? {} : { idempotencyKey: of.key }),
    });
    if (of.key === undefined || of.key === '') return void model.codes.push(null);
    if (of.key === 'ÿ') return void model.codes.push(3028);
    const nowMs = world.clock.nowMs();
    const known = model.byKey.get(of.key);
    const body = JSON.stringify(Object.entries(request as object).sort());
    if (!known || nowMs - known.atMs >= DAY_MS) {
      model.byKey.set(of.key, { id, channel: of.channel, body, atMs: nowMs });
      return void model.codes.push(null);
    }
    const isTwin = known.channel === of.channel && known.body === body;
    expect(id === known.id).toBe(isTwin);
    if (!isTwin) model.codes.push(3027);
  }
});

/** A second process over the same database, as far as accepting goes. */
async function anotherProcess(): Promise<{ accept: AcceptService; close: () => Promise<void> }> {
  const { clock } = world;
  const db = openDb({
    ...{ url: world.database.url, maxConnections: 5, applicationName: 'other', logger: silentLogger },
  });
  const outbox = new Outbox(db, createQueue({ logger: silentLogger, clock }), clock);
  const accept = new AcceptService({
    ...{ outbox, clock, ids: systemIds, limiter: new LocalLimiter({ clock }) },
    rateOf: async () => 100_000,
  });
  return { accept, close: () => db.close() };
}
