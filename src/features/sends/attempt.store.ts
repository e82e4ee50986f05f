import type { Tx } from '../../platform/db/index.ts';
import type { Particulars, Price, SendKey } from './dispatch.type.ts';
import type { SendState } from './send.type.ts';

const FUNDS_SQL = `
select team_id, balance_micros - reserved_micros as available_micros
from balances where team_id = any($1::uuid[]) order by team_id for update`;

/** $1 ids · $2 accounts · $3 numbers · $4 brands · $5 attempts after this moment count */
const AGAIN_SQL = `
select s.id, s.state, s.attempt,
  exists (select 1 from dnc_entries d where d.team_id = w.team_id and d.phone_number = w.phone_number
    and (d.brand_id is null or d.brand_id = w.brand_id)) as is_listed,
  (select count(*) from contact_attempts a where a.team_id = w.team_id and a.phone_number = w.phone_number
    and a.at > w.since) as attempts
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::timestamptz[])
  as w (id, team_id, phone_number, brand_id, since)
join sends s on s.id = w.id and s.team_id = w.team_id
order by s.id
for update of s`;

const COMMIT_SQL = `
with w as (
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::uuid[], $8::uuid[],
      $9::int[], $10::bigint[], $11::bigint[])
    as w (id, team_id, phone_number, caller_id, contact_id, phone_line_id, brand_id, carrier_id, quantity, product, speech)
), moved as (
  update sends s set state = 'sending', attempt = s.attempt + 1, attempted_at = $12, held_until = null,
    phone_number = w.phone_number, caller_id = w.caller_id, contact_id = w.contact_id, phone_line_id = w.phone_line_id,
    brand_id = w.brand_id, carrier_id = w.carrier_id, quantity = w.quantity, product_cost_micros = w.product,
    segments = case when s.channel = 'sms' then w.quantity end, tts_fee_micros = w.speech
  from w where s.id = w.id and s.team_id = w.team_id
)
insert into contact_attempts (team_id, phone_number, at, send_id) select team_id, phone_number, $12, id from w`;

/** What is about to be attempted. */
export interface NewAttempt extends SendKey {
  readonly particulars: Particulars & { readonly phoneNumber: string };
  readonly carrierId: string | null;
  readonly price: Price;
}

export interface ReadAgain {
  readonly state: SendState;
  readonly attempt: number;
  readonly isListed: boolean;
  readonly attempts: number;
}

/** The statements of the transaction that commits to an attempt. */
export class AttemptStore {
  /** What an account may spend, held until the transaction ends. */
  async lockFunds(tx: Tx, teamIds: readonly string[]): Promise<Map<string, bigint>> {
    const { rows } = await tx.query<{ team_id: string; available_micros: bigint }>(FUNDS_SQL, [
      [...new Set(teamIds)],
    ]);
    return new Map(rows.map((row) => [row.team_id, row.available_micros]));
  }

  /** Holds the sends and reads what decides, by id; with the numbers held, nobody changes it meanwhile. */
  async readAgain(
    tx: Tx,
    wanted: readonly (SendKey & { phoneNumber: string; brandId: string | null; sinceMs: number })[],
  ): Promise<Map<string, ReadAgain>> {
    const { rows } = await tx.query<{
      id: string;
      state: SendState;
      attempt: number;
      is_listed: boolean;
      attempts: bigint;
    }>(AGAIN_SQL, [
      wanted.map((w) => w.sendId),
      wanted.map((w) => w.teamId),
      wanted.map((w) => w.phoneNumber),
      wanted.map((w) => w.brandId),
      wanted.map((w) => new Date(w.sinceMs)),
    ]);
    return new Map(
      rows.map(({ id, state, attempt, is_listed: isListed, attempts }) => [
        id,
        { state, attempt, isListed, attempts: Number(attempts) },
      ]),
    );
  }

  /** From here on a carrier may have them. */
  async commit(tx: Tx, attempts: readonly NewAttempt[], nowMs: number): Promise<void> {
    await tx.query(COMMIT_SQL, [
      attempts.map((a) => a.sendId),
      attempts.map((a) => a.teamId),
      attempts.map((a) => a.particulars.phoneNumber),
      attempts.map((a) => a.particulars.callerId),
      attempts.map((a) => a.particulars.contactId),
      attempts.map((a) => a.particulars.phoneLineId),
      attempts.map((a) => a.particulars.brandId),
      attempts.map((a) => a.carrierId),
      attempts.map((a) => a.price.quantity),
      attempts.map((a) => a.price.productMicros.toString()),
      attempts.map((a) => a.price.speechMicros.toString()),
      new Date(nowMs),
    ]);
  }
}
