/** What a console asks for in one page, beside the same resolvers written without batches. */
import { Client, json, type Request } from './load.ts';
import { compare, type Comparison, type Pace } from './compare.ts';
import type { Account, Server, Stage } from './stage.ts';

const FIRST = 25;

/** Contacts, each with its tags, its lists and its newest notes. Both servers take it word for word. */
const QUERY = `query Console($first: Int!) {
  contacts(first: $first) {
    edges { node {
      id firstName lastName email company createdAt
      tags { tagId label color taggedAt }
      lists { id name contactCount }
      notes(first: 3) { edges { node { id noteText createdBy createdAt } } }
    } }
    pageInfo { hasNextPage endCursor }
  }
}`;

interface Answered {
  data: {
    contacts: {
      edges: {
        node: { tags: { label: string }[]; lists: { name: string }[]; notes: { edges: unknown[] } };
      }[];
    };
  };
}

export async function measureConsole(
  { service }: Stage,
  of: { account: Account; naive: Server; pace: Pace },
): Promise<Comparison[]> {
  const request = (headers: Readonly<Record<string, string>>): Request => ({
    ...{ method: 'POST', path: '/graphql' },
    ...json(headers, { query: QUERY, variables: { first: FIRST } }),
  });
  const ours = { server: service, request: request(of.account.headers) };
  const peer = { server: of.naive, request: { ...request({ 'x-team': of.account.teamId }), path: '/' } };
  const [own, naive] = [await shown(ours), await shown(peer)];
  if (own !== naive) throw new Error(`the servers do not answer the same: ${own} and ${naive}`);
  const side = (from: typeof ours) => ({
    ...{ server: from.server, next: () => from.request },
    check: ({ body }: { body: string }) => body.includes('"noteText"') && !body.includes('"errors"'),
  });
  const title = `${FIRST} contacts → tags, lists, notes`;
  return [await compare(title, { ours: side(ours), peer: side(peer) }, of.pace)];
}

/** What a server answered, in short: so many contacts, each with all that surrounds it. */
async function shown({ server, request }: { server: Server; request: Request }): Promise<string> {
  const client = new Client(server.url, 1);
  try {
    const { data } = await client.json<Answered>(request);
    return data.contacts.edges
      .map(({ node }) => {
        const labels = node.tags.map(({ label }) => label).sort();
        const names = node.lists.map(({ name }) => name).sort();
        return `${labels.join()}|${names.join()}|${node.notes.edges.length}`;
      })
      .join(';');
  } finally {
    await client.close();
  }
}
