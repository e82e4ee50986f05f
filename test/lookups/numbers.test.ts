import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Handler } from '../../src/platform/outbox/index.ts';
import type { TestAccount } from '../_util/api.ts';
import { LookupsWorld } from './world.ts';

const number = (n: number): string => `+1202555${String(n).padStart(4, '0')}`;

interface ImportAnswer {
  status: string;
  total: number;
  done: number;
  imported: number;
  rejected: { index: number; phone_number: string; reason: string }[];
  finished_at: number | null;
}

describe('phone numbers', () => {
  let world: LookupsWorld;
  beforeAll(async () => void (world = await LookupsWorld.start()));
  afterAll(() => world.close());

  const begin = (as: TestAccount, body: unknown) =>
    world.api.request('POST', '/phone/public/numbers/import', { as, body });
  const start = async (as: TestAccount, body: unknown): Promise<string> => {
    const answer = await begin(as, body);
    expect(answer.status).toBe(202);
    return (answer.data as { long_job_id: string }).long_job_id;
  };
  const status = async (as: TestAccount, id: string): Promise<ImportAnswer> =>
    (await world.api.request('GET', `/phone/public/numbers/import/${id}`, { as })).data as ImportAnswer;
  const list = async (as: TestAccount) =>
    (await world.api.request('GET', '/phone/public/numbers', { as })).data as {
      phone_number: string;
      phone_line_id: string | null;
    }[];
  const line = async (as: TestAccount): Promise<string> => {
    const body = { name: 'Sales', type: 'voice' };
    const { data } = await world.api.request('POST', '/phone/public/lines', { as, body });
    return (data as { phone_line_id: string }).phone_line_id;
  };

  it('are imported in E.164, rejected ones with their reasons', async () => {
    const as = await world.account();
    const texts = [number(123), '(202) 555-0124', 'hello', number(123), '+44', '+442079460958'];
    const id = await start(as, { phone_numbers: texts });
    expect(await status(as, id)).toMatchObject({ status: 'pending', total: 6, done: 0, finished_at: null });
    await world.work();
    expect(await status(as, id)).toMatchObject({
      ...{ status: 'complete', total: 6, done: 6, imported: 3, finished_at: world.clock.nowMs() },
      rejected: [
        { index: 2, phone_number: 'hello', reason: 'invalid_number' },
        { index: 4, phone_number: '+44', reason: 'invalid_number' },
      ],
    });
    const numbers = (await list(as)).map((entry) => entry.phone_number).sort();
    expect(numbers).toEqual([number(123), number(124), '+442079460958']);
  });

  it('are put on a line, also those that were there; importing without a line leaves them there', async () => {
    const as = await world.account();
    const phone_line_id = await line(as);
    await start(as, { phone_numbers: [number(1)] });
    await world.work();
    const id = await start(as, { phone_numbers: [number(1), number(2)], phone_line_id });
    await world.work();
    expect(await status(as, id)).toMatchObject({ imported: 2, rejected: [] });
    await start(as, { phone_numbers: [number(2)] });
    await world.work();
    expect((await list(as)).map((entry) => entry.phone_line_id)).toEqual([phone_line_id, phone_line_id]);
    await world.api.request('DELETE', `/phone/public/lines/${phone_line_id}`, { as });
    expect((await list(as)).map((entry) => entry.phone_line_id)).toEqual([null, null]);
  });

  it('are on no line when it was deleted before the import came to it', async () => {
    const as = await world.account();
    const phone_line_id = await line(as);
    await start(as, { phone_numbers: [number(1)], phone_line_id });
    await world.api.request('DELETE', `/phone/public/lines/${phone_line_id}`, { as });
    await world.work();
    expect(await list(as)).toMatchObject([{ phone_number: number(1), phone_line_id: null }]);
  });

  it('belong to the account that imported them', async () => {
    const [as, other] = [await world.account(), await world.account()];
    const id = await start(other, { phone_numbers: [number(1)] });
    await world.work();
    expect(await list(as)).toEqual([]);
    const job = (path: string) => world.api.request('GET', `/phone/public/numbers/import/${path}`, { as });
    expect((await job(id)).status).toBe(404);
    expect((await job(randomUUID())).status).toBe(404);
    expect((await job('x')).status).toBe(404);
    const foreign = await begin(as, { phone_numbers: [number(1)], phone_line_id: await line(other) });
    expect(foreign.status).toBe(404);
  });

  it.each([
    ['no numbers', {}],
    ['an empty list', { phone_numbers: [] }],
    ['10,001 numbers', { phone_numbers: Array.from({ length: 10_001 }, () => '+12025550123') }],
    ['a text', { phone_numbers: '+12025550123' }],
    ['what is no text', { phone_numbers: [12_025_550_123] }],
    ['a long text', { phone_numbers: ['1'.repeat(41)] }],
    ['NUL', '{"phone_numbers":["\\u0000"]}'],
  ])('refuse an import of %s', async (_what, body) => {
    const as = await world.account();
    expect((await begin(as, body)).status).toBe(400);
  });

  describe('in the thousands', () => {
    let as: TestAccount;
    const TOTAL = 1_250;
    beforeEach(async () => void (as = await world.account()));
    afterEach(() => world.work());

    it('show how far they are, and go on where a crash left them, each number once', async () => {
      const id = await start(as, { phone_numbers: Array.from({ length: TOTAL }, (_, n) => number(n)) });
      const [removal, importer] = world.handlers();
      const seen: number[] = [];
      // Dies in the middle of the second batch's transaction, as a killed process does.
      const crashing: Handler = {
        ...importer!,
        handle: async (row, finish, signal) => {
          seen.push((await status(as, id)).done);
          if (seen.length !== 2) return importer!.handle(row, finish, signal);
          await importer!.handle(
            row,
            (work) =>
              finish(async (tx) => {
                await work?.(tx);
                throw new Error('killed');
              }),
            signal,
          );
        },
      };
      const relay = world.relay([removal!, crashing]);
      await relay.poke();
      expect(await status(as, id)).toMatchObject({ status: 'running', done: 500, imported: 500 });
      expect(await list(as)).toHaveLength(500);
      world.clock.advance(300_000);
      await relay.poke();
      await relay.stop({ graceMs: 0 });
      expect(seen).toEqual([0, 500, 500, 1_000]);
      expect(await status(as, id)).toMatchObject({ status: 'complete', done: TOTAL, imported: TOTAL });
      expect(new Set((await list(as)).map((entry) => entry.phone_number)).size).toBe(TOTAL);
    });

    it('stop at what an account can hold', async () => {
      await world.database.db.query(
        `insert into phone_numbers (id, team_id, phone_number)
         select gen_random_uuid(), $1, '+1303' || lpad(n::text, 7, '0') from generate_series(1, 49999) as n`,
        [as.teamId],
      );
      const id = await start(as, { phone_numbers: [number(1), number(2), '+13030000001'] });
      await world.work();
      expect(await status(as, id)).toMatchObject({
        ...{ status: 'complete', imported: 2 },
        rejected: [{ index: 1, phone_number: number(2), reason: 'limit_reached' }],
      });
    });
  });

  it('forget imports that finished long ago', async () => {
    const as = await world.account();
    const id = await start(as, { phone_numbers: [number(1)] });
    await world.work();
    world.clock.advance(90 * 86_400_000);
    await world.sweep();
    expect(await status(as, id)).toMatchObject({ status: 'complete' });
    world.clock.advance(1);
    await world.sweep();
    expect(await status(as, id)).toBeUndefined();
    expect(await list(as)).toHaveLength(1);
  });
});
