import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../src/kernel/caller.ts';
import { adminSchema } from '../../src/main/graphql/admin.ts';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { ask } from './_client.ts';
import { callOf, rootFields } from './_fields.ts';
import type { Given, RootField } from './_fields.ts';
import { digestOf, furnish, Keyring } from './_world.ts';
import type { Objects } from './_world.ts';

/** For every field that names objects: the one of another account that it is given, by noun. */
const NAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  team: { id: 'team' },
  contact: { id: 'contact' },
  detectionSession: { id: 'session' },
  webhookDelivery: { id: 'delivery' },
  addContactTag: { contactId: 'contact', tagId: 'tag' },
  removeContactTag: { contactId: 'contact', tagId: 'tag' },
  addListMembers: { listId: 'list', contactIds: 'contact' },
  removeListMembers: { listId: 'list', contactIds: 'contact' },
  moveContact: { contactId: 'contact', fromListId: 'list', toListId: 'otherList' },
  cancelFollowUp: { id: 'followUp' },
  updateFollowUp: { id: 'followUp' },
  completeTask: { id: 'task' },
  createContact: { listIds: 'list' },
  importContacts: { listIds: 'list' },
  createFollowUp: { contactId: 'contact' },
  createNote: { contactId: 'contact' },
  grantConsent: { contactId: 'contact' },
  revokeConsent: { contactId: 'contact' },
  setContactDisposition: { contactId: 'contact' },
  setContactOwner: { contactId: 'contact', ownerId: 'user' },
  updateContact: { id: 'contact' },
  deleteContact: { id: 'contact' },
  updateList: { id: 'list' },
  deleteList: { id: 'list' },
  updateTag: { id: 'tag' },
  deleteTag: { id: 'tag' },
  deleteApiKey: { id: 'apiKey' },
  revokeDetectionKey: { id: 'detectionKey' },
  updateCarrier: { id: 'carrier' },
  disconnectCarrier: { id: 'carrier' },
  updateBrand: { id: 'brand' },
  updateLine: { id: 'line' },
  deleteLine: { id: 'line' },
  updateTemplate: { id: 'template' },
  deleteTemplate: { id: 'template' },
  deleteMedia: { id: 'media' },
  verifySendingDomain: { id: 'domain' },
  updateUser: { id: 'user' },
  updateWebhook: { id: 'webhook' },
  deleteWebhook: { id: 'webhook' },
  rotateWebhookSecret: { id: 'webhook' },
  testWebhook: { id: 'webhook' },
  replayWebhookDelivery: { webhookId: 'webhook', id: 'delivery' },
  replayWebhookRange: { webhookId: 'webhook' },
  rotateMailWebhookSecret: { carrierId: 'carrier' },
  send: { id: 'send' },
};
/** Skips what it does not find, as in REST. */
const SKIPPING = new Set(['deleteTags', 'dncEntries', 'addDnc', 'removeDnc']);
/** What an update changes, so that it is about the object alone. */
const CHANGES: Given = {
  'updateContact.firstName': 'Grace',
  'updateWebhook.name': 'Other',
  'updateCarrier.name': 'Other',
  'updateUser.displayName': 'Grace',
  'updateBrand.companyName': 'Other Ltd',
  'updateLine.name': 'Other',
  'updateTemplate.name': 'Other',
  'updateFollowUp.description': 'Other',
  'createContact.firstName': 'Ada',
  'createContact.phoneNumber': '+12025550123',
  'send.id': '00000000-0000-7000-8000-000000000000',
  'dncEntries.emails': ['ada@example.com'],
};

let db: TestDb;
let api: TestApi;
let owner: TestAccount;
let other: TestAccount;
let objects: Objects;
let fields: RootField[];
let keys: Keyring;
let calls = 0;

/** Each call comes from an address of its own, so that guesses of other calls do not count against it. */
const from = (): Record<string, string> => {
  calls += 1;
  return { 'x-forwarded-for': `203.0.${calls >> 8}.${calls & 255}` };
};

const call = (field: RootField, of: { as?: { key: string; secret: string }; given?: Given }) => {
  const { query, variables } = callOf(field, of.given);
  return ask(api, query, { ...(of.as ? { as: of.as } : {}), variables, headers: from() });
};

beforeAll(async () => {
  db = await testDb();
  api = await startApi(db, { env: { TRUST_PROXY: '127.0.0.1' } });
  owner = await api.account({ name: 'Owner Ltd' });
  other = await api.account({ name: 'Other Ltd' });
  objects = await furnish(db, api, owner);
  fields = rootFields(adminSchema(api.services));
  keys = new Keyring(api, other);
});

afterAll(async () => {
  await api.close();
  await db.drop();
});

describe('who may call what', () => {
  it('refuses every field without a credential, and with a wrong one', async () => {
    const before = await digestOf(db, owner.teamId);
    for (const field of fields) {
      const wrong = { key: `tgk_${randomBytes(16).toString('hex')}`, secret: 'wrong' };
      expect([field.name, (await call(field, {})).code]).toEqual([field.name, 'UNAUTHORIZED']);
      expect([field.name, (await call(field, { as: wrong })).code]).toEqual([field.name, 'UNAUTHORIZED']);
    }
    expect(await digestOf(db, owner.teamId)).toBe(before);
  });

  it('refuses every field to a key that has all scopes but its own, and changes nothing', async () => {
    const scoped = fields.filter(({ scopes, isForOperators }) => scopes.length > 0 && !isForOperators);
    const made = new Map<string, { key: string; secret: string }>();
    for (const { scopes } of scoped) made.set(scopes.join(), await keys.without(scopes));
    const before = await digestOf(db, other.teamId);
    for (const field of scoped) {
      const as = made.get(field.scopes.join()) as { key: string; secret: string };
      const { code, errors } = await call(field, { as, given: CHANGES });
      expect([field.name, code]).toEqual([field.name, 'INSUFFICIENT_SCOPE']);
      expect(errors?.[0].extensions.status).toBe(403);
    }
    expect(await digestOf(db, other.teamId)).toBe(before);
  });

  it('opens every field to a key with its scope alone', async () => {
    for (const field of fields.filter(({ isForOperators }) => !isForOperators)) {
      for (const scope of field.scopes.length === 0 ? ['chat:read'] : field.scopes) {
        const { code } = await call(field, { as: await keys.with([scope as Scope]), given: CHANGES });
        expect([field.name, scope, code ?? 'fine']).toEqual([
          ...[field.name, scope],
          expect.stringMatching(/^(fine|NOT_FOUND|CONFLICT|BYOC_REQUIRED)$/),
        ]);
      }
    }
  });

  it('keeps what is for operators from everybody else', async () => {
    const before = await digestOf(db, other.teamId);
    for (const field of fields.filter(({ isForOperators }) => isForOperators)) {
      const given = { [`${field.name}.teamId`]: other.teamId };
      expect([field.name, (await call(field, { as: other, given })).code]).toEqual([field.name, 'FORBIDDEN']);
    }
    expect(await digestOf(db, other.teamId)).toBe(before);
  });
});

describe("another account's objects", () => {
  it('are not found by their ids, and nothing changes', async () => {
    const before = await digestOf(db, owner.teamId);
    for (const field of fields) {
      const named = NAMED[field.name];
      if (!named) continue;
      const ids = Object.entries(named).map(([path, noun]) => [
        `${field.name}.${path}`,
        path.endsWith('Ids') ? [objects[noun]] : objects[noun],
      ]);
      const given = { ...CHANGES, ...(Object.fromEntries(ids) as Given) };
      expect([field.name, (await call(field, { as: other, given })).code]).toEqual([field.name, 'NOT_FOUND']);
    }
    expect(await digestOf(db, owner.teamId)).toBe(before);
  });

  it('are not found by naming the account', async () => {
    const before = await digestOf(db, owner.teamId);
    for (const field of fields.filter(
      ({ name, field: { args } }) => takesTeam(args) && name !== 'setPrice',
    )) {
      const given = { ...CHANGES, [`${field.name}.teamId`]: owner.teamId };
      expect([field.name, (await call(field, { as: other, given })).code]).toEqual([field.name, 'NOT_FOUND']);
    }
    expect(await digestOf(db, owner.teamId)).toBe(before);
  });

  it('cover every field that names an object', () => {
    const naming = fields.filter(({ name, field }) => namesObjects(field.args) && !SKIPPING.has(name));
    const judged = naming.filter(({ isForOperators }) => !isForOperators).map(({ name }) => name);
    expect(judged.filter((name) => !(name in NAMED)).sort()).toEqual([]);
  });
});

type Args = RootField['field']['args'];

const inputFields = (args: Args): { name: string; type: string }[] =>
  args.flatMap((arg) => {
    const input = arg.type as unknown as { ofType?: { getFields?: () => Record<string, unknown> } };
    const inner = input.ofType?.getFields?.();
    return inner
      ? Object.values(inner).map((field) => {
          const { name, type } = field as { name: string; type: unknown };
          return { name, type: String(type) };
        })
      : [{ name: arg.name, type: String(arg.type) }];
  });

const takesTeam = (args: Args): boolean => inputFields(args).some(({ name }) => name === 'teamId');

const namesObjects = (args: Args): boolean =>
  inputFields(args).some(({ name, type }) => name !== 'teamId' && /ID!/.test(type));
