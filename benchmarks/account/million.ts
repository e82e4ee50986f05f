/** A list of a million contacts: pages by cursor at any depth, searches by phone, email and name. */
import { quantile, sequence, type Client, type Request } from './load.ts';
import { SEEDED_AREAS } from './numbers.ts';
import { FIRST_NAMES, LAST_NAMES, type Million } from './seed.ts';
import type { Stage } from './stage.ts';

const PAGE = 100;
/** Requests before those that count: connections, plans and caches. */
const WARM_UP = 20;

export interface TimesFigure {
  readonly what: string;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Depth {
  readonly name: string;
  /** Share of the list before the page. */
  readonly from: number;
  readonly to: number;
}

const DEPTHS: readonly Depth[] = [
  { name: 'start', from: 0, to: 0.01 },
  { name: 'middle', from: 0.495, to: 0.505 },
  { name: 'end', from: 0.98, to: 0.9985 },
];

const figure = (what: string, times: readonly number[]): TimesFigure => ({
  ...{ what, count: times.length },
  ...{ p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) },
});

const listOf = (text: string): unknown[] => {
  const { data } = JSON.parse(text) as { data: unknown[] | { contacts: unknown[] } };
  return Array.isArray(data) ? data : data.contacts;
};

export async function measurePages(
  { sql }: Stage,
  client: Client,
  of: { million: Million; count: number },
): Promise<TimesFigure[]> {
  const { account, listId, count: contacts } = of.million;
  const { headers } = account;
  const random = sequence(1);
  const figures: TimesFigure[] = [];
  for (const { name, from, to } of DEPTHS) {
    const { rows } = await sql.query<{ contact_id: string }>(
      `select contact_id from contact_list_members where list_id = $1 order by contact_id
       offset $2 limit $3`,
      [listId, Math.floor(from * contacts), Math.floor((to - from) * contacts)],
    );
    const requests = Array.from({ length: WARM_UP + of.count }, (): Request => {
      const after = rows[Math.floor(random() * rows.length)]?.contact_id ?? '';
      const path = `/contact/public/lists/${listId}/contacts?limit=${PAGE}&after_id=${after}`;
      return { method: 'GET', path, headers };
    });
    const times = await client.times(requests, ({ body }) => listOf(body).length === PAGE);
    figures.push(figure(`page of ${PAGE} by cursor, ${name}`, times.slice(WARM_UP)));
  }
  return figures;
}

export async function measureSearches(
  client: Client,
  of: { million: Million; count: number },
): Promise<TimesFigure[]> {
  const { headers } = of.million.account;
  const random = sequence(2);
  const any = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const n = (): number => Math.floor(random() * of.million.count);
  const phone = (): string => {
    const contact = n();
    const line = String(contact % 10_000).padStart(4, '0');
    return `+1${SEEDED_AREAS[Math.floor(contact / 10_000)]}555${line}`;
  };
  const email = (): string => `contact${n()}@example.com`;
  const search = (name: string, value: string): string =>
    `/contact/public/contacts/search?${name}=${encodeURIComponent(value)}`;
  const term = (value: string): string =>
    `/contact/public/contacts?limit=25&search_term=${encodeURIComponent(value)}`;
  const kinds: Record<string, { path: () => string; least: number }> = {
    'by phone': { path: () => search('phone', phone()), least: 1 },
    'by email': { path: () => search('email', email()), least: 1 },
    'by a part of a phone number': { path: () => term(phone().slice(2)), least: 1 },
    'by a part of an email': { path: () => term(email().split('@')[0] ?? ''), least: 1 },
    'by last name (one contact in a hundred)': { path: () => term(any(LAST_NAMES)), least: 25 },
    'by first and last name': { path: () => term(`${any(FIRST_NAMES)} ${any(LAST_NAMES)}`), least: 0 },
    'by a part of a name': { path: () => term(any(LAST_NAMES).slice(1)), least: 25 },
    'by first name (one contact in twenty)': { path: () => term(any(FIRST_NAMES)), least: 25 },
    'by a name nobody has': { path: () => term(`${any(LAST_NAMES)}xq`), least: 0 },
  };
  const figures: TimesFigure[] = [];
  for (const [name, { path, least }] of Object.entries(kinds)) {
    const requests = Array.from({ length: WARM_UP + of.count }, (): Request => ({
      method: 'GET',
      path: path(),
      headers,
    }));
    const times = await client.times(requests, ({ body }) => listOf(body).length >= least);
    figures.push(figure(`search ${name}`, times.slice(WARM_UP)));
  }
  return figures;
}
