import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentTagEntry, presentTimelineEntry } from '../../src/features/contacts/index.ts';
import { AroundWorld, NOT_FOUND, only, REFUSED } from './around.world.ts';

describe('Tags of a contact', () => {
  let world: AroundWorld;

  beforeAll(async () => {
    world = await AroundWorld.start();
  });
  afterAll(() => world.stop());

  const setUp = async () => {
    const { caller, teamId } = await world.account();
    const contactId = await world.contact(caller);
    const tag = await world.services.tags.create(caller, { label: 'VIP' });
    world.told();
    return { caller, teamId, contactId, tag };
  };

  it('are answered as entries, told as news, and shown in the timeline and on the contact', async () => {
    const { caller, teamId, contactId, tag } = await setUp();
    const { contactTags, timeline, contacts } = world.services;
    world.clock.advance(1_000);
    const nowMs = world.clock.nowMs();
    const entries = await contactTags.add(caller, contactId.toUpperCase(), tag.tagId.toUpperCase());
    expect(entries.map(presentTagEntry)).toEqual([
      { tag_id: tag.tagId, tagged_at: nowMs, tagged_by: caller.userId, deleted_at: null, deleted_by: null },
    ]);
    expect((await timeline.list(caller, contactId)).map(presentTimelineEntry)).toEqual([
      {
        ...{ entry_id: expect.any(String) as string, type: 'tag_added', contact_id: contactId },
        ...{ created_at: nowMs, tag_id: tag.tagId, tag_label: 'VIP', tagged_by: caller.userId },
      },
    ]);
    expect(world.told()).toEqual([
      {
        ...{ teamId, event: 'contact.updated', atMs: nowMs },
        data: { contact_id: contactId, team_id: teamId, tags_added: [tag.tagId] },
      },
    ]);
    expect(await contacts.get(caller, contactId)).toMatchObject({ tagIds: [tag.tagId], updatedAtMs: nowMs });
  });

  it('may be added again, which changes nothing', async () => {
    const { caller, contactId, tag } = await setUp();
    const first = await world.services.contactTags.add(caller, contactId, tag.tagId);
    world.told();
    world.clock.advance(1_000);
    expect(await world.services.contactTags.add(caller, contactId, tag.tagId)).toEqual(first);
    expect(world.told()).toEqual([]);
    expect(await world.services.timeline.list(caller, contactId)).toHaveLength(1);
  });

  it('are removed once, leaving the others', async () => {
    const { caller, contactId, tag } = await setUp();
    const { tags, contactTags } = world.services;
    const other = await tags.create(caller, { label: 'other' });
    await contactTags.add(caller, contactId, tag.tagId);
    await contactTags.add(caller, contactId, other.tagId);
    world.told();
    const left = await contactTags.remove(caller, contactId, tag.tagId.toUpperCase());
    expect(left).toMatchObject([{ tagId: other.tagId }]);
    expect(world.told()).toMatchObject([{ data: { tags_removed: [tag.tagId] } }]);
    await expect(contactTags.remove(caller, contactId, tag.tagId)).rejects.toMatchObject(NOT_FOUND);
    expect(world.told()).toEqual([]);
    expect(await contactTags.remove(caller, contactId, other.tagId)).toEqual([]);
  });

  it('that were deleted cannot be added; entries of them stay, say so, and can be removed', async () => {
    const { caller, contactId, tag } = await setUp();
    const { tags, contactTags } = world.services;
    const never = await tags.create(caller, { label: 'never' });
    await contactTags.add(caller, contactId, tag.tagId);
    await tags.bulkRemove(caller, [tag.tagId, never.tagId]);
    await expect(contactTags.add(caller, contactId, never.tagId)).rejects.toMatchObject(NOT_FOUND);
    await expect(contactTags.add(caller, contactId, tag.tagId)).rejects.toMatchObject(NOT_FOUND);
    expect(await contactTags.list(caller, contactId)).toMatchObject([
      { tagId: tag.tagId, deletedAtMs: world.clock.nowMs(), deletedBy: caller.userId },
    ]);
    expect(await contactTags.remove(caller, contactId, tag.tagId)).toEqual([]);
  });

  it('of other accounts, on contacts of other accounts and on none are not found, and nothing changes', async () => {
    const [mine, theirs] = [await setUp(), await setUp()];
    const { contactTags } = world.services;
    await contactTags.add(theirs.caller, theirs.contactId, theirs.tag.tagId);
    world.told();
    const attempts = [
      [mine.contactId, theirs.tag.tagId],
      [theirs.contactId, mine.tag.tagId],
      [theirs.contactId, theirs.tag.tagId],
      [mine.contactId, 'nonsense'],
      ['nonsense', mine.tag.tagId],
      [mine.contactId, mine.teamId],
      [mine.teamId, mine.tag.tagId],
    ] as const;
    for (const [contactId, tagId] of attempts) {
      await expect(contactTags.add(mine.caller, contactId, tagId)).rejects.toMatchObject(NOT_FOUND);
      await expect(contactTags.remove(mine.caller, contactId, tagId)).rejects.toMatchObject(NOT_FOUND);
    }
    await expect(contactTags.list(mine.caller, theirs.contactId)).rejects.toMatchObject(NOT_FOUND);
    expect(await contactTags.list(mine.caller, mine.contactId)).toEqual([]);
    expect(await contactTags.list(theirs.caller, theirs.contactId)).toHaveLength(1);
    expect(world.told()).toEqual([]);
  });

  it('need the scope to write; it alone suffices', async () => {
    const { caller, contactId, tag } = await setUp();
    const { contactTags } = world.services;
    const reader = only(caller, 'contacts:read');
    await expect(contactTags.add(reader, contactId, tag.tagId)).rejects.toMatchObject(REFUSED);
    await expect(contactTags.remove(reader, contactId, tag.tagId)).rejects.toMatchObject(REFUSED);
    const writer = only(caller, 'contacts:write');
    expect(await contactTags.add(writer, contactId, tag.tagId)).toHaveLength(1);
    expect(await contactTags.remove(writer, contactId, tag.tagId)).toEqual([]);
  });
});
