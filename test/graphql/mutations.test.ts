import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MutationAnswers } from '../../src/platform/graphql/index.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { ask } from './_client.ts';

let db: TestDb;
let api: TestApi;
let account: TestAccount;
let operator: TestAccount;
const clock = new ManualClock(Date.UTC(2026, 0, 15, 12));

beforeAll(async () => {
  db = await testDb();
  api = await startApi(db, { clock });
  account = await api.account();
  operator = await api.account({ operator: true });
});

afterAll(async () => {
  await api.close();
  await db.drop();
});

const mutate = async (text: string, as = account) => ask(api, `mutation { ${text} }`, { as });

const tagCount = async (): Promise<number> =>
  (await ask(api, '{ tags(first: 1) { totalCount } }', { as: account })).data.tags.totalCount as number;

describe('mutations', () => {
  it('answer what can be mended in the input as userErrors, with the field', async () => {
    const { data, errors } = await mutate(
      'createTag(input: {label: " ", color: "#fff"}) { tag { id } userErrors { field message code } }',
    );
    expect(errors).toBeUndefined();
    expect(data.createTag).toEqual({
      tag: null,
      userErrors: [
        { field: 'label', message: 'Tag must have at least 1 character', code: 'VALIDATION_ERROR' },
      ],
    });
  });

  it('answer everything else as errors with the code and status of REST', async () => {
    const gone = '00000000-0000-4000-8000-000000000000';
    const { code, errors } = await mutate(`deleteTag(input: {id: "${gone}"}) { tag { id } }`);
    expect([code, errors?.[0].extensions.status]).toEqual(['NOT_FOUND', 404]);
  });

  it('carry a contact from its making to its end', async () => {
    const created = await mutate(
      `createContact(input: {firstName: "Ada", phoneNumber: "(202) 555-0123", email: "ada@example.com"}) {
         contact { id contactId firstName phoneNumber dnc fieldData { type } } userErrors { message } }`,
    );
    expect(created.errors).toBeUndefined();
    const { contact } = created.data.createContact;
    expect(contact).toMatchObject({ firstName: 'Ada', phoneNumber: '+12025550123', dnc: false });
    expect(contact.contactId).toBe(contact.id);
    const tag = await mutate('createTag(input: {label: "Customer"}) { tag { id textColor } }');
    const tagged = await mutate(
      `addContactTag(input: {contactId: "${contact.id}", tagId: "${tag.data.createTag.tag.id}"}) {
         contact { tags { label } } }`,
    );
    expect(tagged.data.addContactTag.contact.tags).toEqual([{ label: 'Customer' }]);
    const noted = await mutate(
      `createNote(input: {contactId: "${contact.id}", note: "<b>Hi</b><script>x</script>"}) { note { note noteText user { role } } }`,
    );
    expect(noted.data.createNote.note).toEqual({
      ...{ note: '<b>Hi</b>', noteText: 'Hi', user: { role: 'OWNER' } },
    });
    await mutate(
      `createFollowUp(input: {contactId: "${contact.id}", scheduledAt: "2026-01-16T08:00:00Z"}) { followUp { id } }`,
    );
    await mutate('addDnc(input: {phoneNumbers: ["+12025550123"]}) { addition { contacts } }');
    const query = `{ contact(id: "${contact.id}") { dnc notes(first: 5) { nodes { noteText } }
      timeline(first: 5) { nodes { type } } followUps(first: 5) { nodes { status scheduledAt } } } }`;
    const { data, errors } = await ask(api, query, { as: account });
    expect(errors).toBeUndefined();
    expect(data.contact.dnc).toBe(true);
    expect(data.contact.followUps.nodes).toEqual([
      { status: 'PENDING', scheduledAt: '2026-01-16T08:00:00.000Z' },
    ]);
    expect(data.contact.timeline.nodes).toContainEqual({ type: 'tag_added' });
    const updated = await mutate(
      `updateContact(input: {id: "${contact.id}", company: "Example Ltd", email: null}) { contact { company email } }`,
    );
    expect(updated.data.updateContact.contact).toEqual({ company: 'Example Ltd', email: null });
    const deleted = await mutate(`deleteContact(input: {id: "${contact.id}"}) { contact { id } }`);
    expect(deleted.data.deleteContact.contact.id).toBe(contact.id);
  });

  it('connect carriers and set up email', async () => {
    const carrier = await mutate(
      `connectCarrier(input: {kind: SMTP, name: "Mail", settings: {host: "mail.example.com", username: "ada", password: "secret"}}) {
         carrier { id kind state endpoint } userErrors { field message } }`,
    );
    expect(carrier.data.connectCarrier.userErrors).toEqual([]);
    expect(carrier.data.connectCarrier.carrier).toMatchObject({ kind: 'SMTP', state: 'ACTIVE' });
    expect(JSON.stringify(carrier.data)).not.toContain('secret');
    const { id } = carrier.data.connectCarrier.carrier;
    const paused = await mutate(`updateCarrier(input: {id: "${id}", state: DRAINING}) { carrier { state } }`);
    expect(paused.data.updateCarrier.carrier.state).toBe('DRAINING');
    const domain = await mutate(
      'createSendingDomain(input: {domain: "mail.example.com"}) { sendingDomain { id verified records { type name value } } }',
    );
    const { sendingDomain } = domain.data.createSendingDomain;
    expect(sendingDomain.verified).toBe(false);
    expect(sendingDomain.records[0]).toMatchObject({
      type: 'TXT',
      name: expect.stringContaining('example.com'),
    });
    const mailbox = await mutate(
      'createMailbox(input: {title: "Sales", address: "sales@mail.example.com", displayName: "Ada"}) { mailbox { id address domain } }',
    );
    expect(mailbox.data.createMailbox.mailbox).toMatchObject({ domain: 'mail.example.com' });
  });

  it('let operators change an account, and its owner feel it', async () => {
    const fresh = await api.account();
    const changed = await mutate(
      `updateTeam(input: {teamId: "${fresh.teamId}", plan: TRIAL, features: [EMAIL], dunningTier: RESTRICTED, verified: false,
         concurrentSessions: 7}) { team { plan features dunningTier verified concurrentSessions } userErrors { message } }`,
      operator,
    );
    expect(changed.data.updateTeam.team).toEqual({
      ...{ plan: 'TRIAL', features: ['EMAIL'], dunningTier: 'RESTRICTED', verified: false },
      concurrentSessions: 7,
    });
    const unpaid = await mutate('createList(input: {name: "A"}) { list { id } }', fresh);
    expect([unpaid.code, unpaid.errors?.[0].extensions.details]).toEqual([
      'PAYMENT_REQUIRED',
      { dunning_tier: 'restricted' },
    ]);
    const funds = await mutate(
      `addFunds(input: {teamId: "${fresh.teamId}", amount: "12.50"}) { team { balance { balance } } }`,
      operator,
    );
    expect(funds.data.addFunds.team.balance.balance).toBe('112.50');
    const price = await mutate(
      `setPrice(input: {teamId: "${fresh.teamId}", productCode: "detection", price: "0.001"}) { price { price isDefault } }`,
      operator,
    );
    expect(price.data.setPrice.price).toEqual({ price: '0.001', isDefault: false });
    await mutate(`updateTeam(input: {teamId: "${fresh.teamId}", suspended: true}) { team { id } }`, operator);
    expect((await ask(api, '{ me { kind } }', { as: fresh })).code).toBe('FORBIDDEN');
  });
});

describe('idempotencyKey', () => {
  it('answers the same for the same key and input, and does it once', async () => {
    const before = await tagCount();
    const text =
      'createTag(input: {label: "Once", idempotencyKey: "k1"}) { tag { id createdAt } userErrors { code } }';
    const first = await mutate(text);
    const second = await mutate(text);
    const reordered = await mutate(
      'createTag(input: {idempotencyKey: "k1", label: "Once"}) { tag { id createdAt } userErrors { code } }',
    );
    expect(first.errors).toBeUndefined();
    expect([second.data, reordered.data]).toEqual([first.data, first.data]);
    expect(await tagCount()).toBe(before + 1);
  });

  it('answers the same to those who come at the same time', async () => {
    const before = await tagCount();
    const text = 'createTag(input: {label: "Race", idempotencyKey: "k2"}) { tag { id } }';
    const answers = await Promise.all(Array.from({ length: 8 }, () => mutate(text)));
    expect(new Set(answers.map(({ data }) => data.createTag.tag.id)).size).toBe(1);
    expect(await tagCount()).toBe(before + 1);
  });

  it('is a conflict for another input, another mutation and another credential', async () => {
    await mutate('createTag(input: {label: "First", idempotencyKey: "k3"}) { tag { id } }');
    const others = [
      mutate('createTag(input: {label: "Other", idempotencyKey: "k3"}) { tag { id } }'),
      mutate('createList(input: {name: "First", idempotencyKey: "k3"}) { list { id } }'),
    ];
    const { key, secret } = await api.services.apiKeys.create(account.caller, {});
    const text = 'createTag(input: {label: "First", idempotencyKey: "k3"}) { tag { id } }';
    others.push(ask(api, `mutation { ${text} }`, { as: { key, secret } }));
    for (const { code, errors } of await Promise.all(others)) {
      expect([code, errors?.[0].extensions.status]).toEqual(['CONFLICT', 409]);
    }
  });

  it('is free again after an error, and is the own of each account', async () => {
    const gone = '00000000-0000-4000-8000-000000000000';
    const failing = `deleteTag(input: {id: "${gone}", idempotencyKey: "k4"}) { tag { id } }`;
    expect((await mutate(failing)).code).toBe('NOT_FOUND');
    const text = 'createTag(input: {label: "Fourth", idempotencyKey: "k4"}) { tag { id } }';
    expect((await mutate(text)).errors).toBeUndefined();
    const other = await api.account();
    expect((await mutate(text, other)).errors).toBeUndefined();
  });

  it('shows a secret again to who got it, and keeps it encrypted', async () => {
    const text = 'createApiKey(input: {name: "Shown", idempotencyKey: "k5"}) { apiKey { id secret } }';
    const first = await mutate(text);
    expect((await mutate(text)).data).toEqual(first.data);
    const { secret } = first.data.createApiKey.apiKey as { secret: string };
    const { rows } = await db.db.query<{ answer: string }>(
      `select answer::text from mutation_answers where idempotency_key = 'k5'`,
    );
    expect(rows[0]?.answer.length).toBeGreaterThan(10);
    expect(rows[0]?.answer).not.toContain(secret);
  });

  it('is refused when it is no key', async () => {
    for (const key of ['', 'x'.repeat(256), 'ü']) {
      const { code } = await mutate(
        `createTag(input: {label: "A", idempotencyKey: "${key}"}) { tag { id } }`,
      );
      expect(code).toBe('VALIDATION_ERROR');
    }
  });

  it('is forgotten after 24 hours', async () => {
    const answers = new MutationAnswers(api.services);
    await mutate('createTag(input: {label: "Day", idempotencyKey: "k6"}) { tag { id } }');
    expect(await answers.deleteOld()).toBe(0);
    clock.advance(86_400_001);
    const again = await mutate(
      'createTag(input: {label: "Other day", idempotencyKey: "k6"}) { tag { label } }',
    );
    expect(again.data.createTag.tag.label).toBe('Other day');
    expect(await answers.deleteOld()).toBeGreaterThan(0);
    const { rows } = await db.db.query('select 1 from mutation_answers');
    expect(rows).toHaveLength(1);
  });
});

describe('errors', () => {
  it('that are bugs say nothing of themselves and are logged once, with the id of the request', async () => {
    const lines: unknown[] = [];
    const broken = await startApi(db, {
      logger: { ...silentLogger, error: (fields) => void lines.push(fields) },
      services: ({ tags }) => ({
        tags: Object.assign(Object.create(tags) as typeof tags, {
          list: async () => {
            throw new Error('secret detail');
          },
        }),
      }),
    });
    try {
      const answer = await ask(broken, '{ tags(first: 1) { nodes { id } } }', { as: account });
      expect(answer.errors?.[0]).toMatchObject({
        message: 'Something went wrong.',
        extensions: { code: 'SERVER_ERROR', status: 500 },
      });
      expect(JSON.stringify(answer.errors)).not.toContain('secret detail');
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({ request_id: answer.errors?.[0].extensions.requestId });
    } finally {
      await broken.close();
    }
  });
});
