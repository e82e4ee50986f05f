import type { Db, Tx } from '../../platform/db/index.ts';

export interface TextMessage {
  readonly messageId: string;
  readonly contactId: string | null;
  readonly direction: 'inbound' | 'outbound';
  /** The contact's number. */
  readonly phoneNumber: string;
  readonly ownNumber: string | null;
  readonly phoneLineId: string | null;
  readonly body: string;
  readonly mediaUrls: readonly string[];
  readonly createdBy: string | null;
  readonly createdAtMs: number;
}

export type NewTextMessage = TextMessage & {
  readonly teamId: string;
  readonly sendId: string | null;
  readonly carrierId: string | null;
  readonly carrierMessageId: string | null;
};

export interface TakenText {
  readonly messageId: string;
  readonly contactId: string;
  readonly phoneNumber: string;
  readonly ownNumber: string | null;
  readonly isDelivered: boolean;
}

const INSERT_SQL = `
insert into text_messages (id, team_id, contact_id, direction, phone_number, own_number, phone_line_id, body, media_urls,
  send_id, carrier_id, carrier_message_id, created_by, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
on conflict do nothing`;

/**
 * Texts of sends that went to a carrier, or to a simulated number, put into their threads; a reply is there already. Bodies
 * of version 1 have a name of their own. The contact stays until the transaction ends, or is gone and has no thread.
 */
const TAKE_SENDS_SQL = `
with texts as (
  select s.id, s.team_id, s.contact_id, s.phone_number, s.caller_id, s.phone_line_id, s.request, s.created_by,
    s.created_at, s.outcome_code
  from sends s join contacts c on c.team_id = s.team_id and c.id = s.contact_id
  where s.team_id = $1 and s.id = any($2::uuid[]) and s.channel = 'sms' and s.phone_number is not null
    and (s.attempt > 0 or s.outcome_code = 0)
  for key share of c
), taken as (
  insert into text_messages (id, team_id, contact_id, direction, phone_number, own_number, phone_line_id, body, media_urls,
    send_id, created_by, created_at)
  select t.id, t.team_id, t.contact_id, 'outbound', t.phone_number, t.caller_id, t.phone_line_id,
    coalesce(t.request ->> 'body', t.request ->> 'sms_body', ''),
    case when jsonb_typeof(t.request -> 'media_urls') = 'array'
      then array(select jsonb_array_elements_text(t.request -> 'media_urls')) else '{}' end,
    t.id, t.created_by, t.created_at
  from texts t
  on conflict (id) do update set own_number = excluded.own_number, phone_line_id = excluded.phone_line_id
)
select id, contact_id, phone_number, caller_id, outcome_code = 0 as delivered from texts order by id`;

/** A contact has a number as its first or as another one; the first wins, then the oldest contact. */
const CONTACT_OF_NUMBER_SQL = `
select id from contacts where team_id = $1 and (phone_number = $2 or phone_numbers @> array[$2])
order by (phone_number = $2) desc nulls last, created_at, id limit 1 for key share`;

/** Where a reply goes: the number the contact wrote from last, while it is the contact's, and the text line it wrote to. */
const REPLY_TO_SQL = `
select c.phone_number as main, last.phone_number as last, last.phone_line_id
from contacts c left join lateral (
  select m.phone_number, l.id as phone_line_id from text_messages m
  left join phone_lines l on l.team_id = m.team_id and l.id = m.phone_line_id and l.type = 'sms'
  where m.team_id = c.team_id and m.contact_id = c.id and m.direction = 'inbound'
    and m.phone_number = any(c.phone_numbers)
  order by m.created_at desc, m.id desc limit 1) last on true
where c.team_id = $1 and c.id = $2`;

/** The statements on text_messages, and what they need of contacts and lines. */
export class TextsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** False: the text is there already (its id, or inbound its carrier's). */
  async insert(tx: Pick<Db, 'query'>, text: NewTextMessage): Promise<boolean> {
    const { rowCount } = await tx.query(INSERT_SQL, [
      ...[text.messageId, text.teamId, text.contactId, text.direction, text.phoneNumber, text.ownNumber],
      ...[text.phoneLineId, text.body, text.mediaUrls, text.sendId, text.carrierId, text.carrierMessageId],
      ...[text.createdBy, new Date(text.createdAtMs)],
    ]);
    return rowCount === 1;
  }

  /** Those of an account's sends that are texts which left the house; what it put into threads. */
  async takeSends(tx: Tx, teamId: string, sendIds: readonly string[]): Promise<TakenText[]> {
    const { rows } = await tx.query<{
      id: string;
      contact_id: string;
      phone_number: string;
      caller_id: string | null;
      delivered: boolean;
    }>(TAKE_SENDS_SQL, [teamId, sendIds]);
    return rows.map((row) => ({
      ...{ messageId: row.id, contactId: row.contact_id, phoneNumber: row.phone_number },
      ...{ ownNumber: row.caller_id, isDelivered: row.delivered },
    }));
  }

  /** Newest first. */
  async list(
    teamId: string,
    contactId: string,
    page: { limit: number; skip: number },
  ): Promise<TextMessage[]> {
    const { rows } = await this.#db.query<StoredText>(
      `select id, contact_id, direction, phone_number, own_number, phone_line_id, body, media_urls, created_by, created_at
       from text_messages where team_id = $1 and contact_id = $2
       order by created_at desc, id desc limit $3 offset $4`,
      [teamId, contactId, page.limit, page.skip],
    );
    return rows.map(textOf);
  }

  async hasContact(teamId: string, contactId: string): Promise<boolean> {
    const { rowCount } = await this.#db.query('select 1 from contacts where team_id = $1 and id = $2', [
      ...[teamId, contactId],
    ]);
    return rowCount === 1;
  }

  /** The contact with a number, which stays until a transaction ends; null: none. */
  async contactOf(of: Pick<Db, 'query'>, teamId: string, phoneNumber: string): Promise<string | null> {
    const { rows } = await of.query<{ id: string }>(CONTACT_OF_NUMBER_SQL, [teamId, phoneNumber]);
    return rows[0]?.id ?? null;
  }

  /** The line of one of the account's own numbers. */
  async lineOf(tx: Tx, teamId: string, ownNumber: string): Promise<string | null> {
    const { rows } = await tx.query<{ phone_line_id: string | null }>(
      'select phone_line_id from phone_numbers where team_id = $1 and phone_number = $2',
      [teamId, ownNumber],
    );
    return rows[0]?.phone_line_id ?? null;
  }

  /** Null: the account has no such contact. */
  async replyTo(
    teamId: string,
    contactId: string,
  ): Promise<{ main: string | null; last: string | null; phoneLineId: string | null } | null> {
    const { rows } = await this.#db.query<{
      main: string | null;
      last: string | null;
      phone_line_id: string | null;
    }>(REPLY_TO_SQL, [teamId, contactId]);
    const [row] = rows;
    return row ? { main: row.main, last: row.last, phoneLineId: row.phone_line_id } : null;
  }
}

interface StoredText {
  id: string;
  contact_id: string | null;
  direction: 'inbound' | 'outbound';
  phone_number: string;
  own_number: string | null;
  phone_line_id: string | null;
  body: string;
  media_urls: string[];
  created_by: string | null;
  created_at: Date;
}

const textOf = (row: StoredText): TextMessage => ({
  ...{ messageId: row.id, contactId: row.contact_id, direction: row.direction },
  ...{ phoneNumber: row.phone_number, ownNumber: row.own_number, phoneLineId: row.phone_line_id },
  ...{ body: row.body, mediaUrls: row.media_urls, createdBy: row.created_by },
  createdAtMs: row.created_at.getTime(),
});
