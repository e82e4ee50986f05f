import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/kernel/caller.ts';
import { AroundWorld, invalid } from './around.world.ts';

const DAY_MS = 86_400_000;

describe('The time of a follow-up', () => {
  let world: AroundWorld;
  let caller: Caller;

  beforeAll(async () => {
    world = await AroundWorld.start();
    ({ caller } = await world.account());
  });
  afterAll(() => world.stop());

  it.each([
    [1_893_456_000_000, 1_893_456_000_000],
    [1_893_456_000, 1_893_456_000_000],
    ['2030-01-01T00:00:00Z', 1_893_456_000_000],
    ['2030-01-01', 1_893_456_000_000],
    ['2030-01-01T00:00', 1_893_456_000_000],
    ['2030-01-01T00:00:00', 1_893_456_000_000],
    ['2030-01-01t00:00:00z', 1_893_456_000_000],
    ['2030-01-01T02:00:00+02:00', 1_893_456_000_000],
    ['2030-01-01T02:00:00+0200', 1_893_456_000_000],
    ['2030-01-01T02:00:00+02', 1_893_456_000_000],
    ['2029-12-31T18:30:00.000-05:30', 1_893_456_000_000],
    ['2030-01-01T00:00:00.123456Z', 1_893_456_000_123],
    ['2030-01-01T00:00:00.5Z', 1_893_456_000_500],
    ['2028-02-29T12:00:00Z', Date.UTC(2028, 1, 29, 12)],
  ])('are planned for %j, which is %d', async (scheduledAt, expected) => {
    const contactId = await world.contact(caller);
    const made = await world.services.followUps.create(caller, contactId, { scheduledAt });
    expect(made.scheduledAtMs).toBe(expected);
  });

  it.each([
    ...[
      undefined,
      null,
      '',
      'tomorrow',
      '2030',
      '2030-13-01',
      '2030-02-30T00:00:00Z',
      '2030-01-01T25:00:00Z',
    ],
    ...['2030-01-01T00:00:00+99:00', '01/01/2030', '1893456000', NaN, Infinity, 1.5, -1, true, {}, [], '\0'],
    ...[0, 1_700_000_000, 1_700_000_000_000, '2020-01-01T00:00:00Z', '2026-03-01T12:00:00Z'],
    ...[Number.MAX_SAFE_INTEGER, 9_007_199_254_740_992, 1e300, '+010000-01-01T00:00:00Z'],
  ])('are refused for %j: unreadable, or not in the future', async (scheduledAt) => {
    const contactId = await world.contact(caller);
    const { followUps } = world.services;
    await expect(followUps.create(caller, contactId, { scheduledAt })).rejects.toMatchObject(
      invalid('scheduled_at'),
    );
    expect(await followUps.list(caller, contactId)).toEqual([]);
    if (scheduledAt === undefined) return;
    const { followupId } = await followUps.create(caller, contactId, { scheduledAt: world.inMs(DAY_MS) });
    await expect(followUps.update(caller, followupId, { scheduledAt })).rejects.toMatchObject(
      invalid('scheduled_at'),
    );
    expect(await world.messages(followupId)).toEqual([world.inMs(DAY_MS)]);
  });
});
