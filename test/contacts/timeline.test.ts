import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentTimelineEntry } from '../../src/features/contacts/index.ts';
import { AroundWorld, invalid, NOT_FOUND, only, REFUSED } from './around.world.ts';

describe('The timeline', () => {
  let world: AroundWorld;

  beforeAll(async () => {
    world = await AroundWorld.start();
  });
  afterAll(() => world.stop());

  /** A contact with entries of the given types, the first the oldest. */
  const setUp = async (...types: string[]) => {
    const { caller, teamId } = await world.account();
    const contactId = await world.contact(caller);
    const atMs = world.clock.nowMs();
    await world.db.tx(async (tx) => {
      for (const [index, type] of types.entries()) {
        const data = { position: index };
        await world.services.timeline.add(tx, { teamId, contactId, type, data, atMs: atMs + index });
      }
    });
    return { caller, teamId, contactId };
  };

  it('is read newest first, fifty entries unless asked', async () => {
    const { caller, contactId } = await setUp(...Array.from({ length: 120 }, (_, index) => `type_${index}`));
    const types = async (query = {}) =>
      (await world.services.timeline.list(caller, contactId, query)).map((entry) => entry.type);
    expect(await types()).toEqual(Array.from({ length: 50 }, (_, index) => `type_${119 - index}`));
    expect(await types({ limit: 100 })).toHaveLength(100);
    expect(await types({ limit: 2, offset: 118 })).toEqual(['type_1', 'type_0']);
    expect(await types({ limit: 100, offset: 119 })).toEqual(['type_0']);
    expect(await types({ offset: 120 })).toEqual([]);
  });

  it('is filtered after the page was read: a filtered page can be short or empty', async () => {
    const { caller, contactId } = await setUp('call', 'call', 'sms', 'call', 'sms', 'sms');
    const positions = async (query: { type?: string; limit?: number; offset?: number }) =>
      (await world.services.timeline.list(caller, contactId, query)).map((entry) => entry.data['position']);
    expect(await positions({ type: 'call' })).toEqual([3, 1, 0]);
    expect(await positions({ type: 'call', limit: 2 })).toEqual([]);
    expect(await positions({ type: 'call', limit: 3 })).toEqual([3]);
    expect(await positions({ type: 'sms', limit: 3, offset: 4 })).toEqual([]);
    expect(await positions({ type: 'unknown' })).toEqual([]);
    expect(await positions({ type: 'CALL' })).toEqual([]);
  });

  it('shows an entry with the fields of its type, which cannot hide its own', async () => {
    const { caller, teamId, contactId } = await setUp();
    const data = { duration: 5, type: 'mine', entry_id: 'mine', contact_id: 'mine', created_at: 0 };
    const atMs = world.clock.nowMs();
    const entry = { teamId, contactId, type: 'call', data, atMs };
    await world.db.tx((tx) => world.services.timeline.add(tx, entry));
    const [shown] = (await world.services.timeline.list(caller, contactId)).map(presentTimelineEntry);
    expect(shown).toMatchObject({ duration: 5, type: 'call', contact_id: contactId, created_at: atMs });
    expect(shown?.entry_id).not.toBe('mine');
  });

  it('goes with the transaction that wrote it', async () => {
    const { caller, teamId, contactId } = await setUp();
    const failure = world.db.tx(async (tx) => {
      const entry = { teamId, contactId, type: 'call', data: {}, atMs: world.clock.nowMs() };
      await world.services.timeline.add(tx, entry);
      throw new Error('undone');
    });
    await expect(failure).rejects.toThrow('undone');
    expect(await world.services.timeline.list(caller, contactId)).toEqual([]);
  });

  it.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 101 }],
    ['limit', { limit: 1.5 }],
    ['limit', { limit: NaN }],
    ['offset', { offset: -1 }],
    ['offset', { offset: 1e9 }],
    ['type', { type: '\0' }],
    ['type', { type: 'x'.repeat(101) }],
  ])('is not read with a wrong %s: %j', async (field, query) => {
    const { caller, contactId } = await setUp('call');
    await expect(world.services.timeline.list(caller, contactId, query)).rejects.toMatchObject(
      invalid(field),
    );
  });

  it('of a contact of another account, or of none, is not found', async () => {
    const [mine, theirs] = [await setUp('call'), await setUp('call')];
    for (const contactId of [theirs.contactId, 'nonsense', mine.teamId]) {
      await expect(world.services.timeline.list(mine.caller, contactId)).rejects.toMatchObject(NOT_FOUND);
    }
  });

  it('needs the scope to read contacts', async () => {
    const { caller, contactId } = await setUp();
    const writer = only(caller, 'contacts:write');
    await expect(world.services.timeline.list(writer, contactId)).rejects.toMatchObject(REFUSED);
  });
});
