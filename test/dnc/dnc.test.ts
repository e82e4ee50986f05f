import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentAdded, presentDncMatch, presentRemoved } from '../../src/features/dnc/index.ts';
import type { Caller } from '../../src/kernel/caller.ts';
import { AroundWorld, invalid, NOT_FOUND, only, REFUSED } from '../contacts/around.world.ts';

const SUCCESS = { success: true };
const update = (matchedCount: number, modifiedCount: number) => ({
  ...{ acknowledged: true, matchedCount, modifiedCount, upsertedId: null, upsertedCount: 0 },
});
const A = '+12025550101';
const B = '+12025550102';
const C = '+12025550103';

describe('The do-not-contact list', () => {
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

  it('takes an entry and marks the contacts, with an answer of two parts for each identifier', async () => {
    const { caller, teamId } = await setUp();
    const { dnc } = world.services;
    const contactId = await world.contact(caller, { phone: A, email: 'ada@example.com' });
    world.told();
    world.clock.advance(1_000);
    const added = await dnc.add(caller, { phoneNumber: A });
    expect(presentAdded(added)).toEqual([SUCCESS, update(1, 1)]);
    const nowMs = world.clock.nowMs();
    expect(world.told()).toEqual([
      {
        ...{ teamId, event: 'contact.updated', atMs: nowMs },
        data: { team_id: teamId, contact_id: contactId, dnc: true },
      },
    ]);
    expect(await isMarked(caller, contactId)).toBe(true);
    expect(presentDncMatch(await dnc.get(caller, { phoneNumber: A }))).toEqual({
      ...{ on_dnc: true, phone_numbers: [A], emails: [], matched: 1 },
      data: [
        {
          ...{
            brand_id: null,
            phone_number: A,
            email: null,
            method: 'api',
            reason: 'api',
            self_added: false,
          },
          ...{ created_at: nowMs, updated_at: nowMs },
        },
      ],
    });
    const many = await dnc.add(caller, { phoneNumber: [B, A], email: ['ADA@example.com', 'b@example.com'] });
    expect(presentAdded(many)).toEqual([
      ...[SUCCESS, update(0, 0), SUCCESS, update(1, 0), SUCCESS, update(1, 0), SUCCESS, update(0, 0)],
      { information_message: expect.stringContaining('1 already') as string },
    ]);
    expect(world.told()).toEqual([]);
  });

  it('counts for each identifier, in the order given, also one that is repeated', async () => {
    const { caller } = await setUp();
    await world.contact(caller, { phone: A, email: 'ada@example.com' });
    await world.contact(caller, { phone: B, mobile_phone: C });
    const added = await world.services.dnc.add(caller, {
      phoneNumber: [C, A, C],
      email: ['ada@example.com', 'x@example.com'],
    });
    expect(presentAdded(added)).toEqual([
      ...[SUCCESS, update(1, 1), SUCCESS, update(1, 1), SUCCESS, update(1, 0)],
      ...[SUCCESS, update(1, 0), SUCCESS, update(0, 0)],
      { information_message: expect.stringContaining('1 already') as string },
    ]);
  });

  it('updates the entry of the same brand when it is added again, and keeps those of other brands apart', async () => {
    const { caller, brands } = await setUp();
    const { dnc } = world.services;
    const [one, other] = brands;
    const labels = { method: 'crm', reason: 'asked by letter' };
    expect((await dnc.add(caller, { phoneNumber: A, brandId: one, ...labels })).alreadyListed).toBe(0);
    const createdAtMs = world.clock.nowMs();
    world.clock.advance(1_000);
    expect((await dnc.add(caller, { phoneNumber: A })).alreadyListed).toBe(0);
    expect((await dnc.add(caller, { phoneNumber: A, brandId: other })).alreadyListed).toBe(0);
    world.clock.advance(1_000);
    const again = await dnc.add(caller, { phoneNumber: A, brandId: one.toUpperCase(), method: 'phone' });
    expect(again.alreadyListed).toBe(1);
    const { entries, matched } = await dnc.get(caller, { phoneNumber: A });
    expect(matched).toBe(1);
    expect(entries).toHaveLength(3);
    expect(entries[0]).toMatchObject({
      ...{ brandId: one, method: 'phone', reason: 'api', createdAtMs, updatedAtMs: world.clock.nowMs() },
    });
  });

  it('is looked up by numbers and emails; a brand sees its entries and those of every brand', async () => {
    const { caller, brands } = await setUp();
    const { dnc } = world.services;
    const [one, other] = brands;
    await dnc.add(caller, { phoneNumber: A });
    await dnc.add(caller, { phoneNumber: B, brandId: one });
    await dnc.add(caller, { email: 'Ada@Example.com', brandId: other });
    const look = async (query: Parameters<typeof dnc.lookUp>[1]) => {
      const match = presentDncMatch(await dnc.lookUp(caller, query));
      return [
        match.on_dnc,
        match.matched,
        match.data.map((entry) => entry.phone_number ?? entry.email).sort(),
      ];
    };
    const phoneNumbers = `${A}, ${B},${C}`;
    expect(await look({ phoneNumbers })).toEqual([true, 2, [A, B]]);
    expect(await look({ phoneNumbers, brandId: one })).toEqual([true, 2, [A, B]]);
    expect(await look({ phoneNumbers, brandId: other })).toEqual([true, 1, [A]]);
    expect(await look({ phoneNumbers: C })).toEqual([false, 0, []]);
    expect(await look({ emails: 'ADA@EXAMPLE.COM,b@example.com' })).toEqual([true, 1, ['ada@example.com']]);
    expect(await look({ emails: 'ada@example.com', brandId: one })).toEqual([false, 0, []]);
    expect(await look({ phoneNumbers: A, emails: 'ada@example.com' })).toEqual([
      true,
      2,
      [A, 'ada@example.com'],
    ]);
    expect(presentDncMatch(await dnc.lookUp(caller, { emails: 'ADA@example.com' }))).toMatchObject({
      ...{ phone_numbers: [], emails: ['ada@example.com'] },
    });
    await expect(dnc.get(caller, { phoneNumber: C })).rejects.toMatchObject(NOT_FOUND);
    await expect(dnc.get(caller, { phoneNumber: B }, { brandId: other })).rejects.toMatchObject(NOT_FOUND);
    expect((await dnc.get(caller, { phoneNumber: B }, { brandId: one })).entries).toHaveLength(1);
    expect((await dnc.get(caller, { email: 'ADA@example.COM' })).entries).toHaveLength(1);
    await expect(dnc.get(caller, { email: 'b@example.com' })).rejects.toMatchObject(NOT_FOUND);
  });

  it.each([
    ['phone_number', {}],
    ['phone_number', { phoneNumber: null, email: null }],
    ['phone_number', { phoneNumber: [] }],
    ['phone_number', { phoneNumber: '2025550101' }],
    ['phone_number', { phoneNumber: '+1 202 555 0101' }],
    ['phone_number', { phoneNumber: ' +12025550101' }],
    ['phone_number', { phoneNumber: '+012025550101' }],
    ['phone_number', { phoneNumber: '+1202555010112345' }],
    ['phone_number', { phoneNumber: '' }],
    ['phone_number', { phoneNumber: [A, 5] }],
    ['phone_number', { phoneNumber: { a: 1 } }],
    ['phone_number', { phoneNumber: new Array<string>(10_001).fill(A) }],
    ['phone_number', { phoneNumber: new Array<string>(10_000).fill(A), email: 'ada@example.com' }],
    ['email', { email: 'nobody' }],
    ['email', { email: 'a@b@c' }],
    ['email', { email: 'a b@example.com' }],
    ['email', { email: 'a,b@example.com' }],
    ['email', { email: '\0@example.com' }],
    ['email', { email: `${'a'.repeat(250)}@b.com` }],
    ['email', { phoneNumber: A, email: [''] }],
    ['reason', { phoneNumber: A, reason: 5 }],
    ['reason', { phoneNumber: A, reason: 'x'.repeat(501) }],
    ['method', { phoneNumber: A, method: 'a\0' }],
    ['brand_id', { phoneNumber: A, brandId: 'nonsense' }],
    ['brand_id', { phoneNumber: A, brandId: '' }],
    ['brand_id', { phoneNumber: A, brandId: 5 }],
    ['brand_id', { phoneNumber: A, brandId: '00000000-0000-4000-8000-000000000000' }],
  ])('takes nothing with a wrong %s', async (field, input) => {
    const { caller } = await world.account();
    await expect(world.services.dnc.add(caller, input)).rejects.toMatchObject(invalid(field));
    expect(await world.services.dnc.count(caller)).toBe(0);
  });

  it('is not looked up or changed with wrong identifiers or brands', async () => {
    const { caller } = await setUp();
    const { dnc } = world.services;
    const foreign = (await setUp()).brands[0];
    await expect(dnc.lookUp(caller, {})).rejects.toMatchObject(invalid('phone_numbers'));
    await expect(dnc.lookUp(caller, { phoneNumbers: ' , ', emails: '' })).rejects.toMatchObject(
      invalid('phone_numbers'),
    );
    await expect(dnc.lookUp(caller, { phoneNumbers: `${A},x` })).rejects.toMatchObject(
      invalid('phone_numbers'),
    );
    await expect(dnc.lookUp(caller, { emails: 'x' })).rejects.toMatchObject(invalid('emails'));
    const tooMany = new Array<string>(501).fill(A).join(',');
    await expect(dnc.lookUp(caller, { phoneNumbers: tooMany })).rejects.toMatchObject(
      invalid('phone_numbers'),
    );
    for (const brandId of [foreign, 'nonsense', '']) {
      const wrong = invalid('brand_id');
      await expect(dnc.lookUp(caller, { phoneNumbers: A, brandId })).rejects.toMatchObject(wrong);
      await expect(dnc.get(caller, { phoneNumber: A }, { brandId })).rejects.toMatchObject(wrong);
      await expect(dnc.remove(caller, { phoneNumber: A }, { brandId })).rejects.toMatchObject(wrong);
      await expect(dnc.add(caller, { phoneNumber: A, brandId })).rejects.toMatchObject(wrong);
      await expect(dnc.bulkRemove(caller, { phoneNumbers: [A], brandId })).rejects.toMatchObject(wrong);
    }
    for (const phoneNumber of ['x', ' 12025550101', `${A},${B}`, '', '\0']) {
      await expect(dnc.get(caller, { phoneNumber })).rejects.toMatchObject(invalid('phone_number'));
      await expect(dnc.remove(caller, { phoneNumber })).rejects.toMatchObject(invalid('phone_number'));
    }
    await expect(dnc.get(caller, { email: 'x' })).rejects.toMatchObject(invalid('email'));
    await expect(dnc.bulkRemove(caller, {})).rejects.toMatchObject(invalid('phone_numbers'));
    await expect(dnc.bulkRemove(caller, { phoneNumbers: [], emails: [] })).rejects.toMatchObject(
      invalid('phone_numbers'),
    );
  });

  it('is each account its own', async () => {
    const [mine, theirs] = [await setUp(), await setUp()];
    const { dnc } = world.services;
    const contactId = await world.contact(theirs.caller, { phone: A });
    await dnc.add(theirs.caller, { phoneNumber: A });
    await expect(dnc.get(mine.caller, { phoneNumber: A })).rejects.toMatchObject(NOT_FOUND);
    expect(presentRemoved(await dnc.remove(mine.caller, { phoneNumber: A }))).toEqual([
      SUCCESS,
      update(0, 0),
    ]);
    expect(await dnc.bulkRemove(mine.caller, { phoneNumbers: [A] })).toEqual({ deleted: [], skipped: [] });
    expect((await dnc.get(theirs.caller, { phoneNumber: A })).entries).toHaveLength(1);
    expect(await isMarked(theirs.caller, contactId)).toBe(true);
    expect(await world.db.tx((tx) => dnc.isListed(tx, mine.teamId, [A]))).toEqual(new Set());
  });

  it('takes ten thousand identifiers in one call, and several calls over the same ones at once', async () => {
    const { caller } = await setUp();
    const { dnc } = world.services;
    const numbers = Array.from({ length: 10_000 }, (_, index) => `+1202${5_600_000 + index}`);
    const contactId = await world.contact(caller, { phone: numbers[9_999] ?? '' });
    const added = await Promise.all([
      dnc.add(caller, { phoneNumber: numbers }),
      dnc.add(caller, { phoneNumber: [...numbers].reverse() }),
      dnc.add(caller, { phoneNumber: numbers.slice(5_000) }),
    ]);
    expect(added.map(({ results }) => results.length)).toEqual([10_000, 10_000, 5_000]);
    expect(added.reduce((sum, { alreadyListed }) => sum + alreadyListed, 0)).toBe(15_000);
    expect(await dnc.count(caller)).toBe(10_000);
    expect(await isMarked(caller, contactId)).toBe(true);
    const removed = await dnc.bulkRemove(caller, { phoneNumbers: numbers });
    expect(removed.deleted).toEqual(numbers);
    expect(await dnc.count(caller)).toBe(0);
    expect(await isMarked(caller, contactId)).toBe(false);
  });

  it('is listed most recently updated first, page by page', async () => {
    const { caller } = await setUp();
    const { dnc } = world.services;
    await dnc.add(caller, { phoneNumber: [A, B] });
    world.clock.advance(1_000);
    await dnc.add(caller, { phoneNumber: C, email: 'ada@example.com' });
    const seen: (string | null)[] = [];
    let after: { updatedAtMs: number; entryId: string } | undefined;
    for (;;) {
      const [entry] = await dnc.list(caller, { limit: 1, after });
      if (!entry) break;
      seen.push(entry.phoneNumber ?? entry.email);
      after = entry;
      world.clock.advance(1);
      await dnc.add(caller, { phoneNumber: '+12025550104' });
    }
    expect(seen.slice(0, 2).sort()).toEqual([C, 'ada@example.com']);
    expect(seen.slice(2).sort()).toEqual([A, B]);
    await expect(dnc.list(caller, { limit: 0 })).rejects.toMatchObject(invalid('limit'));
  });

  it('needs its own scopes', async () => {
    const { caller } = await setUp();
    const { dnc } = world.services;
    const [reader, writer] = [only(caller, 'dnc:read'), only(caller, 'dnc:write')];
    await expect(dnc.lookUp(writer, { phoneNumbers: A })).rejects.toMatchObject(REFUSED);
    await expect(dnc.get(writer, { phoneNumber: A })).rejects.toMatchObject(REFUSED);
    await expect(dnc.list(writer, { limit: 1 })).rejects.toMatchObject(REFUSED);
    await expect(dnc.add(reader, { phoneNumber: A })).rejects.toMatchObject(REFUSED);
    await expect(dnc.remove(reader, { phoneNumber: A })).rejects.toMatchObject(REFUSED);
    await expect(dnc.bulkRemove(reader, { phoneNumbers: [A] })).rejects.toMatchObject(REFUSED);
  });
});
