-- Accounts, credentials, money, processes, detection sessions, webhook deliveries and the outbox.
-- Ids are UUIDs made by the service; money is integer micro-units; every account-owned row carries team_id.

create table teams (
  id uuid primary key,
  name text not null,
  verified boolean not null default true,
  operator boolean not null default false,
  test_mode boolean not null default false,
  plan text not null default 'active' check (plan in ('trial', 'active', 'inactive')),
  detection boolean not null default true,
  building_blocks boolean not null default true,
  keep_transcripts boolean not null default false,
  concurrent_sessions integer not null default 500 check (concurrent_sessions >= 0),
  platform_token_ciphertext text,
  created_at timestamptz not null default now()
);

create table users (
  id uuid primary key,
  team_id uuid not null references teams (id),
  email text,
  display_name text not null,
  role text not null check (role in ('owner', 'manager', 'agent', 'viewer')),
  ai_access text not null check (ai_access in ('full', 'view', 'none')),
  password_hash text,
  created_at timestamptz not null default now()
);
create index users_team on users (team_id);
create unique index users_email on users (lower(email)) where email is not null;

create table api_keys (
  id uuid primary key,
  team_id uuid not null references teams (id),
  name text not null,
  key text not null unique,
  secret_hash bytea not null,
  type text not null default 'standard',
  scopes text[] not null,
  mcp_client text,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  request_count bigint not null default 0
);
create index api_keys_team on api_keys (team_id, created_at desc);

-- key_hash finds the key; key_ciphertext gives it back, because its webhooks are signed with the key itself.
create table detection_keys (
  id uuid primary key,
  team_id uuid not null references teams (id),
  name text not null,
  key_hash bytea not null unique,
  key_ciphertext text not null,
  key_hint text not null,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
create index detection_keys_team on detection_keys (team_id, created_at desc);

create table balances (
  team_id uuid primary key references teams (id),
  balance_micros bigint not null default 0,
  reserved_micros bigint not null default 0
);

-- Immutable. The balance is the sum of amount_micros; a cause is booked once for each kind.
create table ledger_entries (
  id bigint generated always as identity primary key,
  team_id uuid not null references teams (id),
  kind text not null check (kind in ('funds_added', 'reserved', 'captured', 'released', 'refunded')),
  amount_micros bigint not null,
  reserved_micros bigint not null default 0,
  cause_type text not null,
  cause_id text not null,
  created_at timestamptz not null default now(),
  unique (team_id, kind, cause_type, cause_id)
);
create index ledger_entries_team on ledger_entries (team_id, id desc);

create function ledger_entries_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger entries are immutable' using errcode = 'restrict_violation';
end
$$;
create trigger ledger_entries_immutable before update or delete or truncate on ledger_entries
  for each statement execute function ledger_entries_refuse_change();

-- team_id null: the default of all accounts.
create table prices (
  product_code text not null,
  team_id uuid references teams (id),
  price_micros bigint not null check (price_micros >= 0)
);
create unique index prices_default on prices (product_code) where team_id is null;
create unique index prices_team on prices (team_id, product_code) where team_id is not null;
-- One started 6 s of audio (supplement 10, Billing): 0.0006 a unit, 0.006 a minute.
insert into prices (product_code, team_id, price_micros) values ('detection', null, 600);

-- Every running process; one whose heartbeat stopped is dead and its live sessions are lost.
create table processes (
  id uuid primary key,
  role text not null,
  pid integer not null,
  host text not null,
  version text not null,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  ended_at timestamptz,
  stats jsonb not null default '{}'
);
create index processes_running on processes (heartbeat_at) where ended_at is null;

-- Live sessions of each account in each gateway process, renewed with its heartbeat (concurrent_sessions).
create table gateway_loads (
  process_id uuid not null references processes (id) on delete cascade,
  team_id uuid not null,
  live_sessions integer not null,
  primary key (process_id, team_id)
);

create table detection_sessions (
  id uuid primary key,
  team_id uuid not null references teams (id),
  key_id uuid not null,
  process_id uuid not null,
  call_id text,
  source text not null check (source in ('ws', 'platform')),
  strategy text not null,
  audio_encoding text not null,
  sample_rate_hz integer not null,
  state text not null check (state in ('live', 'ended', 'lost')),
  verdict text,
  verdict_final boolean not null default false,
  confidence real,
  reason text,
  beep_at_ms integer,
  beep_frequency_hz real,
  last_event text,
  last_event_at timestamptz,
  audio_ms bigint not null default 0,
  started_at timestamptz not null,
  ended_at timestamptz,
  end_reason text
);
create index detection_sessions_team on detection_sessions (team_id, started_at desc, id);
create index detection_sessions_live on detection_sessions (process_id) where state = 'live';
create index detection_sessions_age on detection_sessions (started_at);

create table detection_events (
  session_id uuid not null references detection_sessions (id) on delete cascade,
  sequence integer not null,
  team_id uuid not null,
  event text not null,
  timestamp_ms bigint not null,
  payload jsonb not null,
  created_at timestamptz not null,
  primary key (session_id, sequence)
);

-- One row a delivery; `body` is the exact text that is signed and sent. source_id: session or subscription.
-- Once final, `headers` is emptied (they may hold the receiver's secrets) and, without keep_transcripts, words leave `body`.
create table webhook_deliveries (
  id uuid primary key,
  team_id uuid not null references teams (id),
  kind text not null check (kind in ('detection', 'subscription')),
  source_id uuid not null,
  sequence bigint not null,
  event text not null,
  url text not null,
  headers jsonb not null default '{}',
  body text not null,
  signing_key_id uuid not null,
  keep_transcripts boolean not null default false,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  status_code integer,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index webhook_deliveries_source on webhook_deliveries (source_id, sequence desc);
create index webhook_deliveries_team on webhook_deliveries (team_id, created_at desc, id);
create index webhook_deliveries_age on webhook_deliveries (created_at);

create table webhook_attempts (
  delivery_id uuid not null references webhook_deliveries (id) on delete cascade,
  attempt integer not null,
  team_id uuid not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  response_excerpt text,
  primary key (delivery_id, attempt)
);

-- The hot table: rows due now or in a moment. Rows of a far future wait in outbox_later and are moved when due.
create table outbox (
  id bigint generated always as identity primary key,
  topic text not null,
  key text not null,
  lane text not null,
  order_key text,
  payload jsonb not null,
  available_at timestamptz not null,
  attempts integer not null default 0,
  lease_owner uuid,
  lease_until timestamptz,
  leased_at timestamptz,
  created_at timestamptz not null default now()
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index outbox_due on outbox (lane, available_at, id);
create index outbox_key on outbox (topic, key);
create index outbox_order on outbox (order_key, id) where order_key is not null;

create table outbox_later (
  id bigint primary key,
  topic text not null,
  key text not null,
  lane text not null,
  order_key text,
  payload jsonb not null,
  available_at timestamptz not null,
  attempts integer not null default 0,
  created_at timestamptz not null default now()
);
create index outbox_later_due on outbox_later (available_at);
create index outbox_later_key on outbox_later (topic, key);
