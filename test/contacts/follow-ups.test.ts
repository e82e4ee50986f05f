import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentFollowUp } from '../../src/features/contacts/index.ts';
import type { Caller } from '../../src/kernel/caller.ts';
import { AroundWorld, invalid, NOT_FOUND, only, REFUSED } from './around.world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const CONFLICT = { code: 'conflict', status: 409 };

describe('Follow-ups', () => {
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

  it('are made as the contract shows them, for the caller unless told otherwise', async () => {
    const { caller, contactId } = await setUp();
    const made = await world.services.followUps.create(caller, contactId.toUpperCase(), {
      scheduledAt: world.inMs(DAY_MS),
      description: '<p>Call <b>back</b><script>x</script></p>',
    });
    const shown = {
      ...{
        followup_id: made.followupId,
        contact_id: contactId,
        scheduled_at: world.inMs(DAY_MS),
        status: 'pending',
      },
      ...{ description: '<p>Call <b>back</b></p>', description_text: 'Call back' },
      ...{ assigned_to: caller.userId, assigned_type: 'user', task_id: null },
      ...{ created_at: world.clock.nowMs(), created_by: caller.userId },
    };
    expect(presentFollowUp(made)).toEqual(shown);
    const listed = await world.services.followUps.list(caller, contactId);
    expect(listed.map(presentFollowUp)).toEqual([shown]);
    expect(await world.messages(made.followupId)).toEqual([world.inMs(DAY_MS)]);
    expect(await world.services.timeline.list(caller, contactId)).toMatchObject([
      { type: 'followup.created', data: { followup_id: made.followupId, scheduled_at: world.inMs(DAY_MS) } },
    ]);
  });

  it('are assigned to users of the account, or to the account itself for the whole team', async () => {
    const [mine, theirs] = [await setUp(), await setUp()];
    const { followUps } = world.services;
    const agent = await world.user(mine.caller, 'agent');
    const create = (input: object) =>
      followUps.create(mine.caller, mine.contactId, { scheduledAt: world.inMs(DAY_MS), ...input });
    expect(await create({ assignedTo: agent.userId.toUpperCase() })).toMatchObject({
      ...{ assignedTo: agent.userId, assignedType: 'user' },
    });
    expect(await create({ assignedType: 'team' })).toMatchObject({ assignedTo: mine.caller.userId });
    const team = await create({ assignedType: 'team', assignedTo: mine.teamId });
    expect(team).toMatchObject({ assignedTo: mine.teamId, assignedType: 'team' });
    await expect(create({ assignedTo: mine.teamId })).rejects.toMatchObject(invalid('assigned_to'));
    const back = followUps.update(mine.caller, team.followupId, { assignedType: 'user' });
    await expect(back).rejects.toMatchObject(invalid('assigned_to'));
    for (const assignedTo of [theirs.caller.userId, theirs.teamId, mine.contactId, 'nonsense', '']) {
      await expect(create({ assignedTo })).rejects.toMatchObject(NOT_FOUND);
      await expect(followUps.update(mine.caller, team.followupId, { assignedTo })).rejects.toMatchObject(
        NOT_FOUND,
      );
    }
    for (const assignedType of ['', 'TEAM', 'group', null, 5]) {
      const attempt = create({ assignedType });
      if (assignedType === null) await expect(attempt).resolves.toMatchObject({ assignedType: 'user' });
      else await expect(attempt).rejects.toMatchObject(invalid('assigned_type'));
    }
    await expect(create({ assignedTo: 5 })).rejects.toMatchObject(invalid('assigned_to'));
    await expect(create({ description: 5 })).rejects.toMatchObject(invalid('description'));
    await expect(create({ description: 'x'.repeat(20_001) })).rejects.toMatchObject(invalid('description'));
  });

  it('are listed soonest first; cancelled ones only when asked for', async () => {
    const { caller, contactId } = await setUp();
    const { followUps } = world.services;
    const make = (days: number) =>
      followUps.create(caller, contactId, {
        scheduledAt: world.inMs(days * DAY_MS),
        description: `in ${days}`,
      });
    const [third, first, second] = [await make(3), await make(1), await make(2)];
    await followUps.cancel(caller, second.followupId);
    const ids = async (query = {}) =>
      (await followUps.list(caller, contactId, query)).map((f) => f.followupId);
    expect(await ids()).toEqual([first.followupId, third.followupId]);
    expect(await ids({ status: 'cancelled' })).toEqual([second.followupId]);
    expect(await ids({ status: 'pending' })).toEqual([first.followupId, third.followupId]);
    expect(await ids({ status: 'completed' })).toEqual([]);
    await expect(ids({ status: 'open' })).rejects.toMatchObject(invalid('status'));
  });

  it('are changed while they are pending; an empty description clears', async () => {
    const { caller, contactId } = await setUp();
    const { followUps } = world.services;
    const agent = await world.user(caller, 'agent');
    const scheduledAt = world.inMs(DAY_MS);
    const { followupId } = await followUps.create(caller, contactId, { scheduledAt, description: 'a' });
    expect(await followUps.update(caller, followupId.toUpperCase(), { description: '' })).toMatchObject({
      ...{ description: '', descriptionText: '', scheduledAtMs: scheduledAt, assignedTo: caller.userId },
    });
    const changed = await followUps.update(caller, followupId, {
      ...{
        scheduledAt: world.inMs(2 * DAY_MS),
        description: '<i>b</i>',
        assignedTo: agent.userId,
        assignedType: 'team',
      },
    });
    expect(changed).toMatchObject({
      ...{ scheduledAtMs: world.inMs(2 * DAY_MS), description: '<i>b</i>', descriptionText: 'b' },
      ...{ assignedTo: agent.userId, assignedType: 'team', status: 'pending', createdBy: caller.userId },
    });
    expect(await followUps.list(caller, contactId)).toEqual([changed]);
    expect(await world.messages(followupId)).toEqual([world.inMs(2 * DAY_MS)]);
    const nothing = { code: 'validation-error', status: 400 };
    await expect(followUps.update(caller, followupId, {})).rejects.toMatchObject(nothing);
    await expect(followUps.update(caller, followupId, { description: undefined })).rejects.toMatchObject(
      nothing,
    );
    await expect(followUps.update(caller, followupId, { description: null })).rejects.toMatchObject(
      invalid('description'),
    );
  });

  it('that are not pending are neither changed nor cancelled', async () => {
    const { caller, contactId } = await setUp();
    const { followUps, tasks } = world.services;
    const make = async () =>
      (await followUps.create(caller, contactId, { scheduledAt: world.inMs(MINUTE_MS) })).followupId;
    const [triggered, completed, cancelled] = [await make(), await make(), await make()];
    expect(await followUps.cancel(caller, cancelled)).toMatchObject({
      followupId: cancelled,
      status: 'cancelled',
    });
    world.clock.advance(MINUTE_MS);
    await world.worker().poke();
    const task = (await tasks.list(caller)).find((one) => one.followupId === completed);
    await tasks.complete(caller, task?.taskId ?? '');
    for (const [followupId, status] of [
      [triggered, 'triggered'],
      [completed, 'completed'],
      [cancelled, 'cancelled'],
    ] as const) {
      await expect(followUps.cancel(caller, followupId)).rejects.toMatchObject(CONFLICT);
      const change = { scheduledAt: world.inMs(DAY_MS) };
      await expect(followUps.update(caller, followupId, change)).rejects.toMatchObject(CONFLICT);
      expect(await statusOf(caller, contactId, followupId)).toBe(status);
      expect(await world.messages(followupId)).toEqual([]);
    }
    expect(await tasks.list(caller)).toHaveLength(2);
  });

  it('go with their contact; a message that is left finds nothing to do', async () => {
    const { caller, contactId } = await setUp();
    const { followUps, tasks, contacts } = world.services;
    const { followupId } = await followUps.create(caller, contactId, { scheduledAt: world.inMs(MINUTE_MS) });
    await contacts.remove(caller, contactId);
    expect(await world.messages(followupId)).toHaveLength(1);
    world.clock.advance(MINUTE_MS);
    await world.worker().poke();
    expect(await world.messages(followupId)).toEqual([]);
    expect(await tasks.list(caller)).toEqual([]);
    await expect(followUps.cancel(caller, followupId)).rejects.toMatchObject(NOT_FOUND);
  });

  it('of other accounts are not found and stay as they are', async () => {
    const [mine, theirs] = [await setUp(), await setUp()];
    const { followUps, tasks } = world.services;
    const scheduledAt = world.inMs(MINUTE_MS);
    const { followupId } = await followUps.create(theirs.caller, theirs.contactId, { scheduledAt });
    for (const contactId of [theirs.contactId, 'nonsense', mine.teamId]) {
      await expect(followUps.create(mine.caller, contactId, { scheduledAt })).rejects.toMatchObject(
        NOT_FOUND,
      );
      await expect(followUps.list(mine.caller, contactId)).rejects.toMatchObject(NOT_FOUND);
    }
    for (const id of [followupId, 'nonsense', mine.teamId]) {
      await expect(followUps.update(mine.caller, id, { description: 'x' })).rejects.toMatchObject(NOT_FOUND);
      await expect(followUps.cancel(mine.caller, id)).rejects.toMatchObject(NOT_FOUND);
    }
    expect(await world.messages(followupId)).toEqual([scheduledAt]);
    world.clock.advance(MINUTE_MS);
    await world.worker().poke();
    const [task] = await tasks.list(theirs.caller);
    expect(task?.followupId).toBe(followupId);
    expect(await tasks.list(mine.caller)).toEqual([]);
    await expect(tasks.complete(mine.caller, task?.taskId ?? '')).rejects.toMatchObject(NOT_FOUND);
    await expect(tasks.complete(mine.caller, 'nonsense')).rejects.toMatchObject(NOT_FOUND);
    expect(await tasks.list(theirs.caller)).toMatchObject([{ status: 'open' }]);
  });

  it('need the scopes of contacts', async () => {
    const { caller, contactId } = await setUp();
    const { followUps, tasks } = world.services;
    const [reader, writer] = [only(caller, 'contacts:read'), only(caller, 'contacts:write')];
    const scheduledAt = world.inMs(DAY_MS);
    const { followupId } = await followUps.create(writer, contactId, { scheduledAt });
    await expect(followUps.create(reader, contactId, { scheduledAt })).rejects.toMatchObject(REFUSED);
    await expect(followUps.update(reader, followupId, { description: 'x' })).rejects.toMatchObject(REFUSED);
    await expect(followUps.cancel(reader, followupId)).rejects.toMatchObject(REFUSED);
    await expect(followUps.list(writer, contactId)).rejects.toMatchObject(REFUSED);
    await expect(tasks.list(writer)).rejects.toMatchObject(REFUSED);
    await expect(tasks.complete(reader, followupId)).rejects.toMatchObject(REFUSED);
  });
});
