/**
 * Deliveries that were accepted (their rows committed) against workers that die and receivers that misbehave.
 * The services here are workers only: the work lies in the database as the gateway leaves it.
 */
import { describe, expect, it } from 'vitest';
import { until } from '../_util/index.ts';
import { acceptDeliveries } from './_util/accepted.ts';
import { Lab } from './_util/lab.ts';
import type { Answering, Receiver } from './_util/receiver.ts';
import { CELL_LIMIT_MS, picker, scaled } from './_util/scale.ts';
import type { Service } from './_util/service.ts';

const DELIVERIES = scaled(200, 2_000);
/** How often a worker is killed while it works through one cell. */
const KILLS = scaled(1, 5);
const WORKER = { ROLES: 'worker' };
const LIMIT = { timeout: CELL_LIMIT_MS };

/** Ids of deliveries that a killed worker had taken: only these may come twice. */
async function takenNow(lab: Lab): Promise<string[]> {
  const rows = await lab.ledger.query<{ key: string }>(
    'select key from outbox where lease_owner is not null',
  );
  return rows.map(({ key }) => key);
}

async function expectAllDelivered(
  lab: Lab,
  receiver: Receiver,
  mayRepeat: ReadonlySet<string>,
): Promise<void> {
  await lab.ledger.settled();
  const rows = await lab.ledger.expectNothingLost(receiver);
  expect(rows.length).toBe(DELIVERIES);
  expect(rows.filter(({ state }) => state !== 'delivered')).toEqual([]);
  const doubled = rows.map(({ id }) => id).filter((id) => receiver.attempts(id).length > 1);
  expect(
    doubled.filter((id) => !mayRepeat.has(id)),
    'repeated though no worker died over them',
  ).toEqual([]);
}

describe.concurrent('a worker killed with -9', () => {
  for (const point of ['after claim', 'before record'] as const) {
    it(`${point} loses no delivery`, LIMIT, async () => {
      const lab = await Lab.open(WORKER);
      try {
        const pick = picker(point);
        const receiver = await lab.receiver();
        await acceptDeliveries(lab.test.db, { ...lab, url: receiver.url, count: DELIVERIES });
        const mayRepeat = new Set<string>();
        for (let kill = 0; kill < KILLS; kill += 1) {
          const crash = lab.crash(point, pick(1, Math.floor((DELIVERIES * 0.9) / KILLS)));
          // It may die before it is ready, as the work waits for it.
          const dying = lab.start(crash.env).catch(() => undefined);
          await until(() => crash.struck, 60_000, `a pass of the point "${point}"`);
          await (
            await dying
          )?.exited;
          for (const id of await takenNow(lab)) mayRepeat.add(id);
        }
        await lab.start();
        await expectAllDelivered(lab, receiver, mayRepeat);
      } finally {
        await lab.close();
      }
    });
  }

  it('between the POST and its record delivers it again under the same id', LIMIT, async () => {
    const lab = await Lab.open(WORKER);
    try {
      const pick = picker('after POST');
      let worker: Service | undefined;
      let killAt = 0;
      const unrecorded: string[] = [];
      const receiver = await lab.receiver(({ deliveryId }) => {
        if (killAt === 0 || !worker || receiver.arrivals.length < killAt) return { status: 200 };
        killAt = 0;
        worker.signal('SIGKILL');
        unrecorded.push(deliveryId);
        return 'never';
      });
      const mayRepeat = new Set<string>();
      worker = await lab.start();
      await acceptDeliveries(lab.test.db, { ...lab, url: receiver.url, count: DELIVERIES - KILLS });
      for (let kill = 0; kill < KILLS; kill += 1) {
        // At the latest by the one accepted here, should all others be done before.
        const latest = DELIVERIES - KILLS + kill + 1;
        killAt = Math.min(latest, receiver.arrivals.length + pick(1, Math.floor(DELIVERIES / 4 / KILLS)));
        await acceptDeliveries(lab.test.db, { ...lab, url: receiver.url, count: 1 });
        await worker.exited;
        for (const id of await takenNow(lab)) mayRepeat.add(id);
        worker = await lab.start();
      }
      await expectAllDelivered(lab, receiver, mayRepeat);
      expect(unrecorded.length).toBe(KILLS);
      for (const id of unrecorded) expect(receiver.attempts(id).length, id).toBeGreaterThan(1);
    } finally {
      await lab.close();
    }
  });
});

/** Receivers that misbehave, and how each of their deliveries must end. */
const RECEIVERS: Record<
  string,
  { answer: Answering; ends: { state: string; attempts: number; status: number | null } }
> = {
  'never answers': { answer: () => 'never', ends: { state: 'failed', attempts: 4, status: null } },
  'answers 500 three times': {
    answer: (_, attempt) => ({ status: attempt <= 3 ? 500 : 200 }),
    ends: { state: 'delivered', attempts: 4, status: 200 },
  },
  'answers 429 with seconds': {
    answer: (_, attempt) =>
      attempt === 1 ? { status: 429, headers: { 'Retry-After': '4' } } : { status: 200 },
    ends: { state: 'delivered', attempts: 2, status: 200 },
  },
  'answers 429 with a date': {
    answer: (_, attempt) =>
      attempt === 1
        ? { status: 429, headers: { 'Retry-After': new Date(Date.now() + 5_000).toUTCString() } }
        : { status: 200 },
    ends: { state: 'delivered', attempts: 2, status: 200 },
  },
  'answers 404': { answer: () => ({ status: 404 }), ends: { state: 'failed', attempts: 1, status: 404 } },
  'closes the connection': {
    answer: (_, attempt) => (attempt === 1 ? 'hangup' : { status: 204 }),
    ends: { state: 'delivered', attempts: 2, status: 204 },
  },
  'answers after 9 s': {
    answer: () => ({ status: 200, delayMs: 9_000 }),
    ends: { state: 'delivered', attempts: 1, status: 200 },
  },
};

/** Deliveries for each receiver that misbehaves: in the long run more than its places in flight. */
const PER_RECEIVER = scaled(6, 40);

describe.concurrent('receivers that misbehave', () => {
  it('get what the contract says each, and delay nobody else', LIMIT, async () => {
    const lab = await Lab.open(WORKER);
    try {
      const bad = await Promise.all(
        Object.entries(RECEIVERS).map(async ([name, { answer, ends }]) => {
          const receiver = await lab.receiver(answer);
          const work = { ...lab, url: receiver.url, count: PER_RECEIVER };
          return { name, ends, receiver, ids: await acceptDeliveries(lab.test.db, work) };
        }),
      );
      const good = await lab.receiver();
      await lab.start();
      const silent = bad.find(({ name }) => name === 'never answers');
      await until(() => (silent?.receiver.arrivals.length ?? 0) > 0, 30_000, 'a POST that is not answered');

      // Accepted behind all of the others, and done while the silent one still holds its first POSTs.
      const ids = await acceptDeliveries(lab.test.db, { ...lab, url: good.url, count: 100 });
      await until(() => good.deliveryIds.size === ids.length, 30_000, 'the deliveries of the good receiver');
      const [open] = await lab.ledger.query<{ n: string }>(
        `select count(*) as n from webhook_deliveries where state = 'pending' and id = any($1)`,
        [silent?.ids],
      );
      expect(Number(open?.n)).toBe(PER_RECEIVER);

      await lab.ledger.settled(CELL_LIMIT_MS);
      const rows = new Map((await lab.ledger.deliveries()).map((row) => [row.id, row]));
      for (const { name, ends, receiver, ids: own } of bad) {
        expect(receiver.faults, name).toEqual([]);
        const ended = own.map((id) => {
          const row = rows.get(id);
          return { state: row?.state, attempts: row?.attempts, status: row?.status_code };
        });
        expect(ended, name).toEqual(own.map(() => ends));
        expect(
          own.map((id) => receiver.attempts(id).length),
          name,
        ).toEqual(own.map(() => ends.attempts));
      }
      expectWaits(bad);
    } finally {
      await lab.close();
    }
  });
});

/** Every attempt is signed anew, and none comes before the time the receiver asked for. */
function expectWaits(bad: readonly { name: string; receiver: Receiver; ids: readonly string[] }[]): void {
  const waitsOf = (name: string): number[] => {
    const found = bad.find((one) => one.name === name);
    return (found?.ids ?? []).map((id) => {
      const [first, second] = found?.receiver.attempts(id) ?? [];
      return (second?.signedAtMs ?? 0) - (first?.receivedAtMs ?? 0);
    });
  };
  for (const waitMs of waitsOf('answers 429 with seconds')) expect(waitMs).toBeGreaterThanOrEqual(4_000);
  // A date has whole seconds: asked for 5 s, at least 4 are left of it.
  for (const waitMs of waitsOf('answers 429 with a date')) expect(waitMs).toBeGreaterThanOrEqual(4_000);
}
