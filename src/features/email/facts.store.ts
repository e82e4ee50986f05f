import type { Tx } from '../../platform/db/index.ts';
import type { SendType } from './email.rules.ts';

/** Of what is asked about one email; addresses are in lower case. */
export interface FactsWish {
  readonly teamId: string;
  /** All of its addresses. */
  readonly addresses: readonly string[];
  readonly to: readonly string[];
  readonly brandId: string | null;
  readonly sendType: SendType;
  readonly sinceMs: number;
}

export interface AttemptRow {
  readonly teamId: string;
  readonly addresses: readonly string[];
  readonly sendType: SendType;
  readonly emailId: string;
  readonly atMs: number;
}

const FACTS_SQL = `
select
  exists (
    select 1 from dnc_entries
    where team_id = $1 and email = any($2::text[]) and (brand_id is null or brand_id = $4::uuid)
  ) as is_listed,
  array(
    select (
      select count(*) from email_attempts
      where team_id = $1 and address = wanted.address and send_type = $5 and at > $6
    )
    from unnest($3::text[]) with ordinality as wanted (address, place) order by place
  ) as sent,
  (
    select price_micros from prices where product_code = 'email' and (team_id = $1 or team_id is null)
    order by team_id is null limit 1
  ) as price_micros`;

/** What decides about an email, in one statement, and the attempts that later ones count. */
export class FactsStore {
  /** `sent`: emails of the type within the window, by address of `to`. */
  async read(
    tx: Tx,
    wish: FactsWish,
  ): Promise<{ isListed: boolean; sent: Map<string, number>; priceMicros: bigint }> {
    const { rows } = await tx.query<{ is_listed: boolean; sent: string[]; price_micros: bigint | null }>(
      FACTS_SQL,
      [wish.teamId, wish.addresses, wish.to, wish.brandId, wish.sendType, new Date(wish.sinceMs)],
    );
    const row = rows[0];
    if (!row || row.price_micros === null) throw new Error('no price for product email');
    const sent = new Map(wish.to.map((address, place) => [address, Number(row.sent[place] ?? 0)]));
    return { isListed: row.is_listed, sent, priceMicros: row.price_micros };
  }

  async addAttempts(tx: Tx, attempt: AttemptRow): Promise<void> {
    await tx.query(
      `insert into email_attempts (team_id, address, send_type, at, email_id)
       select $1, address, $3, $4, $5 from unnest($2::text[]) as address`,
      [attempt.teamId, attempt.addresses, attempt.sendType, new Date(attempt.atMs), attempt.emailId],
    );
  }

  /** What reached nobody does not count. */
  async removeAttempts(tx: Tx, attempt: Omit<AttemptRow, 'atMs'>): Promise<void> {
    await tx.query(
      `delete from email_attempts
       where team_id = $1 and address = any($2::text[]) and send_type = $3 and email_id = $4`,
      [attempt.teamId, attempt.addresses, attempt.sendType, attempt.emailId],
    );
  }

  /** Of any account: how many. */
  async removeOldAttempts(tx: Tx, beforeMs: number, max: number): Promise<number> {
    const { rowCount } = await tx.query(
      `delete from email_attempts where ctid = any(array(select ctid from email_attempts where at < $1 limit $2))`,
      [new Date(beforeMs), max],
    );
    return rowCount ?? 0;
  }
}
