import { ApolloClient, gql, HttpLink, InMemoryCache, split } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { getMainDefinition } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { paramsOf } from './_live.ts';

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

/** As its documentation sets it up: queries over HTTP, subscriptions over a socket. */
function clientOf(as: TestAccount) {
  const sockets = createClient({
    url: `${api.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: paramsOf(as),
  });
  const link = split(
    ({ query }) => {
      const definition = getMainDefinition(query);
      return 'operation' in definition && definition.operation === OperationTypeNode.SUBSCRIPTION;
    },
    new GraphQLWsLink(sockets),
    new HttpLink({ uri: `${api.url}/graphql`, headers: paramsOf(as) }),
  );
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  return { client, close: () => sockets.dispose() };
}

describe('Apollo Client', () => {
  it('queries, pages, mutates, reads errors and subscribes', async () => {
    const { client, close } = clientOf(account);
    const made = await client.mutate<{ createTag: { tag: { id: string; label: string } } }>({
      mutation: gql`
        mutation ($input: CreateTagInput!) {
          createTag(input: $input) {
            tag {
              id
              label
            }
            userErrors {
              message
            }
          }
        }
      `,
      variables: { input: { label: 'Customer' } },
    });
    expect(made.data?.createTag.tag.label).toBe('Customer');
    const tags = await client.query<{ tags: { edges: { node: { label: string } }[]; totalCount: number } }>({
      query: gql`
        query ($first: Int!) {
          tags(first: $first) {
            totalCount
            edges {
              cursor
              node {
                id
                label
              }
            }
            pageInfo {
              endCursor
              hasNextPage
            }
          }
        }
      `,
      variables: { first: 10 },
    });
    expect(tags.data?.tags).toMatchObject({ totalCount: 1, edges: [{ node: { label: 'Customer' } }] });
    const missing = client.query({
      query: gql`
        {
          contact(id: "00000000-0000-4000-8000-000000000000") {
            id
          }
        }
      `,
    });
    const error: unknown = await missing.catch((cause: unknown) => cause);
    expect(CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions?.['code']).toBe('NOT_FOUND');
    const health = await new Promise<unknown>((resolve, reject) => {
      client
        .subscribe({
          query: gql`
            subscription {
              systemHealth {
                readiness {
                  ready
                }
              }
            }
          `,
        })
        .subscribe({ next: resolve, error: reject });
    });
    expect(health).toMatchObject({ data: { systemHealth: { readiness: { ready: true } } } });
    client.stop();
    await close();
  });
});
