import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSendRetention } from '../../src/features/sends/sends.retention.jobs.ts';
import { DispatchWorld } from './dispatch.world.ts';

const DAY_MS = 86_400_000;

let world: DispatchWorld;

beforeAll(async () => {
  world = await DispatchWorld.start();
});
afterAll(() => world.close());

const partitions = async (): Promise<string[]> => {
  const rows = await world.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent in ('sends'::regclass, 'send_steps'::regclass) order by 1`,
  );
  return rows.map(({ name }) => name);
};

describe('the retention of sends', () => {
  it('makes partitions ahead, drops those that are over, keeps what is younger', async () => {
    const account = await world.account();
    const old = await world.send(account, 'sms', { to: world.number(), body: 'Hello.' });
    const { db } = world.accounts.services;
    const retention = createSendRetention({ db, clock: world.clock, retentionDays: 90 });
    await retention.run();
    expect((await world.view(old.sendId)).state).toBe('finished');
    world.clock.advance(85 * DAY_MS);
    await retention.run();
    const young = await world.send(account, 'sms', { to: world.number(), body: 'Hello.' });
    world.clock.advance(14 * DAY_MS);
    await retention.run();
    await expect(world.view(old.sendId)).rejects.toThrow('no such send');
    expect(await world.steps(old.sendId)).toEqual([]);
    expect((await world.view(young.sendId)).state).toBe('finished');
    expect((await world.steps(young.sendId)).length).toBeGreaterThan(0);
    // Five weeks from then on there is a place for every send and its steps.
    const names = await partitions();
    expect(names).toContain('sends_2026w28');
    expect(names).toContain('send_steps_2026w28');
    expect(names.filter((name) => name < 'sends_2026w09' && name.startsWith('sends_'))).toEqual([]);
  });

  it('keeps a week in which a send has no result yet', async () => {
    const account = await world.account();
    const { db } = world.accounts.services;
    const retention = createSendRetention({ db, clock: world.clock, retentionDays: 1 });
    await retention.run();
    const open = await world.accept(account, 'sms', { to: world.number(), body: 'Hello.' });
    world.clock.advance(14 * DAY_MS);
    await retention.run();
    expect((await world.view(open)).state).toBe('queued');
    await world.work();
    expect((await world.view(open)).state).toBe('finished');
    await retention.run();
    await expect(world.view(open)).rejects.toThrow('no such send');
    expect(await world.steps(open)).toEqual([]);
  });

  it('sweeps attempts, keys, callbacks and receipts by their age', async () => {
    const { db, ids } = world.accounts.services;
    const { teamId } = await world.account();
    const add = async (days: number): Promise<void> => {
      const at = new Date(world.nowMs - days * DAY_MS);
      await world.query(
        'insert into contact_attempts (team_id, phone_number, at, send_id) values ($1, $2, $3, $4)',
        [teamId, '+12125550100', at, ids.uuid()],
      );
      await world.query(
        `insert into send_idempotency (team_id, key, request_hash, send_id, created_at) values ($1, $2, '', $3, $4)`,
        [teamId, ids.uuid(), ids.uuid(), at],
      );
      await world.query(
        `insert into send_callbacks (send_id, team_id, url, body, created_at) values ($1, $2, '', '', $3)`,
        [ids.uuid(), teamId, at],
      );
      await world.query(
        `insert into carrier_receipts (id, team_id, carrier_id, carrier_message_id, receipt, received_at)
         values ($1, $2, $1, 'x', '{}', $3)`,
        [ids.uuid(), teamId, at],
      );
    };
    for (const days of [0.5, 3, 20, 40, 100]) await add(days);
    await createSendRetention({ db, clock: world.clock, retentionDays: 90 }).run();
    const left = async (table: string): Promise<number> =>
      (await world.query(`select 1 from ${table} where team_id = $1`, [teamId])).length;
    expect(await left('contact_attempts')).toBe(3);
    expect(await left('send_idempotency')).toBe(1);
    expect(await left('send_callbacks')).toBe(4);
    expect(await left('carrier_receipts')).toBe(2);
  });
});
