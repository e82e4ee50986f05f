import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, testDb } from '../_util/index.ts';
import type { TestAccount, TestApi, TestDb } from '../_util/index.ts';

const ANY_TEXT = expect.any(String) as string;
const ANY_NUMBER = expect.any(Number) as number;
const IN_2099 = Date.UTC(2099, 0, 1);
const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('What surrounds a contact, over REST', () => {
  let database: TestDb;
  let api: TestApi;
  let as: TestAccount;
  let contactId: string;
  let path: string;

  beforeAll(async () => {
    database = await testDb();
    api = await startApi(database);
    as = await api.account();
    const made = await api.services.contactImport.create(as.caller, { named: { first_name: 'Ada' } });
    contactId = made.inserted[0] ?? '';
    path = `/contact/public/contacts/${contactId}`;
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  const tell = async (method: string, at: string, body?: unknown) => {
    const answer = await api.request(method, at, { as, ...(body === undefined ? {} : { body }) });
    return [answer.status, answer.data ?? answer.body] as const;
  };

  it('tags: made, changed, put on a contact, taken off, deleted', async () => {
    const [created, tag] = await tell('POST', '/tag/public/tags', { label: 'VIP', color: '#0066ff' });
    expect(created).toBe(201);
    expect(tag).toEqual({
      ...{ tag_id: ANY_TEXT, label: 'VIP', color: '#0066ff', text_color: ANY_TEXT, is_seed: false },
      ...{ created_at: ANY_NUMBER, updated_at: ANY_NUMBER, created_by: as.ownerId, updated_by: as.ownerId },
      ...{ deleted_at: null, deleted_by: null },
    });
    const tagPath = `/tag/public/tags/${tag.tag_id}`;
    const listed = {
      ...{ tag_id: tag.tag_id, label: 'VIP', color: '#0066ff', text_color: tag.text_color },
      ...{ created_at: tag.created_at, updated_at: tag.updated_at },
      ...{ created_by: as.ownerId, updated_by: as.ownerId },
    };
    expect(await tell('GET', '/tag/public/tags?search_term=vi&limit=5')).toEqual([200, [listed]]);
    expect(await tell('PUT', tagPath, { label: 'Gold' })).toEqual([
      200,
      { id: tag.tag_id, label: 'Gold', color: '#0066ff', text_color: tag.text_color, updated_at: ANY_TEXT },
    ]);
    const [status, refusal] = await tell('PUT', tagPath, { color: '#fff' });
    expect([status, refusal.detail]).toEqual([400, 'Tag must have at least 1 character']);
    expect((await tell('PUT', tagPath, { label: '' }))[1].detail).toBe('Tag must have at least 1 character');
    const entry = {
      ...{ tag_id: tag.tag_id, tagged_at: ANY_NUMBER, tagged_by: as.ownerId },
      ...{ deleted_at: null, deleted_by: null },
    };
    expect(await tell('POST', `${path}/tags/${tag.tag_id}`)).toEqual([200, [entry]]);
    expect(await tell('POST', `${path}/tags/${tag.tag_id}`)).toEqual([200, [entry]]);
    expect(await tell('DELETE', `${path}/tags/${tag.tag_id}`)).toEqual([200, []]);
    expect((await tell('DELETE', `${path}/tags/${tag.tag_id}`))[0]).toBe(404);
    expect(await tell('DELETE', tagPath)).toEqual([200, { id: tag.tag_id, deleted: true }]);
    expect((await tell('POST', `${path}/tags/${tag.tag_id}`))[0]).toBe(404);
    expect((await tell('DELETE', tagPath))[0]).toBe(404);
    const bulk = { tag_ids: [tag.tag_id, NOBODY] };
    expect(await tell('POST', '/tag/public/tags/bulk-delete', bulk)).toEqual([
      200,
      { matched_count: 0, modified_count: 0 },
    ]);
    for (const wrong of [{}, { tag_ids: [] }, { tag_ids: 'x' }]) {
      expect((await tell('POST', '/tag/public/tags/bulk-delete', wrong))[0]).toBe(400);
    }
  });

  it('notes and the timeline', async () => {
    const note = {
      ...{ note_id: ANY_TEXT, contact_id: contactId, user_id: as.ownerId, type: 'contact', note: '<b>a</b>' },
      ...{ note_text: 'a', attachments: [], created_at: ANY_NUMBER, created_by: as.ownerId },
    };
    expect(await tell('POST', `${path}/notes`, { note: '<b onclick=x>a</b><script>x</script>' })).toEqual([
      201,
      note,
    ]);
    expect(await tell('GET', `${path}/notes`)).toEqual([200, [{ ...note, username: ANY_TEXT }]]);
    for (const wrong of [{}, { note: '' }, { note: 5 }, { note: null }]) {
      expect((await tell('POST', `${path}/notes`, wrong))[0]).toBe(400);
    }
    const [status, page] = await tell('GET', `${path}/timeline?type=tag_added&limit=100&offset=0`);
    expect([status, page]).toEqual([
      200,
      {
        entries: [
          {
            ...{ entry_id: ANY_TEXT, type: 'tag_added', contact_id: contactId, created_at: ANY_NUMBER },
            ...{ tag_id: ANY_TEXT, tag_label: 'Gold', tagged_by: as.ownerId },
          },
        ],
        total: 1,
      },
    ]);
    for (const wrong of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'limit=1e9']) {
      expect((await tell('GET', `${path}/timeline?${wrong}`))[0]).toBe(400);
    }
  });

  it('follow-ups and tasks', async () => {
    const [created, followUp] = await tell('POST', `${path}/follow-ups`, {
      ...{ scheduled_at: IN_2099 / 1_000, description: '<i>call</i>' },
    });
    const shown = {
      ...{ followup_id: ANY_TEXT, contact_id: contactId, scheduled_at: IN_2099, status: 'pending' },
      ...{ description: '<i>call</i>', description_text: 'call', assigned_to: as.ownerId },
      ...{ assigned_type: 'user', task_id: null, created_at: ANY_NUMBER, created_by: as.ownerId },
    };
    expect([created, followUp]).toEqual([201, shown]);
    expect(await tell('GET', `${path}/follow-ups`)).toEqual([200, [followUp]]);
    const one = `/contact/public/follow-ups/${followUp.followup_id}`;
    const change = { description: '', scheduled_at: '2099-02-01T00:00:00+01:00', assigned_type: 'team' };
    expect(await tell('PUT', one, change)).toEqual([
      200,
      {
        ...followUp,
        ...{ description: '', description_text: '', assigned_type: 'team' },
        scheduled_at: Date.UTC(2099, 0, 31, 23),
      },
    ]);
    expect(await tell('DELETE', one)).toEqual([
      200,
      { followup_id: followUp.followup_id, cancelled: true, message: ANY_TEXT },
    ]);
    expect((await tell('DELETE', one))[0]).toBe(409);
    expect((await tell('PUT', one, { description: 'x' }))[0]).toBe(409);
    expect(await tell('GET', `${path}/follow-ups`)).toEqual([200, []]);
    expect((await tell('GET', `${path}/follow-ups?status=cancelled`))[1]).toHaveLength(1);
    expect((await tell('GET', `${path}/follow-ups?status=other`))[0]).toBe(400);
    for (const wrong of [
      ...[{}, { scheduled_at: null }, { scheduled_at: 'soon' }, { scheduled_at: 1_700_000_000 }],
      ...[{ scheduled_at: true }, { scheduled_at: IN_2099 + 0.5 }, { scheduled_at: [IN_2099] }],
      { scheduled_at: IN_2099, assigned_type: 'group' },
    ]) {
      expect((await tell('POST', `${path}/follow-ups`, wrong))[0]).toBe(400);
    }
    expect(
      (await tell('POST', `${path}/follow-ups`, { scheduled_at: IN_2099, assigned_to: NOBODY }))[0],
    ).toBe(404);
    expect((await tell('PUT', `/contact/public/follow-ups/${NOBODY}`, { description: 'x' }))[0]).toBe(404);
    expect(await tell('GET', '/contact/public/tasks?limit=1000000&skip=0&status=open')).toEqual([200, []]);
    expect((await tell('GET', '/contact/public/tasks?skip=-1'))[0]).toBe(400);
    expect((await tell('POST', `/contact/public/tasks/${NOBODY}/complete`))[0]).toBe(404);
  });

  it('a task is completed, and its follow-up with it', async () => {
    const { caller, teamId } = as;
    const { followUps } = api.services;
    const scheduledAt = api.services.clock.nowMs() + 60_000;
    const { followupId } = await followUps.create(caller, contactId, { scheduledAt });
    await database.db.query(
      `update follow_ups set scheduled_at = now() - interval '1 second' where id = $1`,
      [followupId],
    );
    await database.db.tx((tx) => followUps.trigger(tx, { teamId, contactId, followupId }));
    const [, [task]] = await tell('GET', '/contact/public/tasks');
    expect(task).toMatchObject({
      followup_id: followupId,
      contact_id: contactId,
      status: 'open',
      completed_at: null,
    });
    const complete = `/contact/public/tasks/${task.task_id}/complete`;
    const done = { status: 'completed', completed_at: ANY_NUMBER, completed_by: as.ownerId };
    expect(await tell('POST', complete)).toEqual([200, { ...task, ...done }]);
    expect((await tell('POST', complete))[0]).toBe(409);
    const [, listed] = await tell('GET', `${path}/follow-ups?status=completed`);
    expect(listed).toMatchObject([{ followup_id: followupId, status: 'completed', task_id: task.task_id }]);
  });

  it('owner and disposition answer the contact', async () => {
    const [status, owned] = await tell('PUT', `${path}/owner`, { owner_id: as.ownerId });
    expect([status, owned]).toMatchObject([
      200,
      { _id: contactId, contact_id: contactId, owner_id: as.ownerId },
    ]);
    for (const wrong of [{}, { owner_id: null }, { owner_id: 5 }, { owner_id: '' }]) {
      expect((await tell('PUT', `${path}/owner`, wrong))[0]).toBe(400);
    }
    expect((await tell('PUT', `${path}/owner`, { owner_id: NOBODY }))[0]).toBe(404);
    expect(await tell('PUT', `${path}/disposition`, { disposition_id: 'won' })).toMatchObject([
      200,
      { _id: contactId, owner_id: as.ownerId, disposition_id: 'won' },
    ]);
    for (const wrong of [{}, { disposition_id: '' }, { disposition_id: ' ' }, { disposition_id: 5 }]) {
      expect((await tell('PUT', `${path}/disposition`, wrong))[0]).toBe(400);
    }
  });

  it('consent is given, listed and revoked', async () => {
    const input = {
      ...{ consent_type: 'sms_optin', phone_number: '+12025550123' },
      ...{ consent_text: 'I agree.', consent_method: 'web_form' },
    };
    const [status, granted] = await tell('POST', `${path}/consent`, input);
    expect([status, granted]).toEqual([201, { consent_id: ANY_TEXT }]);
    const record = {
      ...{ ...input, consent_id: granted.consent_id, contact_id: contactId, granted_at: ANY_NUMBER },
      consent_text_hash: '826ff0dab649a97ffdd7779a332accafb35cc161012253a19383db19289d6e02',
      ...{ granted_by: as.ownerId, revoked_at: null, revoked_by: null },
    };
    expect(await tell('GET', `${path}/consent`)).toEqual([200, [record]]);
    const key = { consent_type: 'sms_optin', phone_number: '+12025550123' };
    const revoke = `${path}/consent/revoke`;
    expect(await tell('POST', revoke, key)).toEqual([200, { ...key, revoked: true, revoked_count: 1 }]);
    expect(await tell('POST', revoke, key)).toEqual([200, { ...key, revoked: true, revoked_count: 0 }]);
    expect((await tell('POST', revoke, { ...key, consent_type: 'tcpa_optin' }))[0]).toBe(404);
    expect((await tell('POST', revoke, { ...key, phone_number: '5' }))[0]).toBe(400);
    expect((await tell('POST', `${path}/consent`, { ...input, consent_method: 'fax' }))[0]).toBe(400);
  });

  it('is not found by the path of a contact that is not the account’s', async () => {
    const theirs = await api.account();
    for (const at of [path, '/contact/public/contacts/nonsense']) {
      const asOther = async (method: string, rest: string, body?: unknown): Promise<number> =>
        (await api.request(method, at + rest, { as: theirs, ...(body === undefined ? {} : { body }) }))
          .status;
      expect(await asOther('GET', '/notes')).toBe(404);
      expect(await asOther('POST', '/notes', { note: 'x' })).toBe(404);
      expect(await asOther('GET', '/timeline')).toBe(404);
      expect(await asOther('GET', '/follow-ups')).toBe(404);
      expect(await asOther('POST', '/follow-ups', { scheduled_at: IN_2099 })).toBe(404);
      expect(await asOther('PUT', '/owner', { owner_id: theirs.ownerId })).toBe(404);
      expect(await asOther('PUT', '/disposition', { disposition_id: 'x' })).toBe(404);
      expect(await asOther('GET', '/consent')).toBe(404);
    }
  });
});
