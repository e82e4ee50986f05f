/**
 * Lanes after $1 that have a row due at $2 and unleased, at most $3 lanes looked at. A loose index scan: one
 * probe a lane, however many rows it holds (`select distinct lane` reads every row).
 */
export const DUE_LANES_SQL = `
with recursive lanes as (
  (select lane, 1 as n from outbox where lane > $1 order by lane limit 1)
  union all
  select (select o.lane from outbox o where o.lane > l.lane order by o.lane limit 1), l.n + 1
  from lanes l
  where l.lane is not null and l.n < $3
)
select l.lane,
  exists (
    select 1 from outbox o
    where o.lane = l.lane and o.available_at <= $2 and (o.lease_until is null or o.lease_until <= $2)
  ) as due
from lanes l
where l.lane is not null`;

/** The oldest live row of each lane at or after its floor: $1 lanes, $2 floors. Null: no row. */
export const FLOORS_SQL = `
select w.lane, (
  select o.available_at from outbox o
  where o.lane = w.lane and o.available_at >= w.floor_at
  order by o.available_at
  limit 1
) as oldest
from unnest($1::text[], $2::timestamptz[]) as w (lane, floor_at)`;
