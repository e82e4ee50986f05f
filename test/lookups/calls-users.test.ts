import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAccount } from '../_util/api.ts';
import { sine, wavOf } from '../platform/audio/wav.ts';
import { LookupsWorld, START_MS } from './world.ts';

let world: LookupsWorld;
beforeAll(async () => void (world = await LookupsWorld.start()));
afterAll(() => world.close());

describe('calls', () => {
  const insert = async (of: TestAccount, recordingKey: string | null, endedAtMs: number | null) => {
    const callId = randomUUID();
    await world.database.db.query(
      `insert into calls (id, team_id, phone_number, caller_id, direction, outcome, answered, started_at, ended_at,
         recording_key)
       values ($1, $2, '+12025550123', '+12025550199', 'outbound', 'success', true, $3, $4, $5)`,
      [callId, of.teamId, new Date(START_MS), endedAtMs === null ? null : new Date(endedAtMs), recordingKey],
    );
    return callId;
  };
  const get = (as: TestAccount, path: string) =>
    world.api.request('GET', `/phone/public/calls/${path}`, { as });

  it('are shown with how long they took, and play their recording', async () => {
    const as = await world.account();
    const [key, wav] = [randomUUID(), wavOf(sine({ rateHz: 8_000, hz: 440, seconds: 1 }))];
    await world.files.kept.put(key, [wav], { bytesMax: wav.length });
    const id = await insert(as, key, START_MS + 12_345);
    expect((await get(as, id)).data).toEqual({
      ...{ call_id: id, contact_id: null, phone_number: '+12025550123', caller_id: '+12025550199' },
      ...{ direction: 'outbound', outcome: 'success', answered: true, has_recording: true },
      ...{ started_at: START_MS, ended_at: START_MS + 12_345, duration: 12.345 },
    });
    const recording = await get(as, `${id}/recording`);
    expect(recording.headers.get('content-type')).toBe('audio/wav');
    expect(recording.bytes.equals(wav)).toBe(true);
  });

  it('have no recording until there is one, and no length while they last', async () => {
    const as = await world.account();
    const running = await insert(as, null, null);
    expect((await get(as, running)).data).toMatchObject({
      has_recording: false,
      ended_at: null,
      duration: null,
    });
    expect((await get(as, `${running}/recording`)).status).toBe(404);
    const lost = await insert(as, randomUUID(), START_MS);
    expect((await get(as, `${lost}/recording`)).status).toBe(404);
  });

  it('of another account are not found', async () => {
    const [as, other] = [await world.account(), await world.account()];
    const key = randomUUID();
    await world.files.kept.put(key, [Buffer.from('x')], { bytesMax: 1 });
    for (const id of [await insert(other, key, START_MS), randomUUID(), 'x']) {
      expect((await get(as, id)).status).toBe(404);
      expect((await get(as, `${id}/recording`)).status).toBe(404);
    }
  });
});

describe('users', () => {
  it('of the account are listed in pages, found by name or email, never with a password', async () => {
    const [as, other] = [await world.account(), await world.account()];
    const add = (teamId: string, name: string) =>
      world.api.services.users.create({
        ...{ teamId, email: `${name.toLowerCase()}@example.com`, displayName: name },
        ...{ password: 'a long password', role: 'agent', aiAccess: 'none' },
      });
    world.clock.advance(1);
    const ada = await add(as.teamId, 'Ada');
    world.clock.advance(1);
    await add(as.teamId, 'Grace');
    await add(other.teamId, 'Other');
    const list = async (query: string) => {
      const { data } = await world.api.request('GET', `/user/public/users${query}`, { as });
      return data as { user_id: string; display_name: string; email: string | null; role: string }[];
    };
    const all = await list('');
    expect(all.map((user) => user.display_name)).toEqual(['Example Ltd', 'Ada', 'Grace']);
    expect(all[0]).toMatchObject({ user_id: as.ownerId, email: null, role: 'owner' });
    expect(Object.keys(all[1]!).sort()).toEqual(['created_at', 'display_name', 'email', 'role', 'user_id']);
    expect((await list('?limit=1&skip=1')).map((user) => user.user_id)).toEqual([ada]);
    expect((await list('?search_term=ADA')).map((user) => user.user_id)).toEqual([ada]);
    expect(await list('?skip=9007199254740991')).toEqual([]);
  });
});
