import { graphql } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HeldSendsService } from '../../src/features/sends/held-sends.service.ts';
import type { Ending } from '../../src/features/sends/result.type.ts';
import { SendsMutationResolver } from '../../src/features/sends/sends.mutation.resolver.ts';
import { SendsQueryService } from '../../src/features/sends/sends.query.service.ts';
import { SendsResolver } from '../../src/features/sends/sends.resolver.ts';
import type { Caller, Scope } from '../../src/kernel/caller.ts';
import { Loaders, schemaOver } from '../../src/platform/graphql/index.ts';
import type { Tx } from '../../src/platform/db/index.ts';
import { callerOf } from '../_util/index.ts';
import type { TestAccount } from '../_util/index.ts';
import { AcceptWorld } from './accept.world.ts';
import type { Loose } from './accept.world.ts';

const HOUR_MS = 3_600_000;
const NOBODY = '00000000-0000-7000-8000-000000000000';

let world: AcceptWorld;

beforeAll(async () => {
  world = await AcceptWorld.start();
});
afterAll(async () => world.close());

/** One field of each object of a list. */
const each = (list: Loose, name: string): unknown[] =>
  (list as Record<string, unknown>[]).map((one) => one[name]);

/** What the dispatcher would have written of a send that was held, sent and delivered. */
async function deliver(teamId: string, sendId: string): Promise<void> {
  const { db } = world.database;
  const atMs = world.clock.nowMs();
  await db.query(
    `update sends set state = 'finished', outcome_code = 0, reason = 'success', quantity = 1, attempt = 1,
       product_cost_micros = 7900, phone_number = '+15550020001', segments = 1, finished_at = $3
     where team_id = $1 and id = $2`,
    [teamId, sendId, new Date(atMs + 5)],
  );
  const kinds = ['decided', 'held', 'decided', 'carrier_request', 'carrier_answer', 'result', 'callback'];
  for (const [n, kind] of kinds.entries())
    await db.query(
      'insert into send_steps (send_id, team_id, kind, at, detail) values ($1, $2, $3, $4, $5)',
      [sendId, teamId, kind, new Date(atMs + n), JSON.stringify(kind === 'result' ? { code: 0 } : {})],
    );
}

const holdFor = (of: { teamId: string; sendId: string }) =>
  world.database.db.query(`update sends set state = 'held', held_until = $3 where team_id = $1 and id = $2`, [
    of.teamId,
    of.sendId,
    new Date(world.clock.nowMs() + HOUR_MS),
  ]);

const keyWith = (account: TestAccount, scopes: readonly Scope[]) =>
  world.accounts.services.apiKeys.create(account.caller, { scopes: [...scopes] });

describe('GET /sends/{message_id}', () => {
  it('shows a send with each of its steps', async () => {
    const as = await world.account();
    const body = { to: '+15550020001', body: 'Hello.', foreign_id: 'order-7' };
    const id = await world.taken('/sms', { as, body });
    const queued = await world.request('GET', `/sends/${id}`, { as });
    const atMs = world.clock.nowMs();
    expect(queued.status).toBe(200);
    expect(queued.body.data).toMatchObject({
      ...{ message_id: id, channel: 'sms', state: 'queued', foreign_id: 'order-7', reason_code: null },
      ...{ created_at: atMs, finished_at: null, attempt: 0 },
      steps: [{ kind: 'ACCEPTED', at: atMs }],
    });
    await deliver(as.teamId, id);
    const { data } = (await world.request('GET', `/sends/${id}`, { as })).body;
    expect(data).toMatchObject({
      ...{ state: 'finished', reason_code: 0, reason: 'success', quantity: 1, segments: 1 },
      ...{ product_cost: 0.0079, phone_number: '+15550020001', finished_at: atMs + 5 },
    });
    expect(each(data.steps, 'kind')).toEqual([
      ...[
        'ACCEPTED',
        'DECIDED',
        'HELD',
        'DECIDED',
        'CARRIER_REQUEST',
        'CARRIER_ANSWER',
        'RESULT',
        'CALLBACK',
      ],
    ]);
  });

  it('takes the scope of the send’s own channel', async () => {
    const as = await world.account();
    const id = await world.taken('/rvm', { as, body: {} });
    const statuses: Record<string, number> = {};
    for (const scope of ['rvm:send', 'sms:send', 'contacts:read'] as const) {
      const key = await keyWith(as, [scope]);
      statuses[scope] = (await world.request('GET', `/sends/${id}`, { as: key })).status;
    }
    expect(statuses).toEqual({ 'rvm:send': 200, 'sms:send': 403, 'contacts:read': 403 });
  });

  it.each(['x', NOBODY, '1 or 1=1'])('is 404 for an id of nobody (%s)', async (id) => {
    const as = await world.account();
    expect((await world.request('GET', `/sends/${encodeURIComponent(id)}`, { as })).status).toBe(404);
  });

  it('is 404 for another account’s send, and 401 without a credential', async () => {
    const [as, other] = [await world.account(), await world.account()];
    const id = await world.taken('/rvm', { as, body: {} });
    expect((await world.request('GET', `/sends/${id}`, { as: other })).status).toBe(404);
    expect((await world.request('GET', `/sends/${id}`)).status).toBe(401);
  });
});

describe('GET /sends?foreign_id=', () => {
  it('finds the account’s own sends by their reference, newest first', async () => {
    const [as, other] = [await world.account(), await world.account()];
    const ids: string[] = [];
    for (const path of ['/sms', '/rvm', '/sms']) {
      world.clock.advance(1);
      ids.unshift(await world.taken(path, { as, body: { foreign_id: 'a&b' } }));
    }
    await world.taken('/sms', { as, body: { foreign_id: 'a' } });
    await world.taken('/sms', { as: other, body: { foreign_id: 'a&b' } });
    const find = async (query: string, of: { key: string; secret: string } = as) => {
      const answer = await world.request('GET', `/sends?${query}`, { as: of });
      const data = answer.body.data as { message_id: string; steps: object[] }[] | undefined;
      for (const send of data ?? []) expect(send.steps).toHaveLength(1);
      return data?.map(({ message_id }) => message_id) ?? answer.status;
    };
    expect(await find('foreign_id=a%26b')).toEqual(ids);
    expect(await find('foreign_id=a%26b&limit=2')).toEqual(ids.slice(0, 2));
    expect(await find('foreign_id=a%26b', await keyWith(as, ['rvm:send']))).toEqual([ids[1]]);
    expect(await find('foreign_id=none')).toEqual([]);
    expect(await find('')).toBe(400);
    expect(await find('foreign_id=')).toBe(400);
  });
});

describe('GraphQL', () => {
  const ended: Ending[] = [];
  /** Stands in for the results of the dispatcher. */
  const results = {
    endIn: async (tx: Tx, endings: readonly Ending[]) => {
      ended.push(...endings);
      for (const { teamId, sendId, result } of endings)
        await tx.query(
          `update sends set state = 'finished', outcome_code = $3, reason = $4 where team_id = $1 and id = $2`,
          [teamId, sendId, result.outcomeCode, result.reason],
        );
      return new Set(endings.map(({ sendId }) => sendId));
    },
  };

  async function ask(caller: Caller, source: string): Promise<Loose> {
    const { db, outbox } = world.accounts.services;
    const sendsQuery = new SendsQueryService({ db });
    const heldSends = new HeldSendsService({ outbox, clock: world.clock, sendsQuery, results });
    const schema = schemaOver([new SendsResolver({ sendsQuery }), new SendsMutationResolver({ heldSends })]);
    const contextValue = { caller, loaders: new Loaders(), hasTeam: async () => true };
    const { data, errors } = await graphql({ schema, source, contextValue });
    const failed = errors?.map(({ message }) => message);
    return failed ? { failed } : JSON.parse(JSON.stringify(data));
  }

  it('pages sends newest first, with their steps by one statement, and counts them', async () => {
    const { caller, teamId, ...as } = await world.account();
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      world.clock.advance(1);
      ids.unshift(await world.taken('/sms', { as, body: { n } }));
    }
    await deliver(teamId, ids[0] ?? '');
    const fields = 'nodes { id messageId state outcomeCode productCost steps { kind at } }';
    const { sends } = await ask(
      caller,
      `{ sends(first: 3) { totalCount pageInfo { hasNextPage endCursor } ${fields} } }`,
    );
    expect(sends.totalCount).toBe(5);
    expect(each(sends.nodes, 'messageId')).toEqual(ids.slice(0, 3));
    expect(sends.nodes[0]).toMatchObject({
      ...{ id: ids[0], state: 'FINISHED', outcomeCode: 0, productCost: '0.0079' },
    });
    const kinds = each(sends.nodes[0].steps, 'kind');
    expect(kinds.filter((kind) => kind === 'RESULT')).toHaveLength(1);
    expect(kinds).toHaveLength(8);
    const after = sends.pageInfo.endCursor as string;
    const rest = await ask(
      caller,
      `{ sends(first: 3, after: "${after}") { pageInfo { hasNextPage } nodes { id } } }`,
    );
    expect(each(rest.sends.nodes, 'id')).toEqual(ids.slice(3));
    expect(rest.sends.pageInfo.hasNextPage).toBe(false);
  });

  it('filters by everything that a console asks for', async () => {
    const { caller, teamId, ...as } = await world.account();
    const fromMs = world.clock.nowMs();
    const sms = await world.taken('/sms', { as, body: { foreign_id: 'f' } });
    world.clock.advance(10);
    const rvm = await world.taken('/rvm', { as, body: {} });
    await deliver(teamId, sms);
    const iso = (ms: number) => `"${new Date(ms).toISOString()}"`;
    const found = async (filter: string): Promise<unknown> => {
      const answer = await ask(caller, `{ sends(first: 9, filter: {${filter}}) { nodes { id } } }`);
      return answer.failed ?? each(answer.sends.nodes, 'id');
    };
    expect(await found('')).toEqual([rvm, sms]);
    expect(await found(`messageId: "${sms}"`)).toEqual([sms]);
    expect(await found('foreignId: "f"')).toEqual([sms]);
    expect(await found('state: QUEUED')).toEqual([rvm]);
    expect(await found('channel: SMS')).toEqual([sms]);
    expect(await found('channel: VOICE_BROADCAST')).toEqual([]);
    expect(await found('outcomeCode: 0')).toEqual([sms]);
    expect(await found('phoneNumber: "+15550020001"')).toEqual([sms]);
    expect(await found(`contactId: "${NOBODY}"`)).toEqual([]);
    expect(await found(`from: ${iso(fromMs)}, to: ${iso(fromMs + 10)}`)).toEqual([sms]);
    expect(await found(`from: ${iso(fromMs + 10)}`)).toEqual([rvm]);
    expect(await found('messageId: "x"')).toEqual([expect.stringContaining('UUID')]);
  });

  it('shows sends of the channels whose scope is held, and one by either of its names', async () => {
    const { caller, ownerId, teamId, ...as } = await world.account();
    const id = await world.taken('/rvm', { as, body: {} });
    expect((await ask(caller, `{ send(id: "${id}") { channel } }`)).send).toEqual({ channel: 'RVM' });
    expect((await ask(caller, `{ send(messageId: "${id}") { id } }`)).send).toEqual({ id });
    expect((await ask(caller, '{ send { id } }')).failed).toHaveLength(1);
    const texts = callerOf({ teamId, ownerId }, ['sms:send']);
    expect((await ask(texts, '{ sends(first: 9) { nodes { id } } }')).sends.nodes).toEqual([]);
    expect((await ask(texts, `{ send(id: "${id}") { id } }`)).failed).toEqual([
      expect.stringContaining('rvm:send'),
    ]);
    const nobody = callerOf({ teamId, ownerId }, ['contacts:read']);
    expect((await ask(nobody, '{ sends(first: 9) { nodes { id } } }')).failed).toHaveLength(1);
  });

  it('lets operators have a held send looked at now, or end it, once', async () => {
    const { caller, teamId, ...as } = await world.account();
    const operator = { ...caller, operator: true };
    const { db } = world.database;
    const sendId = await world.taken('/rvm', { as, body: {} });
    const change = (of: Caller, name: string) =>
      ask(
        of,
        `mutation { ${name}(input: {id: "${sendId}"}) { send { state reason heldUntil } userErrors { code } } }`,
      );
    expect((await change(operator, 'retryHeldSend')).failed).toEqual([expect.stringContaining('not held')]);
    await holdFor({ teamId, sendId });
    expect((await change(caller, 'retryHeldSend')).failed).toEqual([expect.stringContaining('operators')]);
    await db.query('update outbox set available_at = $2 where key = $1', [sendId, new Date(9e12)]);
    const retried = await change(operator, 'retryHeldSend');
    const heldUntil = new Date(world.clock.nowMs()).toISOString();
    expect(retried.retryHeldSend.send).toEqual({ state: 'HELD', reason: null, heldUntil });
    const due = await db.query<{ available_at: Date }>('select available_at from outbox where key = $1', [
      sendId,
    ]);
    expect(due.rows.map((row) => row.available_at.getTime())).toEqual([world.clock.nowMs()]);
    const cancelled = await change(operator, 'cancelHeldSend');
    expect(cancelled.cancelHeldSend.send).toMatchObject({ state: 'FINISHED', reason: 'cancelled' });
    expect(ended).toEqual([expect.objectContaining({ teamId, sendId, from: ['held'] })]);
    expect((await db.query('select 1 from outbox where key = $1', [sendId])).rows).toEqual([]);
    expect((await change(operator, 'cancelHeldSend')).failed).toEqual([expect.stringContaining('not held')]);
  });
});
