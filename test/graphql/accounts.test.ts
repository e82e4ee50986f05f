import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { ask } from './_client.ts';

let db: TestDb;
let api: TestApi;
let account: TestAccount;
let other: TestAccount;
let operator: TestAccount;

beforeAll(async () => {
  db = await testDb();
  api = await startApi(db);
  account = await api.account({ name: 'Example Ltd', funds: 25 });
  other = await api.account({ name: 'Other Ltd' });
  operator = await api.account({ name: 'Operator', operator: true });
});

afterAll(async () => {
  await api.close();
  await db.drop();
});

describe('accounts over GraphQL', () => {
  it('tells a caller who it is, its account, its money and its keys in one request', async () => {
    const answer = await ask(
      api,
      `{ me { kind scopes operator team { id name plan createdAt } user { displayName role } }
         balance { balance reserved available }
         ledger(first: 5) { totalCount nodes { kind amount causeType } }
         detectionKeys(first: 5) { nodes { id name keyHint status expiresAt } pageInfo { hasNextPage } } }`,
      { as: account },
    );
    expect(answer.errors).toBeUndefined();
    expect(answer.data.me).toMatchObject({ kind: 'API_KEY', operator: false, user: { role: 'OWNER' } });
    expect(answer.data.me.team).toMatchObject({ id: account.teamId, name: 'Example Ltd', plan: 'ACTIVE' });
    expect(answer.data.me.team.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(answer.data.me.scopes).toContain('CONTACTS_READ');
    expect(answer.data.balance).toEqual({ balance: '25.00', reserved: '0.00', available: '25.00' });
    expect(answer.data.ledger).toEqual({
      totalCount: 1,
      nodes: [{ kind: 'FUNDS_ADDED', amount: '25.00', causeType: 'account_created' }],
    });
    expect(answer.data.detectionKeys.nodes).toHaveLength(1);
    expect(answer.data.detectionKeys.nodes[0].status).toBe('ACTIVE');
    expect(answer.extensions.cost.available).toBe(5000);
  });

  it('shows operators every account, and everyone else only their own', async () => {
    const all = await ask(api, '{ teams(first: 10) { nodes { name balance { balance } } totalCount } }', {
      as: operator,
    });
    expect(all.data.teams.totalCount).toBe(3);
    expect(all.data.teams.nodes).toMatchObject([
      { name: 'Operator', balance: { balance: '100.00' } },
      { name: 'Other Ltd', balance: { balance: '100.00' } },
      { name: 'Example Ltd', balance: { balance: '25.00' } },
    ]);
    const foreign = `{ team(id: "${other.teamId}") { name } }`;
    expect((await ask(api, foreign, { as: operator })).data.team.name).toBe('Other Ltd');
    expect((await ask(api, foreign, { as: account })).code).toBe('NOT_FOUND');
    expect((await ask(api, '{ teams(first: 10) { nodes { name } } }', { as: account })).code).toBe(
      'FORBIDDEN',
    );
    const balance = `{ balance(teamId: "${other.teamId}") { balance } }`;
    expect((await ask(api, balance, { as: account })).code).toBe('NOT_FOUND');
    expect((await ask(api, balance, { as: operator })).data.balance.balance).toBe('100.00');
  });
});
