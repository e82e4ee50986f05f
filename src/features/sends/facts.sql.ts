/** Sends by id and account. $1 accounts · $2 ids */
export const LOAD_SQL = `
select s.id, s.team_id, s.channel, s.version, s.state, s.request, s.accept_code, s.attempt, s.carrier_id, s.attempted_at,
  s.expires_at, s.created_at
from unnest($1::uuid[], $2::uuid[]) as w (team_id, id)
join sends s on s.id = w.id and s.team_id = w.team_id`;

/**
 * What requests name and what rules look at, for many sends in one statement. $1: a JSON array of what each asks for
 * (\`FactsWish\`, in snake_case).
 *
 * A contact is the one that was named, else the one with the number. A line is the one that was named, else the default
 * of its kind; of its numbers a contact always sees the same one. An entry of the do-not-contact list counts for every
 * brand or for the send's: the brand that was named, else the line's.
 */
export const FACTS_SQL = `
select w.ord, t.test_mode, t.region as team_region, t.plan <> 'inactive' and t.dunning_tier is null as is_paid,
  b.balance_micros - b.reserved_micros as available_micros,
  c.record as contact, n.phone_number, l.id as line_id, l.type as line_type,
  (select p.phone_number from phone_numbers p where p.team_id = w.team_id and p.phone_line_id = l.id
    order by hashtext(p.phone_number || n.phone_number), p.phone_number limit 1) as own_number,
  br.id as brand_id, br.api_allowed, coalesce(br.texting_campaign_status, lb.texting_campaign_status) as texting_campaign,
  (select jsonb_object_agg(m.id, case when m.state = 'ready' then m.storage_key end) from media m
    where m.team_id = w.team_id and m.id = any(w.media_ids)) as media,
  exists (select 1 from agents a where a.team_id = w.team_id and a.id = w.agent_id and a.published_version is not null)
    as has_agent,
  coalesce(br.id, l.brand_id) as send_brand_id,
  exists (select 1 from dnc_entries d where d.team_id = w.team_id and d.phone_number = n.phone_number
    and (d.brand_id is null or d.brand_id = coalesce(br.id, l.brand_id))) as is_listed,
  (select count(*) from contact_attempts a where a.team_id = w.team_id and a.phone_number = n.phone_number
    and a.at > w.since) as attempts,
  (select case when bool_or(k.revoked_at is null) then 'granted' when count(*) > 0 then 'revoked' else 'missing' end
    from consents k where k.team_id = w.team_id and k.phone_number = n.phone_number
    and k.consent_type = w.consent_type) as opt_in,
  (select p.price_micros from prices p where p.product_code = w.product and (p.team_id = w.team_id or p.team_id is null)
    order by p.team_id is null limit 1) as price_micros,
  (select p.price_micros from prices p where p.product_code = 'tts' and (p.team_id = w.team_id or p.team_id is null)
    order by p.team_id is null limit 1) as speech_price_micros
from jsonb_to_recordset($1::jsonb) as w (ord int, team_id uuid, phone_number text, contact_id uuid, line_id uuid,
  line_type text, brand_id uuid, agent_id uuid, media_ids uuid[], since timestamptz, consent_type text, product text)
join teams t on t.id = w.team_id
join balances b on b.team_id = w.team_id
left join lateral (
  select row_to_json(x) as record, x.* from contacts x where x.team_id = w.team_id and x.id = w.contact_id
  union all
  select row_to_json(x) as record, x.* from contacts x
  where w.contact_id is null and x.team_id = w.team_id and x.phone_number = w.phone_number
  union all
  select row_to_json(x) as record, x.* from contacts x
  where w.contact_id is null and x.team_id = w.team_id and x.phone_numbers @> array[w.phone_number]
  limit 1
) c on true
cross join lateral (
  select coalesce(w.phone_number, c.phone_number, c.mobile_phone, c.main_phone, c.phone_numbers[1]) as phone_number
) n
left join lateral (
  select x.id, x.type, x.brand_id from phone_lines x
  where x.team_id = w.team_id and (x.id = w.line_id or (w.line_id is null and x.is_default and x.type = w.line_type))
  limit 1
) l on true
left join brands br on br.team_id = w.team_id and br.id = w.brand_id
left join brands lb on lb.team_id = w.team_id and lb.id = l.brand_id
order by w.ord`;
