import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentBulkRemoved, presentRemoved } from '../../src/features/dnc/index.ts';
import type { Caller } from '../../src/kernel/caller.ts';
import { AroundWorld, NOT_FOUND } from '../contacts/around.world.ts';

const SUCCESS = { success: true };
const update = (matchedCount: number, modifiedCount: number) => ({
  ...{ acknowledged: true, matchedCount, modifiedCount, upsertedId: null, upsertedCount: 0 },
});
const A = '+12025550101';
const B = '+12025550102';
const C = '+12025550103';

describe('Removal from the do-not-contact list, and the marks of contacts', () => {
  let world: AroundWorld;

  beforeAll(async () => {
    world = await AroundWorld.start();
  });
  afterAll(() => world.stop());

  const setUp = async () => {
    const { caller, teamId } = await world.account();
    const brand = async () =>
      (await world.services.lookups.brands.create(caller, { companyName: 'Example Ltd' })).brandId;
    return { caller, teamId, brands: [await brand(), await brand()] as const };
  };
  const isMarked = async (caller: Caller, contactId: string) =>
    (await world.services.contacts.get(caller, contactId)).dnc;
  const optOut = (
    teamId: string,
    of: { phoneNumber: string } | { email: string },
    brandId: string | null = null,
  ) =>
    world.services.outbox.tx((tx) =>
      world.services.dnc.selfAdd(tx, { ...of, teamId, brandId, method: 'sms', reason: 'STOP' }),
    );

  it('loses the entry of the brand, or without one the most recently updated; contacts are marked no longer', async () => {
    const { caller, brands } = await setUp();
    const { dnc } = world.services;
    const [one, other] = brands;
    const contactId = await world.contact(caller, { phone: A });
    for (const brandId of [null, one, other]) {
      await dnc.add(caller, { phoneNumber: A, brandId });
      world.clock.advance(1_000);
    }
    await dnc.add(caller, { phoneNumber: A, brandId: one });
    const left = async () =>
      (await dnc.get(caller, { phoneNumber: A })).entries.map((entry) => entry.brandId);
    expect(await left()).toEqual([one, other, null]);
    expect(presentRemoved(await dnc.remove(caller, { phoneNumber: A }))).toEqual([SUCCESS, update(1, 1)]);
    expect(await left()).toEqual([other, null]);
    expect(await isMarked(caller, contactId)).toBe(false);
    expect(presentRemoved(await dnc.remove(caller, { phoneNumber: A }, { brandId: one }))).toEqual([
      ...[SUCCESS, update(1, 0)],
    ]);
    expect(await left()).toEqual([other, null]);
    await dnc.remove(caller, { phoneNumber: A }, { brandId: other });
    expect(await left()).toEqual([null]);
    await dnc.remove(caller, { phoneNumber: A });
    await expect(left()).rejects.toMatchObject(NOT_FOUND);
  });

  it('loses what it does not have without complaint, and the contacts their mark', async () => {
    const { caller } = await setUp();
    const { dnc } = world.services;
    const contactId = await world.contact(caller, { phone: A, email: 'ada@example.com' });
    await dnc.add(caller, { phoneNumber: A });
    expect(presentRemoved(await dnc.remove(caller, { email: 'ADA@example.com' }))).toEqual([
      SUCCESS,
      update(1, 1),
    ]);
    expect(await isMarked(caller, contactId)).toBe(false);
    expect(presentRemoved(await dnc.remove(caller, { phoneNumber: C }))).toEqual([SUCCESS, update(0, 0)]);
    expect((await dnc.get(caller, { phoneNumber: A })).entries).toHaveLength(1);
  });

  it('keeps what contacts added themselves', async () => {
    const { caller, teamId, brands } = await setUp();
    const { dnc } = world.services;
    const [brandId] = brands;
    const contactId = await world.contact(caller, { phone: A });
    await optOut(teamId, { phoneNumber: A }, brandId);
    await optOut(teamId, { email: 'ada@example.com' });
    expect(await isMarked(caller, contactId)).toBe(true);
    const refused = { status: 400, code: 'validation-error', detail: 'dnc contact cannot be deleted' };
    await expect(dnc.remove(caller, { phoneNumber: A })).rejects.toMatchObject(refused);
    await expect(dnc.remove(caller, { phoneNumber: A }, { brandId })).rejects.toMatchObject(refused);
    await expect(dnc.remove(caller, { email: 'ADA@example.com' })).rejects.toMatchObject(refused);
    expect(await isMarked(caller, contactId)).toBe(true);
    const removed = await dnc.bulkRemove(caller, { phoneNumbers: [A, B], emails: ['ada@example.com'] });
    expect(presentBulkRemoved(removed)).toEqual({
      deleted: [],
      skipped: [
        { phone_number: A, email: null, reason: 'self_added_opt_out' },
        { phone_number: null, email: 'ada@example.com', reason: 'self_added_opt_out' },
      ],
    });
    expect(await isMarked(caller, contactId)).toBe(true);
    world.clock.advance(1_000);
    await dnc.add(caller, { phoneNumber: A, brandId, method: 'crm', reason: 'other' });
    expect((await dnc.get(caller, { phoneNumber: A })).entries).toMatchObject([
      { selfAdded: true, method: 'sms', reason: 'STOP', updatedAtMs: world.clock.nowMs() },
    ]);
    await dnc.add(caller, { phoneNumber: B });
    await optOut(teamId, { phoneNumber: B });
    expect((await dnc.get(caller, { phoneNumber: B })).entries).toMatchObject([
      { selfAdded: true, method: 'sms', reason: 'STOP' },
    ]);
  });

  it('loses many at once, and names those that went', async () => {
    const { caller, teamId, brands } = await setUp();
    const { dnc } = world.services;
    const [brandId] = brands;
    const contacts = [await world.contact(caller, { phone: A }), await world.contact(caller, { phone: B })];
    await dnc.add(caller, { phoneNumber: [A, B], email: 'ada@example.com' });
    world.clock.advance(1_000);
    await dnc.add(caller, { phoneNumber: A, brandId });
    await optOut(teamId, { phoneNumber: B }, brandId);
    const input = { phoneNumbers: [A, B, C, A], emails: ['ADA@example.com'] };
    expect(await dnc.bulkRemove(caller, input)).toEqual({
      deleted: [A, 'ada@example.com'],
      skipped: [{ phoneNumber: B, email: null, reason: 'self_added_opt_out' }],
    });
    expect((await dnc.get(caller, { phoneNumber: A })).entries).toMatchObject([{ brandId: null }]);
    expect((await dnc.get(caller, { phoneNumber: B })).entries).toHaveLength(2);
    expect(await Promise.all(contacts.map((id) => isMarked(caller, id)))).toEqual([false, true]);
    const ofBrand = await dnc.bulkRemove(caller, { phoneNumbers: [A, B], brandId });
    expect(ofBrand).toMatchObject({ deleted: [], skipped: [{ phoneNumber: B }] });
    expect((await dnc.get(caller, { phoneNumber: A })).entries).toHaveLength(1);
  });

  it('marks a contact that is made with a listed number or email, whatever the brand', async () => {
    const { caller, brands } = await setUp();
    await world.services.dnc.add(caller, { phoneNumber: A, brandId: brands[0], email: 'ada@example.com' });
    expect(await isMarked(caller, await world.contact(caller, { phone: A }))).toBe(true);
    expect(await isMarked(caller, await world.contact(caller, { phone: B, mobile_phone: A }))).toBe(true);
    expect(await isMarked(caller, await world.contact(caller, { email: 'ADA@example.com' }))).toBe(true);
    expect(await isMarked(caller, await world.contact(caller, { phone: C }))).toBe(false);
  });

  it('changes nothing of a contact when the entry cannot be written', async () => {
    const { caller, teamId } = await setUp();
    const contactId = await world.contact(caller, { phone: A });
    const failure = world.services.outbox.tx(async (tx) => {
      const of = { teamId, phoneNumber: A, brandId: null, method: 'sms', reason: 'STOP' };
      await world.services.dnc.selfAdd(tx, of);
      throw new Error('undone');
    });
    await expect(failure).rejects.toThrow('undone');
    expect(await isMarked(caller, contactId)).toBe(false);
    expect(await world.services.dnc.count(caller)).toBe(0);
  });
});
