import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/kernel/caller.ts';
import { AroundWorld, invalid, NOT_FOUND, only, REFUSED } from './around.world.ts';

describe('The owner of a contact', () => {
  let world: AroundWorld;

  beforeAll(async () => {
    world = await AroundWorld.start();
  });
  afterAll(() => world.stop());

  const setUp = async () => {
    const { caller, teamId } = await world.account();
    const contactId = await world.contact(caller);
    world.told();
    return { caller, teamId, contactId };
  };
  const ownerOf = async (caller: Caller, contactId: string) =>
    (await world.services.contacts.get(caller, contactId)).ownerId;

  it('is changed with the contact as the answer, and told as news', async () => {
    const { caller, teamId, contactId } = await setUp();
    const agent = await world.user(caller, 'agent');
    world.clock.advance(1_000);
    const contact = await world.services.owners.change(
      caller,
      contactId.toUpperCase(),
      agent.userId.toUpperCase(),
    );
    expect(contact).toMatchObject({ contactId, ownerId: agent.userId, updatedAtMs: world.clock.nowMs() });
    expect(world.told()).toEqual([
      {
        ...{ teamId, event: 'contact.updated', atMs: world.clock.nowMs() },
        data: { contact_id: contactId, team_id: teamId, owner_id: agent.userId },
      },
    ]);
    await world.services.owners.change(caller, contactId, agent.userId);
    expect(world.told()).toEqual([]);
  });

  it.each([
    ['owner', true],
    ['manager', true],
    ['agent', false],
    ['viewer', false],
  ] as const)(
    'of a contact that someone else owns may be changed by a user who is %s: %s',
    async (role, may) => {
      const { caller, contactId } = await setUp();
      const [other, user] = [await world.user(caller, 'agent'), await world.user(caller, role)];
      await world.services.owners.change(caller, contactId, other.userId);
      world.told();
      const attempt = world.services.owners.change(user, contactId, user.userId);
      if (may) await expect(attempt).resolves.toMatchObject({ ownerId: user.userId });
      else await expect(attempt).rejects.toMatchObject({ code: 'forbidden', status: 403 });
      expect(await ownerOf(caller, contactId)).toBe(may ? user.userId : other.userId);
      expect(world.told()).toHaveLength(may ? 1 : 0);
    },
  );

  it('may give the contact away, and a contact without one may be taken by any user', async () => {
    const { caller, contactId } = await setUp();
    const [first, second] = [await world.user(caller, 'agent'), await world.user(caller, 'agent')];
    await world.services.owners.change(first, contactId, first.userId);
    await world.services.owners.change(first, contactId, second.userId);
    const refused = world.services.owners.change(first, contactId, first.userId);
    await expect(refused).rejects.toMatchObject({ status: 403 });
    expect(await ownerOf(caller, contactId)).toBe(second.userId);
  });

  it('may always be changed by keys and machine clients', async () => {
    const { caller, contactId } = await setUp();
    const agent = await world.user(caller, 'agent');
    await world.services.owners.change(agent, contactId, agent.userId);
    const machine: Caller = { ...caller, kind: 'machine' };
    await world.services.owners.change(machine, contactId, caller.userId);
    await world.services.owners.change(caller, contactId, agent.userId);
    expect(await ownerOf(caller, contactId)).toBe(agent.userId);
  });

  it('is a user of the account', async () => {
    const [mine, theirs] = [await setUp(), await setUp()];
    const { owners } = world.services;
    for (const userId of [theirs.caller.userId, mine.teamId, 'nonsense', mine.contactId]) {
      await expect(owners.change(mine.caller, mine.contactId, userId)).rejects.toMatchObject(NOT_FOUND);
    }
    for (const userId of [undefined, null, '', 5, {}, 'x'.repeat(65), '\0']) {
      await expect(owners.change(mine.caller, mine.contactId, userId)).rejects.toMatchObject(
        invalid('owner_id'),
      );
    }
    const foreign = owners.change(mine.caller, theirs.contactId, mine.caller.userId);
    await expect(foreign).rejects.toMatchObject(NOT_FOUND);
    expect(await ownerOf(mine.caller, mine.contactId)).toBeNull();
    expect(await ownerOf(theirs.caller, theirs.contactId)).toBeNull();
  });

  it('is changed with the scope to write alone', async () => {
    const { caller, contactId } = await setUp();
    const { owners } = world.services;
    await expect(
      owners.change(only(caller, 'contacts:read'), contactId, caller.userId),
    ).rejects.toMatchObject(REFUSED);
    await owners.change(only(caller, 'contacts:write'), contactId, caller.userId);
  });

  it('is one of two when two users take a contact at once', async () => {
    const { caller, contactId } = await setUp();
    const users = await Promise.all([1, 2, 3, 4].map(() => world.user(caller, 'agent')));
    const results = await Promise.allSettled(
      users.map((user) => world.services.owners.change(user, contactId, user.userId)),
    );
    const taken = results.filter((result) => result.status === 'fulfilled');
    expect(taken).toHaveLength(1);
    expect(await ownerOf(caller, contactId)).toBe(
      users[results.findIndex((r) => r.status === 'fulfilled')]?.userId,
    );
  });
});

describe('The disposition of a contact', () => {
  let world: AroundWorld;

  beforeAll(async () => {
    world = await AroundWorld.start();
  });
  afterAll(() => world.stop());

  it('is any text that is not empty; the answer is the contact, and news tell it', async () => {
    const { caller, teamId } = await world.account();
    const contactId = await world.contact(caller);
    world.told();
    const { dispositions } = world.services;
    const writer = only(caller, 'contacts:write');
    const contact = await dispositions.change(writer, contactId, 'interested – später');
    expect(contact).toMatchObject({ contactId, dispositionId: 'interested – später' });
    expect(world.told()).toEqual([
      {
        ...{ teamId, event: 'contact.updated', atMs: world.clock.nowMs() },
        data: { contact_id: contactId, team_id: teamId, disposition_id: 'interested – später' },
      },
    ]);
    for (const wrong of [undefined, null, '', ' ', 5, 'x'.repeat(201), 'a\0']) {
      const attempt = dispositions.change(caller, contactId, wrong);
      await expect(attempt).rejects.toMatchObject(invalid('disposition_id'));
    }
    const other = await world.account();
    await expect(dispositions.change(other.caller, contactId, 'x')).rejects.toMatchObject(NOT_FOUND);
    await expect(dispositions.change(caller, 'nonsense', 'x')).rejects.toMatchObject(NOT_FOUND);
    await expect(dispositions.change(only(caller, 'contacts:read'), contactId, 'x')).rejects.toMatchObject(
      REFUSED,
    );
    const stored = await world.services.contacts.get(caller, contactId);
    expect(stored.dispositionId).toBe('interested – später');
  });
});
