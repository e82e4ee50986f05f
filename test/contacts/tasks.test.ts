import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AroundWorld, invalid } from './around.world.ts';

const MINUTE_MS = 60_000;

describe('Inbox tasks', () => {
  let world: AroundWorld;

  beforeAll(async () => {
    world = await AroundWorld.start();
  });
  afterAll(() => world.stop());

  /** An account with a task for each of the texts, the first the first that was due. */
  const setUp = async (...texts: string[]) => {
    const { caller } = await world.account();
    const contactId = await world.contact(caller);
    for (const [index, description] of texts.entries()) {
      const scheduledAt = world.clock.nowMs() + (index + 1) * MINUTE_MS;
      await world.services.followUps.create(caller, contactId, { scheduledAt, description });
    }
    world.clock.advance(texts.length * MINUTE_MS);
    await world.worker().poke();
    return { caller, contactId };
  };

  it('are listed latest due first, in pages by limit and skip', async () => {
    const { caller } = await setUp('one', 'two', 'three');
    const texts = async (query = {}) =>
      (await world.services.tasks.list(caller, query)).map((task) => task.descriptionText);
    expect(await texts()).toEqual(['three', 'two', 'one']);
    expect(await texts({ limit: 2 })).toEqual(['three', 'two']);
    expect(await texts({ limit: 2, skip: 2 })).toEqual(['one']);
    expect(await texts({ skip: 3 })).toEqual([]);
    expect(await texts({ limit: 1_000_000 })).toHaveLength(3);
  });

  it('are found by state, assignee and text', async () => {
    const { caller } = await setUp('Call <b>Ada</b>', 'Write 100%', 'call again');
    const { tasks } = world.services;
    const texts = async (query = {}) => (await tasks.list(caller, query)).map((task) => task.descriptionText);
    expect(await texts({ searchTerm: 'CALL' })).toEqual(['call again', 'Call Ada']);
    expect(await texts({ searchTerm: '%' })).toEqual(['Write 100%']);
    expect(await texts({ searchTerm: '' })).toHaveLength(3);
    const [last] = await tasks.list(caller);
    await tasks.complete(caller, last?.taskId ?? '');
    expect(await texts({ status: 'completed' })).toEqual(['call again']);
    expect(await texts({ status: 'open' })).toEqual(['Write 100%', 'Call Ada']);
    expect(await texts({ assignedTo: caller.userId })).toHaveLength(3);
    expect(await texts({ assignedTo: caller.teamId })).toEqual([]);
    expect(await texts({ assignedTo: 'nonsense' })).toEqual([]);
  });

  it('are completed once when two complete one at the same time', async () => {
    const { caller, contactId } = await setUp('one');
    const { tasks, timeline } = world.services;
    const [task] = await tasks.list(caller);
    const attempts = Array.from({ length: 6 }, () => tasks.complete(caller, task?.taskId ?? ''));
    const results = await Promise.allSettled(attempts);
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: 'conflict', status: 409 });
    }
    const completed = (await timeline.list(caller, contactId, { type: 'followup.completed' })).length;
    expect(completed).toBe(1);
  });

  it.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: NaN }],
    ['skip', { skip: -1 }],
    ['skip', { skip: 1e9 }],
    ['status', { status: 'pending' }],
    ['search_term', { searchTerm: '\0' }],
  ])('are not listed with a wrong %s: %j', async (field, query) => {
    const { caller } = await world.account();
    await expect(world.services.tasks.list(caller, query)).rejects.toMatchObject(invalid(field));
  });
});
