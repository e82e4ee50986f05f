import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentTask } from '../../src/features/contacts/index.ts';
import type { Caller } from '../../src/kernel/caller.ts';
import { until } from '../_util/index.ts';
import { AroundWorld } from './around.world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const CONFLICT = { code: 'conflict', status: 409 };

describe('Follow-ups that are due', () => {
  let world: AroundWorld;

  beforeAll(async () => {
    world = await AroundWorld.start();
  });
  afterAll(() => world.stop());

  const setUp = async () => {
    const { caller, teamId } = await world.account();
    return { caller, teamId, contactId: await world.contact(caller) };
  };
  const statusOf = async (caller: Caller, contactId: string, followupId: string) => {
    const { followUps } = world.services;
    const all = [
      ...(await followUps.list(caller, contactId)),
      ...(await followUps.list(caller, contactId, { status: 'cancelled' })),
    ];
    return all.find((followUp) => followUp.followupId === followupId)?.status;
  };

  it('become one inbox task each when they are due, and are completed with it', async () => {
    const { caller, contactId } = await setUp();
    const { followUps, tasks, timeline } = world.services;
    const agent = await world.user(caller, 'agent');
    const scheduledAt = world.inMs(30 * DAY_MS);
    const { followupId } = await followUps.create(caller, contactId, {
      ...{ scheduledAt, description: '<b>ring</b>', assignedTo: agent.userId },
    });
    const worker = world.worker();
    world.clock.advance(30 * DAY_MS - 1);
    await worker.poke();
    expect(await statusOf(caller, contactId, followupId)).toBe('pending');
    expect(await tasks.list(caller)).toEqual([]);
    world.clock.advance(1);
    await worker.poke();
    const [task, ...more] = await tasks.list(caller);
    expect(more).toEqual([]);
    expect(task && presentTask(task)).toEqual({
      ...{ task_id: task?.taskId, contact_id: contactId, followup_id: followupId, status: 'open' },
      ...{
        description: '<b>ring</b>',
        description_text: 'ring',
        assigned_to: agent.userId,
        assigned_type: 'user',
      },
      ...{ due_at: scheduledAt, created_at: world.clock.nowMs(), completed_at: null, completed_by: null },
    });
    expect(await followUps.list(caller, contactId)).toMatchObject([
      { followupId, status: 'triggered', taskId: task?.taskId },
    ]);
    expect(await world.messages(followupId)).toEqual([]);
    world.clock.advance(MINUTE_MS);
    const done = await tasks.complete(agent, (task?.taskId ?? '').toUpperCase());
    expect(done).toMatchObject({
      status: 'completed',
      completedBy: agent.userId,
      completedAtMs: world.clock.nowMs(),
    });
    expect(await statusOf(caller, contactId, followupId)).toBe('completed');
    await expect(tasks.complete(caller, task?.taskId ?? '')).rejects.toMatchObject(CONFLICT);
    const entries = (await timeline.list(caller, contactId)).map((entry) => entry.type);
    expect(entries).toEqual(['followup.completed', 'followup.triggered', 'followup.created']);
  });

  it('that were put off come at the new time only, and those brought forward at once', async () => {
    const { caller, contactId } = await setUp();
    const { followUps, tasks } = world.services;
    const worker = world.worker();
    const later = await followUps.create(caller, contactId, { scheduledAt: world.inMs(MINUTE_MS) });
    const sooner = await followUps.create(caller, contactId, { scheduledAt: world.inMs(DAY_MS) });
    await followUps.update(caller, later.followupId, { scheduledAt: world.inMs(DAY_MS) });
    await followUps.update(caller, sooner.followupId, { scheduledAt: world.inMs(1) });
    world.clock.advance(MINUTE_MS);
    await worker.poke();
    expect((await tasks.list(caller)).map((task) => task.followupId)).toEqual([sooner.followupId]);
    world.clock.advance(DAY_MS - MINUTE_MS);
    await worker.poke();
    expect((await tasks.list(caller)).map((task) => task.followupId)).toEqual([
      later.followupId,
      sooner.followupId,
    ]);
  });

  it('become one task however often their message is handed out, and however many workers there are', async () => {
    const { caller, teamId, contactId } = await setUp();
    const { followUps, tasks } = world.services;
    const made = await Promise.all(
      Array.from({ length: 5 }, () =>
        followUps.create(caller, contactId, { scheduledAt: world.inMs(MINUTE_MS) }),
      ),
    );
    for (const { followupId: key } of [...made, ...made, ...made]) {
      const payload = { team_id: teamId, contact_id: contactId };
      const message = {
        topic: 'followup.due',
        key,
        lane: teamId,
        payload,
        availableAtMs: world.inMs(MINUTE_MS),
      };
      await world.services.outbox.tx((tx) => world.services.outbox.add(tx, [message]));
    }
    world.clock.advance(MINUTE_MS);
    await Promise.all([world.worker(), world.worker(), world.worker()].map((worker) => worker.poke()));
    const ids = (await tasks.list(caller)).map((task) => task.followupId).sort();
    expect(ids).toEqual(made.map((followUp) => followUp.followupId).sort());
    const entries = (await world.services.timeline.list(caller, contactId)).map((entry) => entry.type);
    expect(entries.filter((type) => type === 'followup.triggered')).toHaveLength(5);
  });

  it('end in one way when they are cancelled in the moment they are due', async () => {
    const { caller, contactId } = await setUp();
    const { followUps, tasks } = world.services;
    const made = await Promise.all(
      Array.from({ length: 24 }, () =>
        followUps.create(caller, contactId, { scheduledAt: world.inMs(MINUTE_MS) }),
      ),
    );
    world.clock.advance(MINUTE_MS);
    const worker = world.worker();
    const [results] = await Promise.all([
      Promise.allSettled(made.map((followUp) => followUps.cancel(caller, followUp.followupId))),
      worker.poke(),
    ]);
    await worker.poke();
    const withTask = new Set((await tasks.list(caller)).map((task) => task.followupId));
    for (const [index, { followupId }] of made.entries()) {
      const result = results[index];
      const isCancelled = result?.status === 'fulfilled';
      if (result?.status === 'rejected') expect(result.reason).toMatchObject(CONFLICT);
      expect(await statusOf(caller, contactId, followupId)).toBe(isCancelled ? 'cancelled' : 'triggered');
      expect(withTask.has(followupId)).toBe(!isCancelled);
      expect(await world.messages(followupId)).toEqual([]);
    }
  });

  it('end in one way when the cancelling waits for the trigger, and when the trigger waits for it', async () => {
    const { caller, teamId, contactId } = await setUp();
    const { followUps, tasks } = world.services;
    const make = async () =>
      (await followUps.create(caller, contactId, { scheduledAt: world.inMs(MINUTE_MS) })).followupId;
    const [first, second] = [await make(), await make()];
    world.clock.advance(MINUTE_MS);
    let cancelling: Promise<unknown> | undefined;
    await world.db.tx(async (tx) => {
      await tx.query(`select 1 from outbox where key = $1 for update`, [first]);
      await followUps.trigger(tx, { teamId, contactId, followupId: first });
      cancelling = followUps.cancel(caller, first);
      cancelling.catch(() => undefined);
      await waitingFor(world, 1);
      await tx.query('delete from outbox where key = $1', [first]);
    });
    await expect(cancelling).rejects.toMatchObject(CONFLICT);
    let triggering: Promise<unknown> | undefined;
    await world.db.tx(async (tx) => {
      await tx.query(`select 1 from follow_ups where id = $1 for update`, [second]);
      triggering = world.db.tx((other) =>
        followUps.trigger(other, { teamId, contactId, followupId: second }),
      );
      await waitingFor(world, 1);
      await tx.query(`update follow_ups set status = 'cancelled' where id = $1`, [second]);
    });
    await triggering;
    expect((await tasks.list(caller)).map((task) => task.followupId)).toEqual([first]);
  });
});

/** Waits until so many statements wait for a lock in the test's database. */
async function waitingFor(world: AroundWorld, count: number): Promise<void> {
  await until(async () => {
    const { rows } = await world.db.query<{ n: bigint }>(
      `select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return Number(rows[0]?.n) >= count;
  });
}
