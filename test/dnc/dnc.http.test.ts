import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, testDb } from '../_util/index.ts';
import type { TestAccount, TestApi, TestDb } from '../_util/index.ts';

const A = '+12025550101';
const B = '+12025550102';
const PATH = '/dnc/public/dnc';
const one = (number: string): string => `${PATH}/${encodeURIComponent(number)}`;
const ofEmail = (email: string): string => `${PATH}/email/${encodeURIComponent(email)}`;
const UPDATED = { acknowledged: true, matchedCount: 0, modifiedCount: 0, upsertedId: null, upsertedCount: 0 };

describe('The do-not-contact list over REST', () => {
  let database: TestDb;
  let api: TestApi;
  let as: TestAccount;

  beforeAll(async () => {
    database = await testDb();
    api = await startApi(database);
    as = await api.account();
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  it('has the seven routes of the contract, with its answers', async () => {
    const body = { phone_number: [A, B], email: 'Ada@example.com', reason: 'asked', method: 'crm', other: 1 };
    const added = await api.request('POST', PATH, { as, body });
    expect(added.status).toBe(201);
    expect(added.data).toEqual([
      ...[{ success: true }, UPDATED, { success: true }, UPDATED, { success: true }, UPDATED],
    ]);
    const again = await api.request('POST', PATH, { as, body: { phone_number: A } });
    expect(again.data).toEqual([
      ...[{ success: true }, UPDATED],
      { information_message: expect.any(String) as string },
    ]);
    const entry = {
      ...{ brand_id: null, phone_number: A, email: null, method: 'api', reason: 'api', self_added: false },
      ...{ created_at: expect.any(Number) as number, updated_at: expect.any(Number) as number },
    };
    const found = { on_dnc: true, phone_numbers: [A], emails: [], matched: 1, data: [entry] };
    const look = await api.request('GET', `${PATH}?phone_numbers=${encodeURIComponent(A)}`, { as });
    expect([look.status, look.data]).toEqual([200, found]);
    const single = await api.request('GET', one(A), { as });
    expect([single.status, single.data]).toEqual([200, found]);
    const email = await api.request('GET', ofEmail('ADA@example.com'), { as });
    expect([email.status, email.data.emails, email.data.data[0].method]).toEqual([
      200,
      ['ada@example.com'],
      'crm',
    ]);
    const removed = await api.request('DELETE', one(A), { as });
    expect([removed.status, removed.data]).toEqual([200, [{ success: true }, UPDATED]]);
    expect((await api.request('GET', one(A), { as })).status).toBe(404);
    const unlisted = await api.request('DELETE', ofEmail('nobody@example.com'), { as });
    expect([unlisted.status, unlisted.data]).toEqual([200, [{ success: true }, UPDATED]]);
    const bulk = { phone_numbers: [A, B], emails: ['ada@example.com'] };
    const gone = await api.request('POST', `${PATH}/bulk-delete`, { as, body: bulk });
    expect([gone.status, gone.data]).toEqual([200, { deleted: [B, 'ada@example.com'], skipped: [] }]);
    expect((await api.request('GET', ofEmail('ada@example.com'), { as })).status).toBe(404);
  });

  it('refuses to remove what a contact added, in the words of the contract', async () => {
    const { outbox, dnc } = api.services;
    const of = { teamId: as.teamId, phoneNumber: B, brandId: null, method: 'sms', reason: 'STOP' };
    await outbox.tx((tx) => dnc.selfAdd(tx, of));
    const refused = await api.request('DELETE', one(B), { as });
    expect([refused.status, refused.body.detail]).toEqual([400, 'dnc contact cannot be deleted']);
    const bulk = await api.request('POST', `${PATH}/bulk-delete`, { as, body: { phone_numbers: [B] } });
    const skipped = [{ phone_number: B, email: null, reason: 'self_added_opt_out' }];
    expect([bulk.status, bulk.data]).toEqual([200, { deleted: [], skipped }]);
  });

  it.each([
    ['GET', PATH, undefined],
    ['GET', `${PATH}?phone_numbers=${A}`, undefined],
    ['GET', `${PATH}?phone_numbers=`, undefined],
    ['GET', `${PATH}?emails=nobody`, undefined],
    ['GET', `${PATH}?emails=a@example.com&brand_id=00000000-0000-4000-8000-000000000000`, undefined],
    ['GET', `${PATH}/12025550101`, undefined],
    ['DELETE', `${PATH}/email/nobody`, undefined],
    ['POST', PATH, {}],
    ['POST', PATH, { phone_number: '2025550101' }],
    ['POST', PATH, { phone_number: [[A]] }],
    ['POST', PATH, { email: { address: 'ada@example.com' } }],
    ['POST', PATH, { phone_number: A, brand_id: 'nonsense' }],
    ['POST', PATH, { phone_number: A, reason: 5 }],
    ['POST', `${PATH}/bulk-delete`, {}],
    ['POST', `${PATH}/bulk-delete`, { phone_numbers: A }],
    ['POST', `${PATH}/bulk-delete`, { phone_numbers: [], emails: [] }],
  ])('answers 400 to %s %s %j', async (method, path, body) => {
    const answer = await api.request(method, path, { as, ...(body === undefined ? {} : { body }) });
    expect(answer.status).toBe(400);
    expect(answer.body.type).toMatch(/validation-error$/);
  });

  it('takes a call of ten thousand numbers', async () => {
    const numbers = Array.from({ length: 10_000 }, (_, index) => `+1202${5_600_000 + index}`);
    const added = await api.request('POST', PATH, { as, body: { phone_number: numbers } });
    expect([added.status, added.data.length]).toEqual([201, 20_000]);
    const bulk = await api.request('POST', `${PATH}/bulk-delete`, { as, body: { phone_numbers: numbers } });
    expect([bulk.status, bulk.data.deleted.length]).toEqual([200, 10_000]);
  });
});
