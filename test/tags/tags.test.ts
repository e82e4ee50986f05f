import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentChangedTag, presentNewTag, presentTag, TagsService } from '../../src/features/tags/index.ts';
import { systemIds } from '../../src/kernel/ids.ts';
import { AccountsWorld, callerOf, testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

const MESSAGE = 'Tag must have at least 1 character';

describe('Tags', () => {
  let database: TestDb;
  let world: AccountsWorld;
  let tags: TagsService;

  beforeAll(async () => {
    database = await testDb();
    world = new AccountsWorld(database);
    tags = new TagsService({ db: database.db, clock: world.clock, ids: systemIds });
  });
  afterAll(async () => {
    await world.close();
    await database.drop();
  });

  it('are made as the contract shows them, with the fields of the create response', async () => {
    const { caller } = await world.account();
    const made = await tags.create(caller, { label: 'VIP', color: '#0AF', textColor: '#ffffff' });
    const nowMs = world.clock.nowMs();
    const shown = {
      ...{ tag_id: made.tagId, label: 'VIP', color: '#0AF', text_color: '#ffffff' },
      ...{ created_at: nowMs, updated_at: nowMs, created_by: caller.userId, updated_by: caller.userId },
    };
    expect(presentNewTag(made)).toEqual({ ...shown, is_seed: false, deleted_at: null, deleted_by: null });
    expect((await tags.list(caller)).map(presentTag)).toEqual([shown]);
  });

  it('have colors also when none are given', async () => {
    const { caller } = await world.account();
    const shown = presentTag(await tags.create(caller, { label: 'plain' }));
    expect(shown.color).toMatch(/^#[0-9a-f]{6}$/);
    expect(shown.text_color).toMatch(/^#[0-9a-f]{6}$/);
  });

  it.each([{}, { label: '' }, { label: '  ' }, { label: null }])(
    'are refused without a label, in the words of the contract: %j',
    async (input) => {
      const { caller } = await world.account();
      const expected = { code: 'validation-error', status: 400, detail: MESSAGE };
      await expect(tags.create(caller, input)).rejects.toMatchObject(expected);
      const { tagId } = await tags.create(caller, { label: 'kept' });
      await expect(tags.update(caller, tagId, { ...input, color: '#123' })).rejects.toMatchObject(expected);
    },
  );

  it.each([
    ['label', { label: 5 }],
    ['label', { label: 'x'.repeat(201) }],
    ['label', { label: 'a\0b' }],
    ['color', { label: 'a', color: 'red' }],
    ['color', { label: 'a', color: '#12' }],
    ['color', { label: 'a', color: '#12345' }],
    ['color', { label: 'a', color: '#1234567' }],
    ['color', { label: 'a', color: '#ggg' }],
    ['color', { label: 'a', color: null }],
    ['color', { label: 'a', color: '#123\n' }],
    ['text_color', { label: 'a', textColor: 'url(x)' }],
  ])('are refused with a wrong %s: %j', async (field, input) => {
    const { caller } = await world.account();
    const expected = { code: 'validation-error', status: 400, details: { field } };
    await expect(tags.create(caller, input)).rejects.toMatchObject(expected);
    expect(await tags.list(caller)).toEqual([]);
  });

  it('are listed newest first, found by a part of the label in either case, wildcards being themselves', async () => {
    const { caller } = await world.account();
    for (const label of ['Old 50%', 'Über_gold', 'golden', 'VIP']) {
      await tags.create(caller, { label });
      world.clock.advance(1_000);
    }
    const labels = async (query: { searchTerm?: string; limit?: number }) =>
      (await tags.list(caller, query)).map((tag) => tag.label);
    expect(await labels({})).toEqual(['VIP', 'golden', 'Über_gold', 'Old 50%']);
    expect(await labels({ limit: 2 })).toEqual(['VIP', 'golden']);
    expect(await labels({ searchTerm: 'GOLD' })).toEqual(['golden', 'Über_gold']);
    expect(await labels({ searchTerm: 'über' })).toEqual(['Über_gold']);
    expect(await labels({ searchTerm: '%' })).toEqual(['Old 50%']);
    expect(await labels({ searchTerm: '_' })).toEqual(['Über_gold']);
    expect(await labels({ searchTerm: 'GOLD', limit: 1 })).toEqual(['golden']);
    await expect(tags.list(caller, { limit: 0 })).rejects.toMatchObject({ status: 400 });
    await expect(tags.list(caller, { searchTerm: '\0' })).rejects.toMatchObject({ status: 400 });
  });

  it('may share a label', async () => {
    const { caller } = await world.account();
    await tags.create(caller, { label: 'same' });
    await tags.create(caller, { label: 'same' });
    expect(await tags.list(caller)).toHaveLength(2);
  });

  it('are renamed with an answer of its own form; colors that are not given stay', async () => {
    const { caller, teamId } = await world.account();
    const { tagId } = await tags.create(caller, { label: 'a', color: '#111', textColor: '#222' });
    world.clock.advance(5_000);
    const other = callerOf({
      teamId,
      userId: await world.services.users.create({
        ...{
          teamId,
          email: 'b@example.com',
          password: 'correct horse battery',
          role: 'agent',
          aiAccess: 'none',
        },
      }),
    });
    const changed = await tags.update(other, tagId.toUpperCase(), { label: 'b', textColor: '#333' });
    expect(presentChangedTag(changed)).toEqual({
      ...{ id: tagId, label: 'b', color: '#111', text_color: '#333' },
      updated_at: new Date(world.clock.nowMs()).toISOString(),
    });
    expect((await tags.list(caller)).map(presentTag)).toMatchObject([
      { tag_id: tagId, updated_by: other.userId, created_by: caller.userId, updated_at: world.clock.nowMs() },
    ]);
  });

  it('are deleted once: they leave the list and cannot be changed or held again', async () => {
    const { caller, teamId } = await world.account();
    const { tagId } = await tags.create(caller, { label: 'a' });
    expect(await tags.remove(caller, tagId.toUpperCase())).toEqual({ tagId });
    expect(await tags.list(caller)).toEqual([]);
    const gone = { code: 'not-found', status: 404 };
    await expect(tags.remove(caller, tagId)).rejects.toMatchObject(gone);
    await expect(tags.update(caller, tagId, { label: 'b' })).rejects.toMatchObject(gone);
    await expect(database.db.tx((tx) => tags.hold(tx, teamId, tagId))).rejects.toMatchObject(gone);
    expect(await tags.findMany(caller, [tagId])).toMatchObject([
      { tagId, deletedBy: caller.userId, deletedAtMs: world.clock.nowMs() },
    ]);
  });

  it('are deleted in bulk: unknown, deleted and foreign ids are skipped', async () => {
    const [mine, theirs] = [await world.account(), await world.account()];
    const [a, b, c] = [
      await tags.create(mine.caller, { label: 'a' }),
      await tags.create(mine.caller, { label: 'b' }),
      await tags.create(theirs.caller, { label: 'c' }),
    ];
    await tags.remove(mine.caller, b.tagId);
    const ids = [a.tagId, a.tagId, b.tagId, c.tagId, mine.teamId, 'nonsense'];
    expect(await tags.bulkRemove(mine.caller, ids)).toEqual({ matched: 1, modified: 1 });
    expect(await tags.bulkRemove(mine.caller, ids)).toEqual({ matched: 0, modified: 0 });
    expect(await tags.list(theirs.caller)).toHaveLength(1);
  });

  it.each([undefined, [], null, 'abc', [5], new Array<string>(1_001).fill('x')])(
    'are not deleted in bulk without a list of ids',
    async (ids) => {
      const { caller } = await world.account();
      const expected = { status: 400, details: { field: 'tag_ids' } };
      await expect(tags.bulkRemove(caller, ids)).rejects.toMatchObject(expected);
    },
  );

  it('of other accounts are not found and stay as they are', async () => {
    const [mine, theirs] = [await world.account(), await world.account()];
    const { tagId } = await tags.create(theirs.caller, { label: 'theirs' });
    const gone = { code: 'not-found', status: 404 };
    for (const id of [tagId, 'nonsense', `${tagId}0`]) {
      await expect(tags.update(mine.caller, id, { label: 'mine' })).rejects.toMatchObject(gone);
      await expect(tags.remove(mine.caller, id)).rejects.toMatchObject(gone);
      await expect(database.db.tx((tx) => tags.hold(tx, mine.teamId, id))).rejects.toMatchObject(gone);
    }
    expect(await tags.findMany(mine.caller, [tagId])).toEqual([]);
    expect(await tags.list(theirs.caller)).toMatchObject([{ label: 'theirs', deletedAtMs: null }]);
  });

  it('need the scopes of contacts', async () => {
    const { teamId, caller } = await world.account();
    const reader = callerOf({ teamId, userId: caller.userId }, ['contacts:read']);
    const writer = callerOf({ teamId, userId: caller.userId }, ['contacts:write']);
    const refused = { code: 'insufficient-scope', status: 403 };
    await expect(tags.list(writer)).rejects.toMatchObject(refused);
    await expect(tags.create(reader, { label: 'a' })).rejects.toMatchObject(refused);
    await expect(tags.update(reader, teamId, { label: 'a' })).rejects.toMatchObject(refused);
    await expect(tags.remove(reader, teamId)).rejects.toMatchObject(refused);
    await expect(tags.bulkRemove(reader, [teamId])).rejects.toMatchObject(refused);
  });
});
