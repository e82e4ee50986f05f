import type { Db, Tx } from '../../platform/db/index.ts';
import type { Micros } from '../../kernel/money.ts';
import type { LedgerEntry } from './ledger.rules.ts';

export interface Balance {
  balanceMicros: Micros;
  reservedMicros: Micros;
}

export interface BalanceChange extends Balance {
  teamId: string;
  /** What this batch added. */
  amountAddedMicros: Micros;
  reservedAddedMicros: Micros;
}

/** Locks the balances in one order, so that two batches over the same accounts cannot wait for each other. */
const LOCK_SQL = 'select 1 from balances where team_id = any($1::uuid[]) order by team_id for update';

/** Books new entries and moves each account's balance once; entries whose cause is booked already are left out. */
const BOOK_SQL = `
with wanted as (
  select * from unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
    with ordinality as w (team_id, kind, amount, reserved, cause_type, cause_id, ord)
), booked as (
  insert into ledger_entries (team_id, kind, amount_micros, reserved_micros, cause_type, cause_id, created_at)
  select team_id, kind, amount, reserved, cause_type, cause_id, $7 from wanted order by ord
  on conflict (team_id, kind, cause_type, cause_id) do nothing
  returning team_id, amount_micros, reserved_micros
), sums as (
  select team_id, sum(amount_micros)::bigint as amount, sum(reserved_micros)::bigint as reserved
  from booked group by team_id
)
update balances b
set balance_micros = b.balance_micros + s.amount, reserved_micros = b.reserved_micros + s.reserved
from sums s
where b.team_id = s.team_id
returning b.team_id, b.balance_micros, b.reserved_micros, s.amount, s.reserved`;

const PRICES_SQL = `
select w.team_id, w.product_code, p.price_micros
from unnest($1::uuid[], $2::text[]) as w (team_id, product_code)
cross join lateral (
  select price_micros from prices
  where product_code = w.product_code and (team_id = w.team_id or team_id is null)
  order by team_id is null limit 1
) p`;

interface ChangeRow {
  team_id: string;
  balance_micros: bigint;
  reserved_micros: bigint;
  amount: bigint;
  reserved: bigint;
}

/** The statements on ledger_entries, balances and prices. */
export class LedgerStore {
  async book(tx: Tx, entries: readonly LedgerEntry[], nowMs: number): Promise<BalanceChange[]> {
    await tx.query(LOCK_SQL, [[...new Set(entries.map((e) => e.teamId))]]);
    const { rows } = await tx.query<ChangeRow>(BOOK_SQL, [
      entries.map((e) => e.teamId),
      entries.map((e) => e.kind),
      entries.map((e) => e.amountMicros.toString()),
      entries.map((e) => e.reservedMicros.toString()),
      entries.map((e) => e.causeType),
      entries.map((e) => e.causeId),
      new Date(nowMs),
    ]);
    return rows.map((row) => ({
      teamId: row.team_id,
      balanceMicros: row.balance_micros,
      reservedMicros: row.reserved_micros,
      amountAddedMicros: row.amount,
      reservedAddedMicros: row.reserved,
    }));
  }

  async findBalance(db: Pick<Db, 'query'>, teamId: string): Promise<Balance | null> {
    const { rows } = await db.query<{ balance_micros: bigint; reserved_micros: bigint }>(
      'select balance_micros, reserved_micros from balances where team_id = $1',
      [teamId],
    );
    const row = rows[0];
    return row ? { balanceMicros: row.balance_micros, reservedMicros: row.reserved_micros } : null;
  }

  /** Sets an account's own price, or with null the default of all. */
  async setPrice(
    db: Pick<Db, 'query'>,
    price: { productCode: string; teamId: string | null; priceMicros: Micros },
  ): Promise<void> {
    const target =
      price.teamId === null
        ? '(product_code) where team_id is null'
        : '(team_id, product_code) where team_id is not null';
    await db.query(
      `insert into prices (product_code, team_id, price_micros) values ($1, $2, $3)
       on conflict ${target} do update set price_micros = excluded.price_micros`,
      [price.productCode, price.teamId, price.priceMicros.toString()],
    );
  }

  /** Price of each product for each account: its own, else the default; missing products are left out. */
  async prices(
    tx: Tx,
    wanted: readonly { teamId: string; productCode: string }[],
  ): Promise<{ teamId: string; productCode: string; priceMicros: Micros }[]> {
    const { rows } = await tx.query<{ team_id: string; product_code: string; price_micros: bigint }>(
      PRICES_SQL,
      [wanted.map((w) => w.teamId), wanted.map((w) => w.productCode)],
    );
    return rows.map((r) => ({ teamId: r.team_id, productCode: r.product_code, priceMicros: r.price_micros }));
  }

  async notify(tx: Tx, channel: string, teamIds: readonly string[]): Promise<void> {
    await tx.query('select pg_notify($1, team_id) from unnest($2::text[]) as t (team_id)', [
      channel,
      teamIds,
    ]);
  }
}
