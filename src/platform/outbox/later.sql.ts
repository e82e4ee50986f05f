const COLUMNS = 'id, topic, key, lane, order_key, payload, available_at, attempts, created_at';

/** Brings back rows due before $1, at most $2; answers their lanes. */
export const BRING_BACK_SQL = `
with due as (
  select id from outbox_later where available_at <= $1 order by available_at limit $2 for update skip locked
), moved as (
  delete from outbox_later l using due where l.id = due.id returning l.*
)
insert into outbox (${COLUMNS}) overriding system value
select ${COLUMNS} from moved
returning lane`;

/** Puts the leased row $1 off to $2, a far future, keeping its id. */
export const PUT_OFF_SQL = `
with moved as (delete from outbox where id = $1 returning *)
insert into outbox_later (${COLUMNS})
select id, topic, key, lane, order_key, payload, $2, attempts, created_at from moved`;
