import type { Scope } from '../../src/kernel/caller.ts';
import { SCOPES } from '../../src/kernel/caller.ts';
import { systemIds } from '../../src/kernel/ids.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import type { TestDb } from '../_util/index.ts';

/** One of each object of an account, by its noun. */
export type Objects = Readonly<Record<string, string>>;

const HOUR_MS = 3_600_000;

/** Makes one of each object that can be made, over the services. */
export async function furnish(db: TestDb, api: TestApi, account: TestAccount): Promise<Objects> {
  const { caller, teamId } = account;
  const s = api.services;
  const made = await s.contactImport.create(caller, {
    named: { first_name: 'Ada', phone_number: '+12025550123', email: 'ada@example.com' },
  });
  const contact = made.inserted[0] ?? '';
  const list = await s.lists.create(caller, { name: 'Newsletter' });
  const other = await s.lists.create(caller, { name: 'Prospects' });
  await s.lists.add(caller, list.listId, [contact]);
  const tag = await s.tags.create(caller, { label: 'Customer' });
  await s.contactTags.add(caller, contact, tag.tagId);
  await s.notes.create(caller, contact, { note: 'Called back.' });
  const scheduledAt = s.clock.nowMs() + HOUR_MS;
  const followUp = await s.followUps.create(caller, contact, { scheduledAt, description: 'Call' });
  await s.consents.grant(caller, contact, {
    ...{ consentType: 'sms_optin', phoneNumber: '+12025550123' },
    ...{ consentText: 'I agree.', consentMethod: 'phone' },
  });
  await s.dnc.add(caller, { email: 'grace@example.com' });
  const apiKey = await s.apiKeys.create(caller, { name: 'Second key' });
  const detectionKey = await s.detectionKeys.create(caller, { name: 'Second key' });
  const carrier = await s.carriers.connect(caller, { kind: 'simulator', name: 'Simulator' });
  const brand = await s.lookups.brands.create(caller, { companyName: 'Example Ltd' });
  const line = await s.lookups.lines.create(caller, { name: 'Front desk', type: 'voice' });
  const template = await s.lookups.templates.create(caller, {
    ...{ type: 'email', name: 'Welcome', subject: 'Hello', html: '<p>Hello</p>' },
  });
  const domain = await s.lookups.domains.create(caller, { domain: `${teamId.slice(0, 8)}.example.com` });
  const rows = await insertRows(db, account, { contact, key: detectionKey.keyId });
  return {
    ...{ contact, list: list.listId, otherList: other.listId, tag: tag.tagId },
    ...{ followUp: followUp.followupId, apiKey: apiKey.keyId, detectionKey: detectionKey.keyId },
    ...{ carrier: carrier.carrierId, brand: brand.brandId, line: line.lineId },
    ...{ template: template.templateId, domain: domain.domainId, user: account.ownerId, team: teamId },
    ...rows,
  };
}

/** What only the gateway, the worker or an upload would make. */
async function insertRows(
  { db }: TestDb,
  account: TestAccount,
  of: { contact: string; key: string },
): Promise<Objects> {
  const { teamId, ownerId } = account;
  const id = async (sql: string, values: unknown[]): Promise<string> => {
    const { rows } = await db.query<{ id: string }>(`${sql} returning id`, values);
    return rows[0]?.id ?? '';
  };
  const task = await id(
    `insert into inbox_tasks (id, team_id, contact_id, description, description_text, assigned_to, assigned_type, due_at)
     values (gen_random_uuid(), $1, $2, 'Call', 'Call', $3, 'user', now())`,
    [teamId, of.contact, ownerId],
  );
  const session = await insertSession(db, { teamId, keyId: of.key });
  const webhook = await id(
    `insert into webhook_subscriptions (id, team_id, name, hook_url, event_types, secret_ciphertext, secret_created_at, created_by)
     values (gen_random_uuid(), $1, 'Hook', 'https://example.com/hook', '{contact.*}', 'none', now(), $2)`,
    [teamId, ownerId],
  );
  const delivery = await id(
    `insert into webhook_deliveries (id, team_id, kind, source_id, sequence, event, url, body, signing_key_id, state,
       attempts, created_at, event_id)
     values (gen_random_uuid(), $1, 'subscription', $2, 1, 'contact.created', 'https://example.com/hook', '{}', $2,
       'failed', 1, now(), gen_random_uuid())`,
    [teamId, webhook],
  );
  await db.query(
    `insert into webhook_attempts (delivery_id, attempt, team_id, started_at, duration_ms, status_code)
     values ($1, 1, $2, now(), 12, 500)`,
    [delivery, teamId],
  );
  const send = await id(
    `insert into sends (id, team_id, channel, request, created_by, contact_id, phone_number, created_at)
     values ($2, $1, 'sms', '{}', $4, $3, '+12025550123', now())`,
    [teamId, systemIds.timed(Date.now()), of.contact, ownerId],
  );
  const media = await id(
    `insert into media (id, team_id, name, type, created_by) values (gen_random_uuid(), $1, 'Hello', 'audio', $2)`,
    [teamId, ownerId],
  );
  return { task, session, webhook, delivery, media, send };
}

/** A session that ended with a verdict, with its events. */
export async function insertSession(
  db: TestDb['db'],
  of: { teamId: string; keyId: string; verdict?: string; firstMs?: number; startedAt?: Date },
): Promise<string> {
  const { teamId, keyId, verdict = 'voicemail', firstMs = 2_500, startedAt = new Date() } = of;
  const { rows } = await db.query<{ id: string }>(
    `insert into detection_sessions (id, team_id, key_id, process_id, source, strategy, audio_encoding, sample_rate_hz,
       state, verdict, verdict_final, confidence, beep_at_ms, audio_ms, started_at, ended_at, end_reason)
     values (gen_random_uuid(), $1, $2, gen_random_uuid(), 'ws', 'standard', 'mulaw', 8000, 'ended', $3, true, 0.9, 4000,
       12000, $4, $4, 'stop') returning id`,
    [teamId, keyId, verdict, startedAt],
  );
  const id = rows[0]?.id ?? '';
  await db.query(
    `insert into detection_events (session_id, sequence, team_id, event, timestamp_ms, payload, created_at)
     select $1, n, $2, e, t, p::jsonb, $3::timestamptz + t * interval '1 millisecond'
     from (values (1, 'ready', 0, '{}'), (2, 'detection', $4::int, '{"is_final": true, "evidence": {"speech_ms": 900}}'))
       as v (n, e, t, p)`,
    [id, teamId, startedAt, firstMs],
  );
  return id;
}

/** Keys of one account by the scopes they hold. */
export class Keyring {
  readonly #api: TestApi;
  readonly #account: TestAccount;
  readonly #made = new Map<string, { key: string; secret: string }>();

  constructor(api: TestApi, account: TestAccount) {
    this.#api = api;
    this.#account = account;
  }

  async with(scopes: readonly Scope[]): Promise<{ key: string; secret: string }> {
    const name = scopes.join(' ');
    const known = this.#made.get(name);
    if (known) return known;
    const { key, secret } = await this.#api.services.apiKeys.create(this.#account.caller, {
      scopes: [...scopes],
    });
    this.#made.set(name, { key, secret });
    return { key, secret };
  }

  without(scopes: readonly string[]): Promise<{ key: string; secret: string }> {
    return this.with(SCOPES.filter((one) => !scopes.includes(one)));
  }
}

/** A digest of all rows of an account; what reading changes (use of keys) is left out. */
export async function digestOf({ db }: TestDb, teamId: string): Promise<string> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'team_id' order by 1`,
  );
  const parts: string[] = [];
  for (const { name } of tables) {
    const row = `to_jsonb(t) - 'last_used_at' - 'request_count'`;
    const { rows } = await db.query<{ digest: string | null }>(
      `select md5(string_agg((${row})::text, '' order by (${row})::text)) as digest from ${name} t where team_id = $1`,
      [teamId],
    );
    parts.push(`${name} ${rows[0]?.digest ?? ''}`);
  }
  return parts.join('\n');
}
