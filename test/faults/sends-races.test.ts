/** Sends that race each other, and a STOP, in two processes over one database (house.md, promise 4). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fateOf } from './_util/carrier.ts';
import { CELL_LIMIT_MS, scaled } from './_util/scale.ts';
import { SendingLab } from './_util/sends.ts';

/** Sends of one cell. */
const SENDS = scaled(200, 2_000);
const LIMIT = { timeout: CELL_LIMIT_MS };

describe.sequential('sends that race in two processes', LIMIT, () => {
  /** Numbers whose race is held at the line, so that it is close for certain. */
  const HELD = 8;
  let sending: SendingLab;

  beforeAll(async () => {
    sending = await SendingLab.open({ attemptsMax: 1 });
    await sending.watchOrder();
    const { dataDir } = await sending.start();
    await sending.start({ ROLES: 'worker', DATA_DIR: `${dataDir}/second` });
  }, CELL_LIMIT_MS);
  afterAll(() => sending.close(), CELL_LIMIT_MS);

  const expectOneEach = async (name: string, numbers: readonly string[]): Promise<void> => {
    await sending.settled();
    const asked = sending.carrier.byNumber();
    expect(numbers.filter((to) => asked.get(to)?.length !== 1)).toEqual([]);
    const outcomes = await sending.outcomes(name);
    for (const to of numbers) {
      const first = { delivered: 0, failed: 4004, silent: null }[fateOf(to)];
      expect(new Set(outcomes.get(to)), to).toEqual(new Set([first, 4013]));
    }
  };

  it('for the last attempt that the frequency limit allows: one goes out', async () => {
    const numbers = sending.numbers(SENDS / 2);
    const twice = numbers.flatMap((to) => [to, to]);
    await sending.ask('frequency', twice).done;
    await expectOneEach('frequency', numbers);
  });

  it('for it after both saw that it was free: one goes out', async () => {
    const numbers = sending.numbers(HELD);
    await sending.holding(numbers, async () => {
      await sending.ask('frequency-held', numbers).done;
      await sending.waitForHeld(1);
      await sending.ask('frequency-held again', numbers).done;
      await sending.waitForHeld(2);
    });
    await expectOneEach('frequency-held', numbers);
  });

  it('with a STOP: none goes out after it', async () => {
    const numbers = sending.numbers(SENDS / 2);
    const before = sending.ask('stop', numbers);
    await Promise.all(numbers.map((from) => sending.textIn(from, 'STOP')));
    await sending.ask('stop-after', numbers).done;
    await before.done;
    await sending.settled();
    const orders = await sending.orders(numbers);
    const asked = sending.carrier.byNumber();
    for (const to of numbers) {
      expect(orders.get(to), to).toMatch(/^(sent )?stopped$/);
      expect(asked.get(to)?.length ?? 0, to).toBe(orders.get(to) === 'stopped' ? 0 : 1);
    }
    expect([...(await sending.outcomes('stop-after')).values()]).toEqual(numbers.map(() => [4016]));
  });

  it('with a STOP that came after they were looked at: none goes out', async () => {
    const numbers = sending.numbers(HELD);
    let stops: Promise<unknown> = Promise.resolve();
    await sending.holding(numbers, async () => {
      stops = Promise.all(numbers.map((from) => sending.textIn(from, 'STOP')));
      await sending.waitForHeld(HELD);
      await sending.ask('stop-held', numbers).done;
      await sending.waitForHeld(HELD + 1);
    });
    await stops;
    await sending.settled();
    expect([...(await sending.outcomes('stop-held')).values()]).toEqual(numbers.map(() => [4016]));
    const asked = sending.carrier.byNumber();
    expect(numbers.filter((to) => asked.has(to))).toEqual([]);
  });
});
