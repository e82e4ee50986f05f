import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { ask, countStatements } from './_client.ts';

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

const refused = async (query: string, variables?: Record<string, unknown>) => {
  const statements = await countStatements(api, async () => {
    const answer = await ask(api, query, { as: account, ...(variables ? { variables } : {}) });
    expect(answer.errors).toHaveLength(1);
    expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.errors?.[0].extensions.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });
  // Nothing is asked of the database for it, not even who calls.
  expect(statements).toBe(0);
};

describe('hostile documents', () => {
  it('nest deeper than 8', () =>
    refused(
      '{ me { team { users { id } } } contacts(first: 1) { edges { node { lists { id } } } } }'.replace(
        'lists { id }',
        'followUps(first: 1) { edges { node { contact { followUps(first: 1) { nodes { id } } } } } }',
      ),
    ));

  it('nest hundreds of levels', () => refused(`{ me ${'{ team '.repeat(200)} ${'}'.repeat(200)} }`));

  it('have 16 aliases', () =>
    refused(`{ ${Array.from({ length: 16 }, (_none, n) => `a${n}: outcomeCodes { code }`).join(' ')} }`));

  it('have more than 1,000 tokens', () => refused(`{ me { ${'kind '.repeat(1_001)} } }`));

  it('repeat a field to make merging slow', () => refused(`{ me { ${'kind '.repeat(900)} } }`));

  it('spread fragments in a circle', () =>
    refused('{ me { ...A } } fragment A on Me { ...B } fragment B on Me { ...A }'));

  it('spread fragments that explode', () => {
    const fragments = Array.from({ length: 40 }, (_none, n) => {
      const next = n === 39 ? 'kind' : `...F${n + 1} ...F${n + 1}`;
      return `fragment F${n} on Me { ${next} }`;
    });
    return refused(`{ me { ...F0 } } ${fragments.join(' ')}`);
  });

  it('spread fragments they do not have', () => refused('{ me { ...Gone } }'));

  it('cost more than 5,000', () =>
    refused('{ contacts(first: 100) { nodes { notes(first: 100) { nodes { id } } } } }'));

  it('cost more than 5,000 by a variable', () =>
    refused('query ($n: Int!) { contacts(first: $n) { nodes { notes(first: $n) { nodes { id } } } } }', {
      n: 90,
    }));

  it('hold NUL in a text', () =>
    refused('mutation { createTag(input: {label: "a\\u0000b"}) { tag { id } } }'));

  it('do not parse', () => refused('{ me { '));

  it('subscribe without a socket', () => refused('subscription { systemHealth { versions } }'));
});

describe('costs', () => {
  it('are told with every answer', async () => {
    const answer = await ask(api, '{ contacts(first: 10) { nodes { id tags { label } } totalCount } }', {
      as: account,
    });
    // The connection, ten contacts with ten tags assumed on each, and the count.
    expect(answer.extensions.cost).toEqual({ requested: 1 + 10 * (1 + 10) + 10, available: 5_000 });
  });

  it('are told when they are refused', async () => {
    const query = '{ contacts(first: 100) { nodes { timeline(first: 100) { nodes { id } } } } }';
    const answer = await ask(api, query, { as: account });
    expect(answer.extensions.cost).toEqual({ requested: 1 + 100 * (1 + 1 + 100), available: 5_000 });
  });

  it('allow the console to ask for depth 8', async () => {
    const query =
      '{ contacts(first: 2) { edges { node { followUps(first: 2) { edges { node { contact { id } } } } } } } }';
    expect((await ask(api, query, { as: account })).errors).toBeUndefined();
  });
});

describe('requests that are no queries', () => {
  it('of 10 MB are refused by their length, before they are read', async () => {
    const answer = await new Promise<{ status: number; body: string }>((resolve, reject) => {
      const { hostname, port } = new URL(api.url);
      const sent = request({
        ...{ hostname, port, path: '/graphql', method: 'POST' },
        headers: { 'content-type': 'application/json', 'content-length': 10_000_000 },
      });
      sent.on('response', (response) => {
        let body = '';
        response.on('data', (part: Buffer) => (body += part.toString()));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body });
          sent.destroy();
        });
      });
      sent.on('error', reject);
      sent.write('{"query":"');
    });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body).errors[0].extensions).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      status: 413,
    });
  });

  it('of more than 100 kB are refused', async () => {
    const answer = await ask(api, `{ me { kind } } # ${'x'.repeat(100_000)}`, { as: account });
    expect([answer.status, answer.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('in batches are refused', async () => {
    const body = [{ query: '{ me { kind } }' }, { query: '{ me { kind } }' }];
    const answer = await api.request('POST', '/graphql', { as: account, body });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].extensions.code).toBe('VALIDATION_ERROR');
  });

  it('could be forged by a page of another origin: a plain form is refused', async () => {
    const answer = await api.request('POST', '/graphql', {
      as: account,
      body: '{"query":"{ me { kind } }"}',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(415);
    expect(answer.body.errors[0].extensions.code).toBe('UNSUPPORTED_MEDIA_TYPE');
  });

  it('change something by GET are refused; queries by GET need a header that no form sends', async () => {
    const path = (query: string): string => `/graphql?query=${encodeURIComponent(query)}`;
    const query = path('{ me { kind } }');
    const asked = { as: account, headers: { 'apollo-require-preflight': '1' } };
    expect((await api.request('GET', query, asked)).body.data.me.kind).toBe('API_KEY');
    expect((await api.request('GET', query, { as: account })).status).toBe(400);
    const mutation = await api.request(
      'GET',
      path('mutation { createTag(input: {label: "A"}) { tag { id } } }'),
      asked,
    );
    expect(mutation.status).toBe(405);
    expect(mutation.body.errors[0].extensions.code).toBe('METHOD_NOT_ALLOWED');
  });

  it('have variables of the wrong type, which are told as such', async () => {
    const answer = await ask(api, 'query ($n: Int!) { contacts(first: $n) { nodes { id } } }', {
      as: account,
      variables: { n: 'many' },
    });
    expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('production', () => {
  let production: TestApi;
  let user: TestAccount;
  let operator: TestAccount;

  beforeAll(async () => {
    production = await startApi(db, { env: { NODE_ENV: 'production' } });
    user = await production.account();
    operator = await production.account({ operator: true });
  });

  afterAll(() => production.close());

  it('tells its schema to operators only', async () => {
    const query = '{ __schema { queryType { name } } }';
    expect((await ask(production, query, { as: user })).code).toBe('FORBIDDEN');
    expect((await ask(production, query, { as: operator })).data.__schema.queryType.name).toBe('Query');
    expect((await ask(api, query, { as: account })).data.__schema.queryType.name).toBe('Query');
  });

  it('suggests no names', async () => {
    const query = '{ me { kin } }';
    expect((await ask(production, query, { as: operator })).errors?.[0].message).not.toMatch(/Did you mean/);
    expect((await ask(api, query, { as: account })).errors?.[0].message).toMatch(/Did you mean/);
  });
});
