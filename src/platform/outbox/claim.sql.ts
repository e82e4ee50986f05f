/**
 * Claims due rows of several lanes, at most a quota of each, with a lease.
 *
 * $1 lanes · $2 quota of each lane · $3 floor of each lane (no live row is older) · $4 now · $5 owner ·
 * $6 end of the lease · $7 starts after this moment still hold back their followers.
 * A lane's name begins with its topic, so no condition on the topic is needed; one would tempt the planner to
 * the index on (topic, key), which is all dead rows while a snapshot is held open.
 *
 * A row with an order key waits for an earlier one of the key that is due and never started, or that was
 * started for the first time a moment ago and has not answered. One that failed before waits for nobody and
 * holds up nobody. `for update skip locked` looks at the row again when another relay took it in between.
 *
 * The commit need not wait for the disk: a claim lost with the database's crash is handed out again, and its
 * holder finds it lost.
 */
export const CLAIM_SQL = `
with wanted as (
  select * from unnest($1::text[], $2::int[], $3::timestamptz[]) as w (lane, quota, floor_at)
), picked as (
  select due.id
  from wanted w
  cross join lateral (
    select o.id
    from outbox o
    where o.lane = w.lane and o.available_at >= w.floor_at and o.available_at <= $4
      and (o.lease_until is null or o.lease_until <= $4)
      and (
        o.order_key is null or o.attempts > 0 or not exists (
          select 1 from outbox b
          where b.order_key = o.order_key and b.id < o.id and b.available_at <= $4
            and (b.attempts = 0 or (b.attempts = 1 and b.lease_until > $4 and b.leased_at > $7))
        )
      )
    order by o.available_at, o.id
    limit w.quota
    for update of o skip locked
  ) due
)
update outbox o
set lease_owner = $5, lease_until = $6, leased_at = $4, attempts = o.attempts + 1
from picked
where o.id = picked.id
returning o.id, o.topic, o.key, o.lane, o.order_key, o.payload, o.attempts, o.available_at, o.created_at,
  set_config('synchronous_commit', 'off', true)`;
