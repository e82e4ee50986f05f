import { randomInt, randomUUID } from 'node:crypto';
import type { RouteSpec } from '../../src/platform/http/index.ts';
import type { TestAccount } from '../_util/index.ts';
import { wavOf } from './audio.ts';
import { mailbox } from './requests.ts';
import type { ContractWorld } from './world.ts';

/** What examples write where an id of the reader's own belongs. */
const PLACEHOLDER = '00000000-0000-4000-8000-';
const HOUR_MS = 3_600_000;

type Make = (world: ContractWorld, account: TestAccount) => Promise<string>;

const contact: Make = async (world, account) => {
  const phone_number = `+1202555${String(randomInt(100, 200)).padStart(4, '0')}`;
  const email = `${randomUUID()}@example.com`;
  const data = await world.made(account, '/contact/public/contacts', {
    ...{ first_name: 'Ada', last_name: 'Example', email, conflict_mode: 'overwrite' },
    ...(randomInt(2) === 0 ? {} : { company: `Example ${phone_number}` }),
  });
  return data.inserted[0].contact_id;
};

const list: Make = async (world, account) =>
  (await world.made(account, '/contact/public/lists', { list_name: 'List' })).list_id;

const tag: Make = async (world, account) =>
  (await world.made(account, '/tag/public/tags', { label: 'Tag' })).tag_id;

const followUp: Make = async (world, account) => {
  const contactId = await contact(world, account);
  const body = { scheduled_at: Date.now() + HOUR_MS };
  return (await world.made(account, `/contact/public/contacts/${contactId}/follow-ups`, body)).followup_id;
};

const task: Make = async (world, account) => {
  const [id, contactId] = [randomUUID(), await contact(world, account)];
  await world.sql(
    `insert into inbox_tasks (id, team_id, contact_id, assigned_to, assigned_type, due_at)
     values ($1, $2, $3, $4, 'user', now())`,
    [id, account.teamId, contactId, account.ownerId],
  );
  return id;
};

const webhook: Make = async (world, account) => {
  const body = { hook_url: 'https://hooks.example.com/outreach', event_types: ['contact.*'] };
  return (await world.made(account, '/register/public/webhooks', body)).webhook_id;
};

const delivery = async (world: ContractWorld, account: TestAccount, webhookId: string): Promise<string> => {
  const id = randomUUID();
  await world.sql(
    `insert into webhook_deliveries (id, team_id, kind, source_id, sequence, event, url, body, signing_key_id,
       state, created_at, finished_at, event_id)
     values ($1, $2, 'subscription', $3, 1, 'contact.created', 'https://hooks.example.com/outreach', '{}', $3,
       'failed', now(), now(), $4)`,
    [id, account.teamId, webhookId, randomUUID()],
  );
  return id;
};

const line: Make = async (world, account) =>
  (await world.made(account, '/phone/public/lines', { name: 'Line', type: 'voice' })).phone_line_id;

interface MadeMedia {
  readonly media_id: string;
  readonly upload: { readonly wav: { readonly url: string; readonly content_type: string } };
}

const media = (world: ContractWorld, account: TestAccount): Promise<MadeMedia> =>
  world.made(account, '/media/public/media', { name: 'Greeting', type: 'audio', signed_upload: true });

const uploadedMedia: Make = async (world, account) => {
  const made = await media(world, account);
  const answer = await fetch(made.upload.wav.url, {
    method: 'PUT',
    headers: { 'content-type': made.upload.wav.content_type },
    body: wavOf(),
  });
  if (!answer.ok) throw new Error(`upload: ${answer.status} ${await answer.text()}`);
  return made.media_id;
};

const call: Make = async (world, account) => {
  const [id, recording] = [randomUUID(), randomUUID()];
  await world.api.services.files.kept.put(recording, [wavOf()], { bytesMax: 1_000_000 });
  await world.sql(
    `insert into calls (id, team_id, phone_number, direction, answered, started_at, recording_key)
     values ($1, $2, '+12025550123', 'outbound', true, now(), $3)`,
    [id, account.teamId, recording],
  );
  return id;
};

const template: Make = async (world, account) => {
  const body = { type: 'email', name: 'Welcome', subject: 'Welcome', html: '<p>Hello</p>' };
  return (await world.made(account, '/template/public/templates', body)).template_id;
};

/** Who owns what a path names, by the name of the parameter. */
const PARAMS: Readonly<Record<string, Make>> = {
  contact_id: contact,
  list_id: list,
  tag_id: tag,
  followup_id: followUp,
  task_id: task,
  webhook_id: webhook,
  phone_line_id: line,
  template_id: template,
  call_id: call,
  message_id: async (world, account) =>
    (await world.api.request('POST', '/sms', { as: account, body: { to: '+15550020001', body: 'Hello.' } }))
      .body.message_id,
  media_id: uploadedMedia,
  brand_id: async (world, account) =>
    (await world.made(account, '/automation/public/brands', { company_name: 'Example Ltd' })).brand_id,
  long_job_id: async (world, account) =>
    (await world.made(account, '/phone/public/numbers/import', { phone_numbers: ['+12025550123'] }))
      .long_job_id,
};

/** Paths whose parts belong together, and what must be there for a route beyond its ids. */
const OPERATIONS: Readonly<
  Record<string, (world: ContractWorld, account: TestAccount) => Promise<Record<string, string>>>
> = {
  deleteApiKey: async (world, account) => ({ key_id: (await world.key(account, ['contacts:read'])).keyId }),
  revokeDetectionKey: async (world, account) => ({
    key_id: (await world.made(account, '/register/public/detection-keys', {})).key_id,
  }),
  removeContactTag: async (world, account) => {
    const [contact_id, tag_id] = [await contact(world, account), await tag(world, account)];
    await world.made(account, `/contact/public/contacts/${contact_id}/tags/${tag_id}`);
    return { contact_id, tag_id };
  },
  replayWebhookDelivery: async (world, account) => {
    const webhook_id = await webhook(world, account);
    return { webhook_id, delivery_id: await delivery(world, account, webhook_id) };
  },
  uploadMedia: async (world, account) => {
    const { upload } = await media(world, account);
    const [token, format] = new URL(upload.wav.url).pathname.split('/').reverse();
    return { format: format ?? '', token: token ?? '' };
  },
  playAudio: async (world, account) => {
    const body = { voice_id: 'en-us', text: 'Hello.' };
    const { audio_url } = await world.made(account, '/voice/public/tts/synthesize', body);
    return { token: new URL(audio_url).pathname.split('/').at(-1) ?? '' };
  },
  moveContactBetweenLists: async (world, account) => {
    const [contact_id, from_list_id] = [await contact(world, account), await list(world, account)];
    const path = `/contact/public/lists/${from_list_id}/contacts`;
    await world.made(account, path, { contact_ids: [contact_id] });
    return { contact_id, from_list_id };
  },
  revokeConsent: async (world, account) => {
    const contact_id = await contact(world, account);
    await world.made(account, `/contact/public/contacts/${contact_id}/consent`, {
      ...{ consent_type: 'sms_optin', phone_number: '+12025550123' },
      ...{ consent_text: 'I agree.', consent_method: 'paper' },
    });
    return { contact_id };
  },
  replyToText: async (world, account) => {
    const made = await world.made(account, '/contact/public/contacts', {
      ...{ first_name: 'Ada', phone_number: '+12025550123', region: 'US' },
    });
    return { contact_id: made.inserted[0].contact_id };
  },
  getDncNumber: listed,
  getDncEmail: listed,
};

async function listed(world: ContractWorld, account: TestAccount): Promise<Record<string, string>> {
  const body = { phone_number: '+12025550123', email: 'ada@example.com' };
  await world.made(account, '/dnc/public/dnc', body);
  return {};
}

/** Params of a route with ids that the account has; made anew each time, since a route may use them up. */
export async function paramsOf(
  world: ContractWorld,
  spec: RouteSpec,
  account: TestAccount,
): Promise<Record<string, string>> {
  const own = OPERATIONS[spec.operationId];
  const params: Record<string, string> = own ? await own(world, account) : {};
  for (const [, name = ''] of spec.path.matchAll(/\{(\w+)\}/g)) {
    const make = PARAMS[name];
    if (params[name] === undefined && make) params[name] = await make(world, account);
    if (params[name] === undefined && spec.example?.params?.[name] === undefined)
      throw new Error(`${spec.operationId}: nothing makes ${name}`);
  }
  return params;
}

const BODY_IDS: Readonly<Record<string, Make>> = {
  contact_ids: contact,
  tag_ids: tag,
  from_list_id: list,
  to_list_id: list,
  owner_id: async (_world, account) => account.ownerId,
  template_id: template,
};

/** Operations that send email need a mailbox of the account, which stands for an address that its example shows. */
const MAILED = new Set(['sendEmail', 'sendTemplateEmail']);

/** The example's body, where the placeholder gives way to ids that the account has. */
export async function bodyOf(
  world: ContractWorld,
  spec: RouteSpec,
  of: { account: TestAccount; params: Readonly<Record<string, string>> },
): Promise<{ body: unknown; headers: Record<string, string> }> {
  if (spec.bodyKind === 'raw') return { body: wavOf(), headers: { 'content-type': 'audio/wav' } };
  const example = structuredClone(spec.example?.body) as Record<string, unknown> | undefined;
  if (example && MAILED.has(spec.operationId)) {
    delete example['from'];
    example['mailbox_id'] = await mailbox(world, of.account);
  }
  for (const [name, value] of Object.entries(example ?? {})) {
    if (!JSON.stringify(value).includes(PLACEHOLDER)) continue;
    const make = BODY_IDS[name];
    if (!make || !example) throw new Error(`${spec.operationId}: nothing makes ${name}`);
    const id = of.params[name] ?? (await make(world, of.account));
    example[name] = Array.isArray(value) ? [id] : id;
  }
  return { body: example, headers: {} };
}
