import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { ask, countStatements } from './_client.ts';
import { insertSession } from './_world.ts';

let db: TestDb;
let api: TestApi;
let account: TestAccount;

beforeAll(async () => {
  db = await testDb();
  api = await startApi(db);
  account = await api.account();
});

afterAll(async () => {
  await api.close();
  await db.drop();
});

interface Listed {
  /** Selects the id of a node. */
  readonly id: string;
  /** Adds a row; it becomes the newest. */
  readonly add: (n: number) => Promise<unknown>;
}

const LISTS: Record<string, Listed> = {
  contacts: {
    id: 'id',
    add: (n) =>
      api.services.contactImport.create(account.caller, { named: { email: `contact-${n}@example.com` } }),
  },
  lists: { id: 'id', add: (n) => api.services.lists.create(account.caller, { name: `List ${n}` }) },
  tags: { id: 'id', add: (n) => api.services.tags.create(account.caller, { label: `Tag ${n}` }) },
  dnc: { id: 'id', add: (n) => api.services.dnc.add(account.caller, { email: `dnc-${n}@example.com` }) },
  apiKeys: { id: 'id', add: (n) => api.services.apiKeys.create(account.caller, { name: `Key ${n}` }) },
  ledger: { id: 'id', add: () => api.services.accounts.addFunds(account.teamId, 1_000_000n) },
  detectionSessions: {
    id: 'id',
    add: async () => {
      const { rows } = await db.db.query<{ id: string }>('select id from detection_keys limit 1');
      return insertSession(db.db, { teamId: account.teamId, keyId: rows[0]?.id ?? '' });
    },
  },
};

async function page(list: string, after: string | null) {
  const { id } = LISTS[list] as Listed;
  const query = `query ($after: String) { ${list}(first: 3, after: $after) {
    edges { cursor node { ${id} } } nodes { ${id} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  const { data, errors } = await ask(api, query, { as: account, variables: { after } });
  expect(errors).toBeUndefined();
  return data[list] as {
    edges: { cursor: string; node: { id: string } }[];
    nodes: { id: string }[];
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
  };
}

describe('connections', () => {
  for (const list of Object.keys(LISTS)) {
    it(`walks ${list} to the end, each row once, while rows are added`, async () => {
      const { add } = LISTS[list] as Listed;
      for (let n = 0; n < 7; n += 1) await add(n);
      const all = await ask(api, `{ ${list}(first: 100) { totalCount nodes { id } } }`, { as: account });
      const wanted = (all.data[list].nodes as { id: string }[]).map((node) => node.id);
      expect(all.data[list].totalCount).toBe(wanted.length);
      const seen: string[] = [];
      let after: string | null = null;
      for (let pages = 0; pages < 50; pages += 1) {
        const { edges, nodes, pageInfo } = await page(list, after);
        expect(edges.map((edge) => edge.node)).toEqual(nodes);
        expect(pageInfo.hasPreviousPage).toBe(after !== null);
        expect([edges[0]?.cursor, edges.at(-1)?.cursor]).toEqual([pageInfo.startCursor, pageInfo.endCursor]);
        seen.push(...nodes.map((node) => node.id));
        if (!pageInfo.hasNextPage) break;
        after = pageInfo.endCursor;
        // Newer than every page already read: no row moves for it.
        await add(100 + pages);
      }
      expect(seen).toEqual(wanted);
    });
  }

  it('goes on after a row that was deleted meanwhile', async () => {
    const first = await page('tags', null);
    const last = first.nodes.at(-1)?.id ?? '';
    await api.services.tags.remove(account.caller, last);
    const second = await page('tags', first.pageInfo.endCursor);
    expect(second.nodes).toHaveLength(3);
    expect(first.nodes.map(({ id }) => id)).not.toContain(second.nodes[0]?.id);
  });

  it('counts rows only when the total is asked for', async () => {
    const run = (selection: string) => () =>
      ask(api, `{ webhookDeliveries(first: 1) { ${selection} } }`, { as: account });
    const without = await countStatements(api, run('nodes { id }'));
    const with_ = await countStatements(api, run('nodes { id } totalCount'));
    expect(with_).toBe(without + 1);
  });

  it('needs first to be 1 to 100', async () => {
    for (const first of [0, -1, 101]) {
      const answer = await ask(api, `{ tags(first: ${first}) { nodes { id } } }`, { as: account });
      expect(answer.code).toBe('VALIDATION_ERROR');
    }
    expect((await ask(api, '{ tags { nodes { id } } }', { as: account })).code).toBe('VALIDATION_ERROR');
  });

  it('refuses cursors that are none of the list', async () => {
    for (const after of ['', 'x', 'W10', '!!', 'x'.repeat(600)]) {
      const query = `{ contacts(first: 1, after: "${after}") { nodes { id } } }`;
      expect((await ask(api, query, { as: account })).code).toBe('VALIDATION_ERROR');
    }
  });

  it('filters and searches contacts', async () => {
    const { services } = api;
    const { caller } = account;
    const made = await services.contactImport.create(caller, {
      named: { first_name: 'Grace', email: 'grace@example.com', phone_number: '+12025550199' },
    });
    const id = made.inserted[0] ?? '';
    const list = await services.lists.create(caller, { name: 'Filtered' });
    await services.lists.add(caller, list.listId, [id]);
    for (const args of [
      'search: "grac"',
      `filter: {listId: "${list.listId}"}`,
      'filter: {email: "GRACE@example.com"}',
      'filter: {phoneNumber: "+12025550199", dnc: false}',
    ]) {
      const query = `{ contacts(first: 5, ${args}) { totalCount nodes { id firstName } } }`;
      const { data, errors } = await ask(api, query, { as: account });
      expect(errors).toBeUndefined();
      expect([args, data.contacts]).toEqual([args, { totalCount: 1, nodes: [{ id, firstName: 'Grace' }] }]);
    }
  });
});
