/** REST reads beside a bare Fastify route that runs the same single statement. */
import { compare, type Comparison, type Pace } from './compare.ts';
import { sequence, type Request } from './load.ts';
import type { Million } from './seed.ts';
import type { Server, Stage } from './stage.ts';

/** Contacts that are asked for in turn. */
const CONTACTS = 5_000;
const PAGE = 25;

export async function measureReads(
  stage: Stage,
  of: { million: Million; bare: Server; pace: Pace },
): Promise<Comparison[]> {
  const { service, sql } = stage;
  const { listId, account } = of.million;
  const { headers, teamId } = account;
  const { rows } = await sql.query<{ id: string }>('select id from contacts where team_id = $1 limit $2', [
    teamId,
    CONTACTS,
  ]);
  const random = sequence(3);
  const anyId = (): string => rows[Math.floor(random() * rows.length)]?.id ?? '';
  const get = (path: string): Request => ({ method: 'GET', path, headers });
  const one = (base: string) => () => get(`${base}/contacts/${anyId()}`);
  const page = (base: string) => () =>
    get(`${base}/lists/${listId}/contacts?limit=${PAGE}&after_id=${anyId()}`);
  const check = ({ body }: { body: string }): boolean => body.includes('"phone_number":"+1');
  const own = '/contact/public';
  const bare = `/bare/${teamId}`;
  const sides = (request: typeof one) => ({
    ours: { server: service, next: request(own), check },
    peer: { server: of.bare, next: request(bare), check },
  });
  return [
    await compare('one contact', sides(one), of.pace),
    await compare(`page of ${PAGE} contacts`, sides(page), of.pace),
  ];
}
