-- What an integrator sets up before sending: OAuth clients, carriers, contacts and what surrounds them, do-not-contact,
-- media, lines, brands, templates, senders of email, calls, and webhook subscriptions.

create extension if not exists pg_trgm;

-- features: parts of the plan (supplement 11). dunning_tier: null while the subscription is paid.
alter table teams
  add column features text[] not null default '{email,campaigns,agents,detection}',
  add column dunning_tier text check (dunning_tier in ('restricted', 'suspended', 'canceled')),
  add column suspended boolean not null default false,
  add column region text not null default 'US',
  add column rate_limit_per_route integer check (rate_limit_per_route > 0);

-- Switched off by an operator.
alter table api_keys add column suspended boolean not null default false;
alter table detection_keys add column suspended boolean not null default false;

-- Keys that sign access tokens and site tokens; the newest that is not retired signs, all that are here verify.
create table signing_keys (
  id text primary key,
  public_jwk jsonb not null,
  private_ciphertext text not null,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);

-- A client without redirect addresses is a machine client (client credentials); one with them is public and has no secret.
create table oauth_clients (
  id uuid primary key,
  team_id uuid not null references teams (id),
  name text not null,
  secret_hash bytea,
  redirect_uris text[] not null default '{}',
  scopes text[] not null,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index oauth_clients_team on oauth_clients (team_id, created_at desc);

-- What the OAuth server keeps between requests.
create table oauth_artifacts (
  model text not null,
  id text not null,
  payload jsonb not null,
  grant_id text,
  uid text,
  user_code text,
  consumed_at timestamptz,
  expires_at timestamptz,
  primary key (model, id)
);
create index oauth_artifacts_grant on oauth_artifacts (grant_id) where grant_id is not null;
create index oauth_artifacts_uid on oauth_artifacts (model, uid) where uid is not null;
create index oauth_artifacts_expiry on oauth_artifacts (expires_at) where expires_at is not null;

create table carrier_connections (
  id uuid primary key,
  team_id uuid not null references teams (id),
  kind text not null check (kind in ('smtp', 'twilio', 'smpp', 'simulator')),
  name text not null,
  settings_ciphertext text not null,
  state text not null default 'active' check (state in ('active', 'paused', 'draining')),
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index carrier_connections_team on carrier_connections (team_id, created_at);

create table brands (
  id uuid primary key,
  team_id uuid not null references teams (id),
  company_name text not null,
  dba_name text,
  registered boolean not null default false,
  api_allowed boolean not null default false,
  texting_campaign_status text not null default 'none'
    check (texting_campaign_status in ('none', 'pending', 'approved', 'rejected')),
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index brands_team on brands (team_id, created_at desc);

-- fields: values of custom fields by slug. search_text: what search_term looks through.
create table contacts (
  id uuid primary key,
  team_id uuid not null references teams (id),
  uid text,
  first_name text,
  last_name text,
  email text,
  phone_number text,
  main_phone text,
  mobile_phone text,
  phone_numbers text[] not null default '{}',
  company text,
  address1 text,
  address2 text,
  city text,
  state text,
  postal text,
  country text,
  region text,
  time_zone text,
  dnc boolean not null default false,
  owner_id uuid references users (id),
  disposition_id text,
  fields jsonb not null default '{}',
  search_text text not null generated always as (
    lower(coalesce(first_name, '') || ' ' || coalesce(last_name, '') || ' ' || coalesce(email, '') || ' '
      || coalesce(phone_number, '') || ' ' || coalesce(company, ''))
  ) stored,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- text_pattern_ops: what begins with a text is found by them too, whatever the locale.
create unique index contacts_phone on contacts (team_id, phone_number text_pattern_ops) where phone_number is not null;
create unique index contacts_email on contacts (team_id, lower(email) text_pattern_ops) where email is not null;
create unique index contacts_uid on contacts (team_id, uid) where uid is not null;
create index contacts_newest on contacts (team_id, created_at desc, id desc);
-- Every search reads what waits to be put in: little (kB) of the trigrams, and of the numbers nothing.
create index contacts_search on contacts using gin (search_text gin_trgm_ops) with (gin_pending_list_limit = 512);
create index contacts_phones on contacts using gin (phone_numbers) with (fastupdate = off);
-- A search chooses between the newest first and the trigrams by how common the term is: hundredths are too coarse for that.
alter table contacts alter column search_text set statistics 1000;
-- An account that grew by an import shows in the statistics soon: plans for one that is not there are made for a single row.
alter table contacts set (autovacuum_analyze_scale_factor = 0.02);

-- How many contacts an account has, kept by the statements that add and remove them: a list need not count.
create table contact_totals (
  team_id uuid primary key references teams (id),
  contacts bigint not null default 0
);
create function contact_totals_keep() returns trigger language plpgsql as $$
begin
  insert into contact_totals as t (team_id, contacts)
  select team_id, case tg_op when 'INSERT' then count(*) else -count(*) end from changed group by team_id order by team_id
  on conflict (team_id) do update set contacts = t.contacts + excluded.contacts;
  return null;
end
$$;
create trigger contacts_added after insert on contacts referencing new table as changed
  for each statement execute function contact_totals_keep();
create trigger contacts_removed after delete on contacts referencing old table as changed
  for each statement execute function contact_totals_keep();

-- contact_count is kept by triggers on the members.
create table contact_lists (
  id uuid primary key,
  team_id uuid not null references teams (id),
  name text not null,
  contact_count integer not null default 0,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index contact_lists_team on contact_lists (team_id, created_at desc, id);

create table contact_list_members (
  list_id uuid not null references contact_lists (id) on delete cascade,
  contact_id uuid not null references contacts (id) on delete cascade,
  team_id uuid not null,
  added_at timestamptz not null default now(),
  primary key (list_id, contact_id)
);
create index contact_list_members_contact on contact_list_members (contact_id);
create function contact_lists_keep_count() returns trigger language plpgsql as $$
begin
  -- In one order, so that two statements over the same lists cannot wait for each other.
  perform from contact_lists where id in (select list_id from changed) order by id for no key update;
  update contact_lists l
  set contact_count = l.contact_count + case tg_op when 'INSERT' then c.n else -c.n end
  from (select list_id, count(*) as n from changed group by list_id) c
  where l.id = c.list_id;
  return null;
end
$$;
create trigger contact_list_members_added after insert on contact_list_members referencing new table as changed
  for each statement execute function contact_lists_keep_count();
create trigger contact_list_members_removed after delete on contact_list_members referencing old table as changed
  for each statement execute function contact_lists_keep_count();

create table custom_fields (
  id uuid primary key,
  team_id uuid not null references teams (id),
  type text not null check (type in ('string', 'text', 'list')),
  display_name text not null,
  slug text not null,
  list_items jsonb,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  unique (team_id, slug)
);

-- Ids of deleted tags may remain on contacts and are ignored there.
create table tags (
  id uuid primary key,
  team_id uuid not null references teams (id),
  label text not null,
  color text,
  text_color text,
  is_seed boolean not null default false,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_by uuid references users (id),
  updated_at timestamptz not null default now(),
  deleted_by uuid references users (id),
  deleted_at timestamptz
);
create index tags_team on tags (team_id, created_at desc, id);

create table contact_tags (
  contact_id uuid not null references contacts (id) on delete cascade,
  tag_id uuid not null references tags (id),
  team_id uuid not null,
  tagged_at timestamptz not null default now(),
  tagged_by uuid not null,
  primary key (contact_id, tag_id)
);
create index contact_tags_tag on contact_tags (tag_id);

create table contact_notes (
  id uuid primary key,
  team_id uuid not null references teams (id),
  contact_id uuid not null references contacts (id) on delete cascade,
  user_id uuid not null,
  note text not null,
  note_text text not null,
  attachments jsonb not null default '[]',
  pinned boolean not null default false,
  created_by uuid not null,
  created_at timestamptz not null default now()
);
create index contact_notes_contact on contact_notes (contact_id, created_at desc, id);

create table timeline_entries (
  id uuid primary key,
  team_id uuid not null,
  contact_id uuid not null references contacts (id) on delete cascade,
  type text not null,
  data jsonb not null default '{}',
  created_at timestamptz not null default now()
);
create index timeline_entries_contact on timeline_entries (contact_id, created_at desc, id desc);

create table follow_ups (
  id uuid primary key,
  team_id uuid not null references teams (id),
  contact_id uuid not null references contacts (id) on delete cascade,
  scheduled_at timestamptz not null,
  status text not null default 'pending' check (status in ('pending', 'triggered', 'completed', 'cancelled')),
  description text not null default '',
  description_text text not null default '',
  assigned_to uuid not null,
  assigned_type text not null check (assigned_type in ('user', 'team')),
  task_id uuid,
  created_by uuid not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index follow_ups_contact on follow_ups (contact_id, scheduled_at, id);

create table inbox_tasks (
  id uuid primary key,
  team_id uuid not null references teams (id),
  contact_id uuid not null references contacts (id) on delete cascade,
  followup_id uuid unique references follow_ups (id) on delete cascade,
  description text not null default '',
  description_text text not null default '',
  assigned_to uuid not null,
  assigned_type text not null check (assigned_type in ('user', 'team')),
  status text not null default 'open' check (status in ('open', 'completed')),
  due_at timestamptz not null,
  created_at timestamptz not null default now(),
  completed_by uuid,
  completed_at timestamptz
);
create index inbox_tasks_team on inbox_tasks (team_id, due_at desc, id);

create table consents (
  id uuid primary key,
  team_id uuid not null references teams (id),
  contact_id uuid not null references contacts (id) on delete cascade,
  consent_type text not null check (consent_type in ('sms_optin', 'tcpa_optin')),
  phone_number text not null,
  consent_text text not null,
  consent_text_hash text not null,
  consent_method text not null check (consent_method in ('phone', 'in_person', 'web_form', 'paper')),
  granted_by uuid not null,
  granted_at timestamptz not null default now(),
  revoked_by uuid,
  revoked_at timestamptz
);
create index consents_contact on consents (contact_id, granted_at desc, id);
create index consents_number on consents (team_id, phone_number);

-- One identifier a row: a number or an email (lower case). brand_id null blocks every brand.
create table dnc_entries (
  id uuid primary key,
  team_id uuid not null references teams (id),
  brand_id uuid references brands (id),
  phone_number text,
  email text,
  method text not null default 'api',
  reason text not null default 'api',
  self_added boolean not null default false,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((phone_number is null) <> (email is null))
);
create unique index dnc_entries_phone on dnc_entries
  (team_id, phone_number, coalesce(brand_id, '00000000-0000-0000-0000-000000000000')) where phone_number is not null;
create unique index dnc_entries_email on dnc_entries
  (team_id, email, coalesce(brand_id, '00000000-0000-0000-0000-000000000000')) where email is not null;
create index dnc_entries_team on dnc_entries (team_id, updated_at desc, id);

-- storage_key: where the storage port keeps the bytes; null until they came. upload_token_hash: the one signed address.
create table media (
  id uuid primary key,
  team_id uuid not null references teams (id),
  name text not null,
  type text not null,
  state text not null default 'pending' check (state in ('pending', 'ready')),
  content_type text,
  storage_key text,
  size_bytes bigint,
  duration_ms integer,
  upload_token_hash bytea,
  upload_expires_at timestamptz,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index media_team on media (team_id, created_at desc, id);

-- Synthesized speech, kept until it expires.
create table speech_files (
  id uuid primary key,
  team_id uuid not null references teams (id),
  storage_key text not null,
  voice_id text not null,
  characters integer not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index speech_files_expiry on speech_files (expires_at);
-- Started 100 characters: 0.0015 a unit.
insert into prices (product_code, team_id, price_micros) values ('tts', null, 1500);

create table phone_lines (
  id uuid primary key,
  team_id uuid not null references teams (id),
  name text not null,
  type text not null check (type in ('voice', 'sms')),
  is_default boolean not null default false,
  brand_id uuid references brands (id),
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index phone_lines_team on phone_lines (team_id, created_at, id);
create unique index phone_lines_default on phone_lines (team_id, type) where is_default;

create table phone_numbers (
  id uuid primary key,
  team_id uuid not null references teams (id),
  phone_number text not null,
  phone_line_id uuid references phone_lines (id) on delete set null,
  created_at timestamptz not null default now(),
  unique (team_id, phone_number)
);
create index phone_numbers_line on phone_numbers (phone_line_id);

create table long_jobs (
  id uuid primary key,
  team_id uuid not null references teams (id),
  kind text not null,
  state text not null default 'pending' check (state in ('pending', 'running', 'complete', 'failed')),
  input jsonb not null,
  total integer not null default 0,
  done integer not null default 0,
  result jsonb not null default '{}',
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index long_jobs_team on long_jobs (team_id, created_at desc, id);

create table templates (
  id uuid primary key,
  team_id uuid not null references teams (id),
  type text not null check (type in ('email', 'rcs')),
  name text not null,
  subject text,
  html text,
  rcs_content jsonb,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
create index templates_team on templates (team_id, type, created_at desc, id);

create table sending_domains (
  id uuid primary key,
  team_id uuid not null references teams (id),
  domain text not null,
  purpose text check (purpose in ('transactional', 'bulk')),
  verified boolean not null default false,
  verification_token text not null,
  dkim_selector text not null,
  dkim_public_key text not null,
  dkim_private_ciphertext text not null,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  verified_at timestamptz,
  unique (team_id, domain)
);

create table mailboxes (
  id uuid primary key,
  team_id uuid not null references teams (id),
  title text not null,
  address text not null,
  domain text not null,
  display_name text not null,
  is_personal boolean not null default false,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  unique (team_id, address)
);

create table calls (
  id uuid primary key,
  team_id uuid not null references teams (id),
  contact_id uuid references contacts (id) on delete set null,
  phone_number text not null,
  caller_id text,
  direction text not null check (direction in ('inbound', 'outbound')),
  outcome text,
  answered boolean not null default false,
  started_at timestamptz not null,
  ended_at timestamptz,
  recording_key text
);
create index calls_team on calls (team_id, started_at desc, id);

-- next_sequence: the number of the next delivery (supplement 4, Order). probe_id: the one delivery that tries a paused
-- endpoint again.
create table webhook_subscriptions (
  id uuid primary key,
  team_id uuid not null references teams (id),
  name text not null,
  hook_url text not null,
  event_types text[] not null,
  secret_ciphertext text not null,
  secret_created_at timestamptz not null,
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  failures integer not null default 0,
  paused_until timestamptz,
  probe_id uuid,
  next_sequence bigint not null default 1,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index webhook_subscriptions_team on webhook_subscriptions (team_id, created_at desc, id);

-- dropped: events of a pause, kept for replay. event_id: the body's, the same over subscriptions and replays.
alter table webhook_deliveries drop constraint webhook_deliveries_state_check;
alter table webhook_deliveries
  add constraint webhook_deliveries_state_check check (state in ('pending', 'delivered', 'failed', 'dropped')),
  add column event_id uuid,
  add column replay_of uuid;
create index webhook_deliveries_log on webhook_deliveries (source_id, created_at desc, id desc)
  where kind = 'subscription';

-- Answers of mutations that were sent with an idempotencyKey.
create table mutation_answers (
  team_id uuid not null references teams (id),
  idempotency_key text not null,
  request_hash bytea not null,
  answer jsonb,
  created_at timestamptz not null default now(),
  primary key (team_id, idempotency_key)
);
create index mutation_answers_age on mutation_answers (created_at);

-- Topics of the outbox that no worker takes work of, until an operator lets them go on.
create table paused_queues (
  topic text primary key,
  paused_by uuid not null,
  paused_at timestamptz not null default now()
);
