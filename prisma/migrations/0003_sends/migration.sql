-- Sends of the four channels and email: accepting, delivery rules, carriers, results.

-- What an account may have of its own is the rate of its sends (null: SEND_RATE_PER_ACCOUNT), not one for each route.
alter table teams rename column rate_limit_per_route to send_rate;
alter table teams rename constraint teams_rate_limit_per_route_check to teams_send_rate_check;

-- One row an account that changed a rule; without one the defaults hold (contract, Limits; supplement 13, Sends).
create table dialing_rules (
  team_id uuid primary key references teams (id),
  hours_enabled boolean not null default true,
  hours_start_minute integer not null default 480 check (hours_start_minute between 0 and 1439),
  hours_end_minute integer not null default 1260 check (hours_end_minute between 1 and 1440),
  phone_attempts_max integer not null default 3 check (phone_attempts_max >= 0),
  phone_window_hours integer not null default 72 check (phone_window_hours between 1 and 720),
  bulk_emails_max integer not null default 15 check (bulk_emails_max >= 0),
  bulk_window_hours integer not null default 72 check (bulk_window_hours between 1 and 720),
  transactional_emails_max integer not null default 30 check (transactional_emails_max >= 0),
  transactional_window_hours integer not null default 24 check (transactional_window_hours between 1 and 720),
  test_numbers text[] not null default '{}',
  test_emails text[] not null default '{}',
  texts_need_consent boolean not null default false,
  calls_need_consent boolean not null default false,
  no_verdict_action text not null default 'play_speech' check (no_verdict_action in ('play_speech', 'play_beep', 'hang_up')),
  opt_out_digit text check (opt_out_digit ~ '^[0-9*#]$'),
  updated_by uuid not null references users (id),
  updated_at timestamptz not null default now(),
  check (hours_start_minute < hours_end_minute)
);

-- Agents come with their own work; until then each account has one that is published and simulated (supplement 13).
create table agents (
  id uuid primary key default gen_random_uuid(),
  team_id uuid not null references teams (id),
  name text not null,
  simulated boolean not null default false,
  published_version integer,
  created_at timestamptz not null default now()
);
create index agents_team on agents (team_id, created_at desc);
insert into agents (team_id, name, simulated, published_version) select id, 'Simulated agent', true, 1 from teams;

-- Ids of sends are UUIDs of version 7: they sort by time, so their ranges are ranges of time and an id names its partition.
create function id_floor(at timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

-- request: the body as it came. state: queued (accepted, not looked at), held (until held_until), sending (committed for one
-- attempt: a carrier may have it), sent (the carrier took it, its result is awaited), finished (outcome_code is set).
create table sends (
  id uuid not null,
  team_id uuid not null,
  channel text not null check (channel in ('rvm', 'sms', 'voice_broadcast', 'ai_broadcast')),
  version integer not null default 2 check (version in (1, 2)),
  state text not null default 'queued' check (state in ('queued', 'held', 'sending', 'sent', 'finished')),
  request jsonb not null,
  -- 3027, 3028: found when it was accepted.
  accept_code integer,
  created_by uuid not null,
  foreign_id text,
  callback_url text,
  contact_id uuid,
  phone_number text,
  caller_id text,
  phone_line_id uuid,
  brand_id uuid,
  campaign_id uuid,
  session_id uuid,
  attempt integer not null default 0,
  carrier_id uuid,
  carrier_message_id text,
  held_until timestamptz,
  expires_at timestamptz,
  outcome_code integer,
  reason text,
  detail text,
  segments integer,
  quantity integer not null default 0,
  product_cost_micros bigint not null default 0,
  compliance_fee_micros bigint not null default 0,
  tts_fee_micros bigint not null default 0,
  receipt_token_hash bytea,
  receipt_expires_at timestamptz,
  created_at timestamptz not null,
  attempted_at timestamptz,
  finished_at timestamptz,
  primary key (id)
) partition by range (id);
create index sends_team on sends (team_id, id desc);
create index sends_foreign on sends (team_id, foreign_id, id desc) where foreign_id is not null;
create index sends_phone on sends (team_id, phone_number, id desc);
create index sends_contact on sends (team_id, contact_id, id desc) where contact_id is not null;
create index sends_open on sends (team_id, state, id) where state <> 'finished';
create index sends_carrier on sends (carrier_id, carrier_message_id) where carrier_message_id is not null;
create index sends_receipt on sends (receipt_token_hash) where receipt_token_hash is not null;

-- What happened to a send, in order: accepted, decided (with the facts it saw), held, carrier_request, carrier_answer,
-- result (exactly one), callback.
create table send_steps (
  send_id uuid not null,
  step bigint generated always as identity,
  team_id uuid not null,
  kind text not null check (kind in ('accepted', 'decided', 'held', 'carrier_request', 'carrier_answer', 'result', 'callback')),
  at timestamptz not null,
  detail jsonb not null default '{}',
  primary key (send_id, step)
) partition by range (send_id);
create unique index send_steps_result on send_steps (send_id) where kind = 'result';

-- Partitions of one week each, from Monday 00:00 UTC; those that exist are left alone.
create function make_send_partitions(from_time timestamptz, until_time timestamptz) returns integer language plpgsql as $$
declare
  week timestamptz := date_trunc('week', from_time at time zone 'UTC') at time zone 'UTC';
  made integer := 0;
  parent text;
  child text;
begin
  perform pg_advisory_xact_lock(hashtext('make_send_partitions'));
  while week <= until_time loop
    foreach parent in array array['sends', 'send_steps'] loop
      child := parent || '_' || to_char(week at time zone 'UTC', 'IYYY"w"IW');
      if to_regclass(child) is null then
        execute format('create table %I partition of %I for values from (%L) to (%L)',
          child, parent, id_floor(week), id_floor(week + interval '7 days'));
        made := made + 1;
      end if;
    end loop;
    week := week + interval '7 days';
  end loop;
  return made;
end
$$;
-- Drops partitions that end before a time, of sends with their steps: how many. A week in which a send has no result yet stays.
create function drop_send_partitions(before_time timestamptz) returns integer language plpgsql as $$
declare
  week text;
  has_open boolean;
  dropped integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('make_send_partitions'));
  for week in
    select substring(c.relname from '^sends_(.*)$') from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'sends'::regclass
      and substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([0-9a-f-]{36})''\)')::uuid <= id_floor(before_time)
  loop
    execute format('select exists (select 1 from %I where state <> ''finished'')', 'sends_' || week) into has_open;
    continue when has_open;
    execute format('drop table %I, %I', 'sends_' || week, 'send_steps_' || week);
    dropped := dropped + 2;
  end loop;
  return dropped;
end
$$;
select make_send_partitions(now() - interval '7 days', now() + interval '28 days');

-- Kept for 24 h (supplement 1). request_hash: of the route and the canonical body.
create table send_idempotency (
  team_id uuid not null,
  key text not null,
  request_hash bytea not null,
  send_id uuid not null,
  created_at timestamptz not null,
  primary key (team_id, key)
);
create index send_idempotency_age on send_idempotency (created_at);

-- One row an attempt that counts for the frequency limit; locked by (team, number) before it is read to decide.
create table contact_attempts (
  team_id uuid not null,
  phone_number text not null,
  at timestamptz not null,
  send_id uuid not null,
  primary key (team_id, phone_number, at, send_id)
);
create index contact_attempts_age on contact_attempts (at);

-- The one POST to callback_url.
create table send_callbacks (
  send_id uuid primary key,
  team_id uuid not null,
  url text not null,
  body text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  status_code integer,
  error text,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index send_callbacks_age on send_callbacks (created_at);

-- Receipts that came before the answer that names their message: looked at again when that is recorded.
create table carrier_receipts (
  id uuid primary key,
  team_id uuid not null,
  carrier_id uuid not null,
  carrier_message_id text not null,
  receipt jsonb not null,
  received_at timestamptz not null
);
create index carrier_receipts_message on carrier_receipts (carrier_id, carrier_message_id);
create index carrier_receipts_age on carrier_receipts (received_at);

-- Texts of a contact's thread, both ways. carrier_message_id keeps an inbound text from being taken twice.
create table text_messages (
  id uuid primary key,
  team_id uuid not null references teams (id),
  contact_id uuid references contacts (id) on delete cascade,
  direction text not null check (direction in ('inbound', 'outbound')),
  phone_number text not null,
  own_number text,
  phone_line_id uuid,
  body text not null,
  media_urls text[] not null default '{}',
  send_id uuid,
  carrier_id uuid,
  carrier_message_id text,
  created_by uuid,
  created_at timestamptz not null default now()
);
create index text_messages_thread on text_messages (team_id, contact_id, created_at desc, id desc);
create unique index text_messages_carrier on text_messages (carrier_id, carrier_message_id)
  where carrier_message_id is not null and direction = 'inbound';

-- state: sending (committed: the mail server may have it), sent, failed, blocked, received, unknown (no answer came).
create table emails (
  id uuid primary key,
  team_id uuid not null references teams (id),
  contact_id uuid references contacts (id) on delete set null,
  mailbox_id uuid,
  domain_id uuid,
  carrier_id uuid,
  template_id uuid,
  direction text not null check (direction in ('inbound', 'outbound')),
  send_type text not null check (send_type in ('transactional', 'bulk')),
  sender jsonb not null,
  recipients jsonb not null,
  cc jsonb not null default '[]',
  bcc jsonb not null default '[]',
  recipient text not null,
  subject text not null,
  preview text,
  html text not null,
  text text,
  state text not null check (state in ('sending', 'sent', 'failed', 'blocked', 'received', 'unknown')),
  blocked_reason text,
  error text,
  outcome_code integer,
  message_id text,
  unsubscribe_token_hash bytea,
  price_micros bigint not null default 0,
  created_by uuid not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz
);
create index emails_team on emails (team_id, created_at desc, id desc);
create index emails_contact on emails (team_id, contact_id, created_at desc, id desc);
create index emails_frequency on emails (team_id, recipient, send_type, created_at) where direction = 'outbound';
create index emails_message on emails (message_id) where message_id is not null;
create unique index emails_unsubscribe on emails (unsubscribe_token_hash) where unsubscribe_token_hash is not null;
create index emails_open on emails (created_at) where state = 'sending';

create table email_events (
  email_id uuid not null references emails (id) on delete cascade,
  team_id uuid not null,
  kind text not null check (kind in ('delivered', 'opened', 'clicked', 'bounced', 'complained', 'unsubscribed', 'failure')),
  at timestamptz not null,
  event_key text not null,
  detail jsonb not null default '{}',
  primary key (email_id, kind, event_key)
);

-- Idempotency-Key of POST email: the answer is given again (24 h).
create table email_idempotency (
  team_id uuid not null,
  key text not null,
  request_hash bytea not null,
  email_id uuid,
  answer jsonb,
  created_at timestamptz not null,
  primary key (team_id, key)
);
create index email_idempotency_age on email_idempotency (created_at);

-- A unit is one voicemail, one text segment, one call, one email: 0.02, 0.0079, 0.03, 0.05, 0.001.
insert into prices (product_code, team_id, price_micros) values
  ('rvm', null, 20000), ('sms', null, 7900), ('voice_broadcast', null, 30000), ('ai_broadcast', null, 50000),
  ('email', null, 1000);

alter table carrier_connections
  add column webhook_secret_ciphertext text,
  add column rate_per_second integer check (rate_per_second > 0);
alter table calls add column send_id uuid;

-- email: one row an attempt and address of `to` that counts for the frequency limit; locked by (team, address) before it is read.
create table email_attempts (
  team_id uuid not null,
  address text not null,
  send_type text not null,
  at timestamptz not null,
  email_id uuid not null,
  primary key (team_id, address, send_type, at, email_id)
);
create index email_attempts_age on email_attempts (at);
create index emails_age on emails (created_at);

-- carriers: what each process saw of a connection within the last minute; those that are fresh are summed.
create table carrier_health (
  carrier_id uuid not null references carrier_connections (id) on delete cascade,
  process_id uuid not null,
  team_id uuid not null,
  circuit text not null check (circuit in ('closed', 'open', 'half_open')),
  requests integer not null,
  faults integer not null,
  last_fault text,
  last_fault_at timestamptz,
  updated_at timestamptz not null,
  primary key (carrier_id, process_id)
);
create index carrier_health_age on carrier_health (updated_at);
