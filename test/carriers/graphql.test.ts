import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, testDb } from '../_util/index.ts';
import type { TestApi, TestDb } from '../_util/index.ts';

describe('carriers in the admin', () => {
  let database: TestDb;
  let api: TestApi;

  beforeAll(async () => {
    database = await testDb();
    api = await startApi(database);
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  it('are connected with a rate, and show how they fare', async () => {
    const account = await api.account();
    const ask = async (query: string) => {
      const answer = await api.request('POST', '/graphql', { as: account, body: { query } });
      expect(answer.body.errors).toBeUndefined();
      return answer.data;
    };
    const made = await ask(
      `mutation { connectCarrier(input: {kind: SIMULATOR, name: "Load", ratePerSecond: 50, settings: {latencyMs: 5}}) {
         carrier { id ratePerSecond } userErrors { field } } }`,
    );
    expect(made.connectCarrier).toMatchObject({ carrier: { ratePerSecond: 50 }, userErrors: [] });
    const { id } = made.connectCarrier.carrier as { id: string };
    await database.db.query(
      `insert into carrier_health (carrier_id, process_id, team_id, circuit, requests, faults, last_fault, last_fault_at, updated_at)
       values ($1, gen_random_uuid(), $2, 'half_open', 30, 3, 'No connection: ECONNREFUSED.', '2026-03-01T12:00:00Z', now())`,
      [id, account.teamId],
    );
    const seen = await ask(
      `{ carriers(first: 5) { edges { node { id state ratePerSecond rate errorRate circuit lastFault lastFaultAt } } } }`,
    );
    expect(seen.carriers.edges).toEqual([
      {
        node: {
          ...{ id, state: 'ACTIVE', ratePerSecond: 50, rate: 0.5, errorRate: 0.1, circuit: 'HALF_OPEN' },
          ...{ lastFault: 'No connection: ECONNREFUSED.', lastFaultAt: '2026-03-01T12:00:00.000Z' },
        },
      },
    ]);
    const changed = await ask(
      `mutation { updateCarrier(input: {id: "${id}", ratePerSecond: 0}) { carrier { ratePerSecond rate } userErrors { field } } }`,
    );
    expect(changed.updateCarrier).toEqual({ carrier: { ratePerSecond: null, rate: 0.5 }, userErrors: [] });
    const wrong = await ask(
      `mutation { updateCarrier(input: {id: "${id}", ratePerSecond: -1}) { carrier { id } userErrors { field } } }`,
    );
    expect(wrong.updateCarrier).toEqual({ carrier: null, userErrors: [{ field: 'ratePerSecond' }] });
  });
});
