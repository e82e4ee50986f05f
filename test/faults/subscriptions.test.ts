/**
 * Events of the account that were announced (their transaction committed) against workers that die: every subscription
 * gets each of them, at least once, under one id, rightly signed. The services here are workers only.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Services } from '../../src/main/compose.ts';
import { callerOf, catchWebhooks, until } from '../_util/index.ts';
import type { Answer, Catcher, CaughtWebhook } from '../_util/index.ts';
import { isSignedByUs } from '../webhooks/subscription.world.ts';
import { Lab } from './_util/lab.ts';
import type { Service } from './_util/service.ts';
import { CELL_LIMIT_MS, picker, scaled } from './_util/scale.ts';

const EVENTS = scaled(100, 1_000);
const SUBSCRIPTIONS = 2;
const LIMIT = { timeout: CELL_LIMIT_MS };

interface Subscribed {
  readonly id: string;
  readonly secret: string;
  readonly catcher: Catcher;
}

/** Subscriptions of the lab's account, each with a receiver of its own. */
async function subscribe(
  lab: Lab,
  services: Services,
  answer: (hook: CaughtWebhook) => Answer = () => ({ status: 200 }),
): Promise<Subscribed[]> {
  const teamId = lab.credentials.team_id;
  const caller = callerOf({ teamId, ownerId: await services.accounts.ownerId(teamId) });
  return Promise.all(
    Array.from({ length: SUBSCRIPTIONS }, async () => {
      const catcher = await catchWebhooks(answer);
      const made = await services.webhooks.create(caller, {
        hookUrl: catcher.url,
        eventTypes: ['contact.*'],
      });
      return { id: made.subscriptionId, secret: made.signingSecret, catcher };
    }),
  );
}

/** Commits events in transactions of ten, as changes of contacts do. */
async function announce(lab: Lab, services: Services): Promise<void> {
  for (let done = 0; done < EVENTS; done += 10) {
    const news = Array.from({ length: 10 }, () => ({
      ...{ teamId: lab.credentials.team_id, event: 'contact.updated', atMs: services.clock.nowMs() },
      data: { contact_id: randomUUID() },
    }));
    await services.outbox.tx((tx) => services.publisher.announce(tx, news));
  }
}

async function expectAllArrived(
  lab: Lab,
  subscriptions: readonly Subscribed[],
  mayRepeat: ReadonlySet<string>,
) {
  await lab.ledger.settled();
  for (const { id, secret, catcher } of subscriptions) {
    const rows = await lab.ledger.query<{ id: string; event_id: string; body: string; state: string }>(
      'select id, event_id, body, state from webhook_deliveries where source_id = $1 order by sequence',
      [id],
    );
    expect(rows.map(({ body }) => (JSON.parse(body) as { sequence: number }).sequence)).toEqual(
      Array.from({ length: EVENTS }, (_, n) => n + 1),
    );
    expect(rows.filter(({ state }) => state !== 'delivered')).toEqual([]);
    const arrived = new Map<string, CaughtWebhook[]>();
    for (const hook of catcher.caught) {
      expect(isSignedByUs(hook, secret)).toBe(true);
      const eventId = String(hook.headers['x-event-id']);
      arrived.set(eventId, [...(arrived.get(eventId) ?? []), hook]);
    }
    expect([...arrived.keys()].sort()).toEqual(rows.map((row) => row.event_id).sort());
    for (const row of rows) {
      const hooks = arrived.get(row.event_id) ?? [];
      expect(new Set(hooks.map(({ body }) => body))).toEqual(new Set([row.body]));
      if (hooks.length > 1)
        expect(mayRepeat.has(row.id), `${row.id} came twice though no worker died over it`).toBe(true);
    }
  }
}

const takenNow = async (lab: Lab): Promise<string[]> =>
  (await lab.ledger.query<{ key: string }>('select key from outbox where lease_owner is not null')).map(
    ({ key }) => key,
  );

describe.concurrent('a worker killed with -9 over events of subscriptions', () => {
  for (const point of ['after claim', 'before record'] as const) {
    it(`${point} loses none`, LIMIT, async () => {
      const lab = await Lab.open({ ROLES: 'worker' });
      const services = lab.services();
      const subscriptions = await subscribe(lab, services);
      try {
        const pick = picker(`subscriptions ${point}`);
        await announce(lab, services);
        const crash = lab.crash(point, pick(1, Math.floor(EVENTS * SUBSCRIPTIONS * 0.9)));
        const dying = lab.start(crash.env).catch(() => undefined);
        await until(() => crash.struck, 60_000, `a pass of the point "${point}"`);
        await (
          await dying
        )?.exited;
        const mayRepeat = new Set(await takenNow(lab));
        await lab.start();
        await expectAllArrived(lab, subscriptions, mayRepeat);
      } finally {
        await Promise.all(subscriptions.map(({ catcher }) => catcher.close()));
        await lab.close();
      }
    });
  }

  it('between the POST and its record delivers it again under the same id', LIMIT, async () => {
    const lab = await Lab.open({ ROLES: 'worker' });
    const services = lab.services();
    let worker: Service | undefined;
    const unrecorded = new Set<string>();
    let left = picker('subscriptions after POST')(1, Math.floor(EVENTS * 0.9));
    const subscriptions = await subscribe(lab, services, (hook) => {
      left -= 1;
      if (left !== 0 || !worker) return { status: 200 };
      worker.signal('SIGKILL');
      unrecorded.add(String(hook.headers['x-event-id']));
      return 'never';
    });
    try {
      worker = await lab.start();
      await announce(lab, services);
      await worker.exited;
      const mayRepeat = new Set(await takenNow(lab));
      await lab.start();
      await expectAllArrived(lab, subscriptions, mayRepeat);
      expect(unrecorded.size).toBe(1);
      for (const eventId of unrecorded) {
        const counts = subscriptions.map(
          ({ catcher }) => catcher.caught.filter(({ headers }) => headers['x-event-id'] === eventId).length,
        );
        expect(Math.max(...counts)).toBeGreaterThan(1);
      }
    } finally {
      await Promise.all(subscriptions.map(({ catcher }) => catcher.close()));
      await lab.close();
    }
  });
});
