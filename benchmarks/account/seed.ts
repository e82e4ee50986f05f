/** A million contacts on one list, and a few hundred with all that surrounds them. */
import { randomUUID } from 'node:crypto';

import type { Account, Stage } from './stage.ts';
import { SEEDED_AREAS } from './numbers.ts';

export const MILLION = 1_000_000;
/** Contacts of the account whose surroundings are asked for by GraphQL. */
const CONSOLE_CONTACTS = 500;

export const FIRST_NAMES = [
  ...['Ada', 'Alan', 'Barbara', 'Claude', 'Dennis', 'Edsger', 'Frances', 'Grace', 'Hedy', 'Ivan', 'Joan'],
  ...['Katherine', 'Leslie', 'Margaret', 'Niklaus', 'Ole', 'Peter', 'Radia', 'Sophie', 'Tim'],
];
const LAST_NAME_STEMS = ['Ash', 'Beck', 'Clay', 'Dale', 'Elm', 'Ford', 'Glen', 'Hill', 'Isle', 'Kirk'];
const LAST_NAME_ENDS = ['by', 'combe', 'field', 'ham', 'ley', 'mere', 'stone', 'ton', 'wick', 'worth'];

/** 100 of them, each the name of one contact in a hundred. */
export const LAST_NAMES = LAST_NAME_STEMS.flatMap((stem) => LAST_NAME_ENDS.map((end) => stem + end));

/**
 * Numbers, names and times of the n-th contact follow from n. One statement in one transaction; the tables' indexes are
 * made anew behind it and its triggers stay asleep, or it would take most of the run.
 */
const CONTACTS_SQL = `
insert into contacts (id, team_id, first_name, last_name, email, phone_number, phone_numbers, company, city, region,
                      created_by, created_at, updated_at)
select gen_random_uuid(), $1, ($3::text[])[1 + n % cardinality($3::text[])],
       ($4::text[])[1 + (n / 7) % cardinality($4::text[])], 'contact' || n || '@example.com', p.number, array[p.number],
       'Example ' || n % 5000 || ' Ltd', 'Springfield', 'US', $2, at, at
from generate_series(0, $6::int - 1) n,
     lateral (select '+1' || ($5::text[])[1 + n / 10000] || '555' || lpad((n % 10000)::text, 4, '0') as number,
                     now() - (n || ' seconds')::interval as at) p`;

interface IndexRow {
  name: string;
  definition: string;
}

export interface Million {
  readonly account: Account;
  readonly listId: string;
  readonly count: number;
}

export async function seedMillion({ sql }: Stage, account: Account, count: number): Promise<Million> {
  const { teamId, ownerId } = account;
  const listId = randomUUID();
  await sql.query(`set maintenance_work_mem = '512MB'; set synchronous_commit = off`);
  const { rows: indexes } = await sql.query<IndexRow>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i where i.indrelid = any($1::regclass[]) and not i.indisprimary`,
    [['contacts', 'contact_list_members']],
  );
  await sql.query('begin');
  await sql.query('set local session_replication_role = replica');
  for (const { name } of indexes) await sql.query(`drop index ${name}`);
  await sql.query(CONTACTS_SQL, [teamId, ownerId, FIRST_NAMES, LAST_NAMES, SEEDED_AREAS, count]);
  await sql.query(
    `insert into contact_lists (id, team_id, name, created_by, contact_count) values ($1, $2, 'Everybody', $3, $4)`,
    [listId, teamId, ownerId, count],
  );
  await sql.query(
    `insert into contact_list_members (list_id, contact_id, team_id)
     select $1, id, team_id from contacts where team_id = $2 order by id`,
    [listId, teamId],
  );
  await sql.query(
    `insert into contact_totals as t (team_id, contacts) values ($1, $2)
     on conflict (team_id) do update set contacts = t.contacts + excluded.contacts`,
    [teamId, count],
  );
  for (const { definition } of indexes) await sql.query(definition);
  await sql.query('commit');
  await sql.query('vacuum analyze contacts, contact_list_members, contact_lists, contact_totals');
  return { account, listId, count };
}

/** Contacts each with 3 tags, 4 notes and 2 lists, in an account of their own: what a console shows of a page. */
export async function seedConsole({ sql }: Stage, { teamId, ownerId }: Account): Promise<void> {
  const many = (text: string) => sql.query(text, [teamId, ownerId]);
  await many(
    `insert into contacts (id, team_id, first_name, last_name, email, company, created_by, created_at)
     select gen_random_uuid(), $1, 'Ada', 'Number ' || n, 'console' || n || '@example.com', 'Example Ltd', $2,
            now() - (n || ' seconds')::interval from generate_series(1, ${CONSOLE_CONTACTS}) n`,
  );
  await many(
    `insert into tags (id, team_id, label, color, text_color, created_by)
     select gen_random_uuid(), $1, 'Tag ' || n, '#336699', '#fff', $2 from generate_series(1, 20) n`,
  );
  await many(
    `insert into contact_tags (contact_id, tag_id, team_id, tagged_by)
     select c.id, t.id, $1, $2 from contacts c
     cross join lateral (select id from tags where team_id = $1 order by md5(id::text || c.id::text) limit 3) t
     where c.team_id = $1`,
  );
  await many(
    `insert into contact_notes (id, team_id, contact_id, user_id, note, note_text, created_by)
     select gen_random_uuid(), $1, c.id, $2, '<p>Called, will call again.</p>', 'Called, will call again.', $2
     from contacts c cross join generate_series(1, 4) where c.team_id = $1`,
  );
  await many(
    `insert into contact_lists (id, team_id, name, created_by)
     select gen_random_uuid(), $1, 'List ' || n, $2 from generate_series(1, 10) n`,
  );
  await sql.query(
    `insert into contact_list_members (list_id, contact_id, team_id)
     select l.id, c.id, $1 from contacts c
     cross join lateral (select id from contact_lists where team_id = $1 order by md5(id::text || c.id::text) limit 2) l
     where c.team_id = $1`,
    [teamId],
  );
  await sql.query(
    'vacuum analyze contacts, tags, contact_tags, contact_notes, contact_lists, contact_list_members',
  );
}
