import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAccount } from '../_util/index.ts';
import { AcceptWorld } from './accept.world.ts';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TEXT = { to: '+15550020001', body: 'Hello.' };

let world: AcceptWorld;

beforeAll(async () => {
  world = await AcceptWorld.start();
});
afterAll(async () => world.close());

const fresh = (): Promise<TestAccount> => world.account();

describe('a send route', () => {
  it.each([
    ['/rvm', 'rvm'],
    ['/sms', 'sms'],
    ['/voice-broadcast', 'voice_broadcast'],
    ['/ai-broadcast', 'ai_broadcast'],
  ])('%s answers 202 without an envelope and has stored a queued send', async (path, channel) => {
    const as = await fresh();
    const answer = await world.request('POST', path, { as, body: TEXT });
    expect(answer).toMatchObject({ status: 202, body: { status: 'queued' } });
    expect(Object.keys(answer.body).sort()).toEqual(['message_id', 'status']);
    expect(answer.body.message_id).toMatch(UUID_7);
    const [row, ...more] = await world.sends(as.teamId);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      ...{ id: answer.body.message_id, channel, version: 2, state: 'queued', request: TEXT },
      ...{ accept_code: null, created_by: as.ownerId, foreign_id: null, callback_url: null },
    });
    expect(row?.created_at.getTime()).toBe(world.clock.nowMs());
  });

  it('has the send dispatched in its account’s lane of the channel, and tells that it was accepted', async () => {
    const as = await fresh();
    const id = await world.taken('/sms', { as, body: TEXT });
    const { db } = world.database;
    const steps = await db.query('select kind, team_id from send_steps where send_id = $1', [id]);
    expect(steps.rows).toEqual([{ kind: 'accepted', team_id: as.teamId }]);
    const { rows } = await db.query('select topic, lane, payload from outbox where key = $1', [id]);
    expect(rows).toEqual([{ topic: 'send.dispatch', lane: `send.dispatch|${as.teamId}:sms`, payload: {} }]);
  });

  it('keeps foreign_id and callback_url beside the body when they are texts within their bounds', async () => {
    const as = await fresh();
    const fine = { foreign_id: 'f'.repeat(255), callback_url: `https://x.example/${'c'.repeat(2_030)}` };
    await world.taken('/sms', { as, body: fine });
    await world.taken('/sms', { as, body: { foreign_id: 'f'.repeat(256), callback_url: 'c'.repeat(2_049) } });
    await world.taken('/sms', { as, body: { foreign_id: 7, callback_url: ['https://x.example'] } });
    const rows = await world.sends(as.teamId);
    const kept = rows.map((row) => [row.foreign_id, row.callback_url]);
    expect(kept).toHaveLength(3);
    expect(kept).toContainEqual([fine.foreign_id, fine.callback_url]);
    expect(kept.filter(([one, other]) => one === null && other === null)).toHaveLength(2);
  });

  it('stores each of many requests that come at once, each under its own id', async () => {
    const as = await fresh();
    const numbers = Array.from({ length: 500 }, (_, n) => n);
    const ids = await Promise.all(numbers.map((n) => world.taken('/sms', { as, body: { n } })));
    expect(new Set(ids).size).toBe(500);
    const rows = await world.sends(as.teamId);
    const stored = new Map(rows.map((row) => [row.id, row.request.n]));
    expect(ids.map((id) => stored.get(id))).toEqual(numbers);
    const { rows: queued } = await world.database.db.query(
      `select count(*)::int as n from outbox where lane = $1`,
      [`send.dispatch|${as.teamId}:sms`],
    );
    expect(queued).toEqual([{ n: 500 }]);
  });
});

describe('a body', () => {
  it.each([
    ['an array', '[]'],
    ['an array of objects', '[{"to":"+15550020001"}]'],
    ['a text', '"hello"'],
    ['a number', '7'],
    ['null', 'null'],
    ['false', 'false'],
    ['an empty object', '{}'],
    ['white space around', ' \n{ } '],
  ])('that is %s is stored as it came', async (_name, body) => {
    const as = await fresh();
    await world.taken('/rvm', { as, body });
    expect((await world.sends(as.teamId)).map((row) => row.request)).toEqual([JSON.parse(body)]);
  });

  it.each([
    ['nothing', ''],
    ['white space', '  '],
    ['no JSON', 'to=%2B15550020001'],
    ['half of JSON', '{"to":'],
    ['NUL in a text', '{"to":"\\u0000"}'],
    ['NUL in a key', '{"\\u0000":1}'],
    ['a number beyond all', '{"n":1e400}'],
    ['half of a surrogate pair', '{"body":"\\ud800"}'],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a depth beyond the bound', '['.repeat(33) + ']'.repeat(33)],
  ])('of %s is 400 and stores nothing', async (_name, body) => {
    const as = await fresh();
    const answer = await world.request('POST', '/sms', { as, body });
    expect(answer.status).toBe(400);
    expect(answer.body.type).toMatch(/\/validation-error$/);
    expect(await world.sends(as.teamId)).toEqual([]);
  });

  it('that is left out is 400', async () => {
    expect((await world.request('POST', '/sms', { as: await fresh() })).status).toBe(400);
  });

  it('is taken up to 256 KiB and 413 above', async () => {
    const as = await fresh();
    const room = 262_144 - '{"body":""}'.length;
    await world.taken('/sms', { as, body: { body: 'x'.repeat(room) } });
    const answer = await world.request('POST', '/sms', { as, body: { body: 'x'.repeat(room + 1) } });
    expect(answer.status).toBe(413);
    expect(await world.sends(as.teamId)).toHaveLength(1);
  });

  it.each([undefined, 'text/plain', 'application/x-www-form-urlencoded', 'nonsense'])(
    'is read as JSON under the content type %s',
    async (type) => {
      const as = await fresh();
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      const bytes = Buffer.from(JSON.stringify(TEXT));
      await world.taken('/sms', { as, headers, body: bytes, isUntyped: true });
      expect(await world.sends(as.teamId)).toHaveLength(1);
      const answer = await world.request('POST', '/sms', {
        ...{ as, headers, body: Buffer.from('to=1'), isUntyped: true },
      });
      expect(answer.status).toBe(400);
    },
  );
});

describe('a send that cannot be stored', () => {
  it('fails alone: what came with it is taken', async () => {
    const { caller, teamId } = await fresh();
    // What no request can hold, but another slice could hand over.
    const requests = [{ n: 1 }, { n: 2 }, { text: '\0' }, { n: 3 }, { n: 4 }];
    const ends = await Promise.allSettled(
      requests.map((request) => world.accept.accept({ caller, channel: 'sms', version: 2, request })),
    );
    expect(ends.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    ]);
    expect((await world.sends(teamId)).map((row) => row.request.n).sort()).toEqual([1, 2, 3, 4]);
  });
});

describe('too much at once', () => {
  it('is 503 when more waits than may, and what was taken is stored', async () => {
    const small = await AcceptWorld.start({ waitingMax: 10 });
    try {
      const as = await small.account();
      const ask = (n: number) => small.request('POST', '/sms', { as, body: { n } });
      // Nothing can be stored until the first refusal came.
      const all = await small.database.db.tx(async (tx) => {
        await tx.query('lock table sends in exclusive mode');
        const asked = Array.from({ length: 100 }, (_, n) => ask(n));
        expect((await Promise.race(asked)).status).toBe(503);
        return asked;
      });
      const answers = await Promise.all(all);
      const statuses = new Set(answers.map(({ status }) => status));
      expect(statuses).toEqual(new Set([202, 503]));
      const ids = answers.filter(({ status }) => status === 202).map(({ body }) => body.message_id as string);
      expect((await small.sends(as.teamId)).map((row) => row.id)).toEqual(ids.sort());
    } finally {
      await small.close();
    }
  });

  it('is 429 above the account’s rate, of that account alone', async () => {
    const slow = await AcceptWorld.start({ rate: 3 });
    try {
      const [as, other] = [await slow.account(), await slow.account()];
      const ask = (path: string) => slow.request('POST', path, { as, body: TEXT });
      const statuses: number[] = [];
      for (const path of ['/sms', '/rvm', '/sms', '/voice-broadcast', '/ai-broadcast'])
        statuses.push((await ask(path)).status);
      expect(statuses).toEqual([202, 202, 202, 429, 429]);
      expect((await ask('/sms')).body).toEqual({ message: 'Too Many Requests' });
      await slow.taken('/sms', { as: other, body: TEXT });
      slow.clock.advance(1_000);
      expect((await ask('/sms')).status).toBe(202);
      expect(await slow.sends(as.teamId)).toHaveLength(4);
    } finally {
      await slow.close();
    }
  });
});
