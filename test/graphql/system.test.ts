import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Relay } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { ask } from './_client.ts';

let db: TestDb;
let api: TestApi;
let account: TestAccount;
let operator: TestAccount;

beforeAll(async () => {
  db = await testDb();
  api = await startApi(db);
  account = await api.account();
  operator = await api.account({ operator: true });
  await db.db.query(
    `insert into processes (id, role, pid, host, version, stats)
     values (gen_random_uuid(), 'main', 42, 'host-1', '9.9.9', '{"roles": ["api", "worker"]}'),
       (gen_random_uuid(), 'gateway', 43, 'host-1', '9.9.9', '{}')`,
  );
});

afterAll(async () => {
  await api.close();
  await db.drop();
});

const add = (teamId: string, availableAtMs?: number) =>
  api.services.outbox.tx((tx) =>
    api.services.outbox.add(tx, [
      {
        ...{ topic: 'followup.due', key: 'k', lane: teamId, payload: {} },
        ...(availableAtMs === undefined ? {} : { availableAtMs }),
      },
    ]),
  );

describe('the system', () => {
  it('shows processes, versions and readiness; hosts to operators only', async () => {
    const query = `{ system { versions readiness { ready parts { name ok } }
      processes { role roles version host pid liveSessions } } }`;
    const seen = await ask(api, query, { as: account });
    expect(seen.data.system.versions).toContain('9.9.9');
    expect(seen.data.system.readiness).toEqual({ ready: true, parts: [{ name: 'database', ok: true }] });
    expect(seen.data.system.processes).toEqual([
      { role: 'gateway', roles: ['gateway'], version: '9.9.9', host: null, pid: null, liveSessions: 0 },
      { role: 'main', roles: ['api', 'worker'], version: '9.9.9', host: null, pid: null, liveSessions: 0 },
    ]);
    const told = await ask(api, query, { as: operator });
    expect(told.data.system.processes[1]).toMatchObject({ host: 'host-1', pid: 42 });
  });

  it("shows the work of one's own account, and to operators that of all", async () => {
    const other = await api.account();
    await add(account.teamId);
    await add(other.teamId);
    await add(other.teamId, api.services.clock.nowMs() + 86_400_000);
    const query = '{ queues { name ready held inFlight oldestMs paused } }';
    const own = await ask(api, query, { as: account });
    expect(own.data.queues).toMatchObject([{ name: 'followup.due', ready: 1, held: 0, paused: false }]);
    expect(own.data.queues[0].oldestMs).toBeGreaterThanOrEqual(0);
    const all = await ask(api, query, { as: operator });
    expect(all.data.queues).toMatchObject([{ name: 'followup.due', ready: 2, held: 1, inFlight: 0 }]);
    const ofOne = `{ queues(teamId: "${other.teamId}") { ready held } }`;
    expect((await ask(api, ofOne, { as: operator })).data.queues).toEqual([{ ready: 1, held: 1 }]);
  });

  it('takes no work of a queue that an operator paused, until it goes on', async () => {
    const { clock, ids } = api.services;
    let handled = 0;
    const handler = {
      ...{ topic: 'followup.due', concurrencyMax: 4, leaseMs: 10_000, mayRepeat: false },
      handle: async (_row: unknown, finish: (work: () => Promise<undefined>) => Promise<unknown>) => {
        handled += 1;
        await finish(async () => undefined);
      },
    };
    const queue = createQueue({ logger: silentLogger, clock });
    const relay = new Relay({ db: db.db, queue, clock, ids, logger: silentLogger, handlers: [handler] });
    await relay.poke();
    const before = handled;
    const change = (name: string) =>
      ask(api, `mutation { ${name}(input: {name: "followup.due"}) { queue { name paused } } }`, {
        as: operator,
      });
    expect((await change('pauseQueue')).data.pauseQueue.queue).toEqual({
      name: 'followup.due',
      paused: true,
    });
    await add(account.teamId);
    await relay.poke();
    expect(handled).toBe(before);
    const shown = await ask(api, '{ queues { ready paused } }', { as: operator });
    expect(shown.data.queues).toEqual([{ ready: 1, paused: true }]);
    expect((await change('resumeQueue')).data.resumeQueue.queue.paused).toBe(false);
    await relay.poke();
    expect(handled).toBe(before + 1);
    await relay.stop();
    const unknown = 'mutation { pauseQueue(input: {name: "none"}) { queue { name } } }';
    expect((await ask(api, unknown, { as: operator })).code).toBe('NOT_FOUND');
  });
});
