import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../src/main/compose.ts';
import type { Services } from '../../src/main/compose.ts';
import { ProcessRegistry } from '../../src/main/process-registry.ts';
import { Periodic } from '../../src/main/periodic.ts';
import { WorkerRole } from '../../src/main/worker.role.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createMetrics } from '../../src/platform/metrics/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import { loadSettings } from '../../src/platform/settings/index.ts';
import { testDb, until } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

const TEAM = randomUUID();

describe('the worker role', () => {
  let test: TestDb;
  let services: Services;
  let periodic: Periodic;
  let worker: WorkerRole;

  const addProcess = async (heartbeatAge: string): Promise<string> => {
    const id = randomUUID();
    await test.db.query(
      `insert into processes (id, role, pid, host, version, heartbeat_at)
       values ($1, 'gateway', 1, 'h', '1', now() - $2::interval)`,
      [id, heartbeatAge],
    );
    return id;
  };
  /** Work that the process claimed, for an hour. */
  const addLease = (owner: string): Promise<unknown> =>
    test.db.query(
      `insert into outbox (topic, key, lane, payload, available_at, attempts, lease_owner, leased_at, lease_until)
       values ('nobody.hears', $1::text, 'nobody.hears|x', '{}', now(), 1, $1::uuid, now(), now() + interval '1 hour')`,
      [owner],
    );
  const leased = async (): Promise<string[]> =>
    (
      await test.db.query<{ owner: string }>(
        'select lease_owner as owner from outbox where lease_owner is not null',
      )
    ).rows.map(({ owner }) => owner);
  const addSession = async (processId: string, row: { age: string; state: string }): Promise<string> => {
    const id = randomUUID();
    await test.db.query(
      `insert into detection_sessions
         (id, team_id, key_id, process_id, source, strategy, audio_encoding, sample_rate_hz, state, started_at)
       values ($1, $2, $1, $3, 'ws', 'standard', 'mulaw', 8000, $4, now() - $5::interval)`,
      [id, TEAM, processId, row.state, row.age],
    );
    return id;
  };
  const addDelivery = async (age: string): Promise<string> => {
    const id = randomUUID();
    await test.db.query(
      `insert into webhook_deliveries
         (id, team_id, kind, source_id, sequence, event, url, body, signing_key_id, state, created_at, finished_at)
       values ($1, $2, 'detection', $1, 1, 'beep', 'https://x.example', '{}', $1, 'delivered',
               now() - $3::interval, now() - $3::interval)`,
      [id, TEAM, age],
    );
    return id;
  };
  const stateOf = async (id: string): Promise<string | undefined> =>
    (await test.db.query<{ state: string }>('select state from detection_sessions where id = $1', [id]))
      .rows[0]?.state;

  beforeAll(async () => {
    test = await testDb();
    await test.db.query(`insert into teams (id, name) values ($1, 'A')`, [TEAM]);
    const settings = loadSettings({});
    services = compose({
      ...{ settings, logger: silentLogger, url: test.url, masterKey: randomBytes(32) },
      ...{ maxConnections: 5, applicationName: 'test' },
    });
    periodic = new Periodic(silentLogger);
  });
  afterAll(async () => {
    await worker.stop(0);
    await periodic.stop();
    await services.close();
    await test.drop();
  });

  it('deletes what is older than its retention and keeps the rest; marks sessions of the dead lost, not those of the living', async () => {
    const [living, dead] = [await addProcess('1 s'), await addProcess('5 minutes')];
    const old = await addSession(living, { age: '7 days 1 hour', state: 'ended' });
    const recent = await addSession(living, { age: '6 days', state: 'ended' });
    const running = await addSession(living, { age: '1 minute', state: 'live' });
    const orphaned = await addSession(dead, { age: '6 minutes', state: 'live' });
    const [oldDelivery, recentDelivery] = [await addDelivery('91 days'), await addDelivery('89 days')];

    const queue = createQueue({ logger: silentLogger, clock: services.clock });
    const registry = new ProcessRegistry({
      ...{ db: test.db, id: await addProcess('0 s'), roles: ['worker'], onLost: async () => undefined },
    });
    const heard = { registry, isSteady: () => true };
    worker = new WorkerRole({ services, queue, metrics: createMetrics(), periodic, ...heard });
    worker.start();

    await until(async () => (await stateOf(old)) === undefined);
    await until(async () => (await stateOf(orphaned)) === 'lost');
    const deliveries = async (): Promise<string[]> =>
      (await test.db.query<{ id: string }>('select id from webhook_deliveries')).rows.map((row) => row.id);
    await until(async () => !(await deliveries()).includes(oldDelivery));
    expect([await stateOf(recent), await stateOf(running)]).toEqual(['ended', 'live']);
    expect(await deliveries()).toEqual([recentDelivery]);
  });

  it('hands out again what dead processes had claimed, and leaves theirs to the living', async () => {
    const [living, silent, ended] = [
      await addProcess('-1 hour'),
      await addProcess('20 s'),
      await addProcess('1 s'),
    ];
    await test.db.query('update processes set ended_at = now() where id = $1', [ended]);
    for (const owner of [living, silent, ended]) await addLease(owner);
    await until(async () => (await leased()).length === 1);
    expect(await leased()).toEqual([living]);
    const { rows } = await test.db.query('select attempts, lease_until from outbox where key = $1', [ended]);
    expect(rows).toEqual([{ attempts: 1, lease_until: null }]);
  });

  it('knows after a kill on its own machine that the process is gone', async () => {
    const registry = (roles: string[]) =>
      new ProcessRegistry({ ...{ db: test.db, id: randomUUID(), roles }, onLost: async () => undefined });
    const [killed, living] = [registry(['api']), registry(['worker'])];
    await killed.beat();
    await test.db.query(`update processes set pid = $2 where id = $1`, [killed.id, await endedPid()]);
    await living.beat();
    const foreign = await addProcess('1 s');
    await living.endKilledNeighbours();
    const { rows } = await test.db.query<{ id: string }>(
      'select id from processes where ended_at is not null and id = any($1)',
      [[killed.id, living.id, foreign]],
    );
    expect(rows).toEqual([{ id: killed.id }]);
    expect(await living.diedLately({ byHeartbeat: false })).toContain(killed.id);
  });
});

/** The id of a process that has ended and was collected. */
async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}
