import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_RULES } from '../../src/features/delivery-rules/index.ts';
import { until } from '../_util/index.ts';
import { EmailWorld, HeldCarrier, HOUR_MS } from './world.ts';
import type { Answer, Sender } from './world.ts';

let world: EmailWorld;

beforeAll(async () => {
  world = await EmailWorld.start();
});
beforeEach(() => {
  world.rules = DEFAULT_RULES;
  world.port = null;
});
afterAll(async () => world.close());

const to = (address: string) => ({ to: [{ address }] });
const TAKES_ALL = { sendMail: async () => ({ kind: 'accepted', carrierMessageId: null }) as const };
const successes = (answers: readonly Answer[]): number =>
  answers.filter((answer) => answer.data?.success === true).length;

describe('the frequency limit', () => {
  beforeEach(() => void (world.port = TAKES_ALL));

  it.each([
    { send_type: 'bulk', max: 15, hours: 72, name: 'too_many_bulk_emails', code: 5019 },
    { send_type: 'transactional', max: 30, hours: 24, name: 'too_many_transactional_emails', code: 5020 },
  ])(
    'stops $send_type emails after $max within $hours hours, and lets them go after',
    async ({ send_type, max, hours, name, code }) => {
      const as = await world.sender();
      for (let n = 0; n < max; n += 1)
        expect((await world.send(as, { send_type })).data).toEqual({ success: true });
      const refused = await world.send(as, { send_type });
      expect(refused.data).toEqual({ success: false, error: expect.stringContaining(name) });
      const { emails, total } = await world.history(as, '&limit=1');
      expect(total).toBe(max + 1);
      expect(emails[0]).toMatchObject({ state: 'blocked', blocked_reason: name, sent_at: null });
      const failures = world.news.filter(
        (one) => one.teamId === as.teamId && one.data['status'] === 'failure',
      );
      expect(failures.map(({ event, data }) => [event, data])).toEqual([
        [
          'contact.email.status',
          {
            ...{ email_id: emails[0].email_id, contact_id: emails[0].contact_id, to: 'ada@example.org' },
            ...{ from: `news@${as.domain}`, status: 'failure', reason: name, reason_code: code },
          },
        ],
      ]);
      expect((await world.send(as, { ...to('other@example.org'), send_type })).data.success).toBe(true);
      world.clock.advance(hours * HOUR_MS);
      expect((await world.send(as, { send_type })).data).toEqual({ success: true });
    },
  );

  it('counts either case of an address, and each address of `to`', async () => {
    const as = await world.sender();
    world.rules = { ...DEFAULT_RULES, transactionalEmailsMax: 1 };
    await world.send(as, { to: [{ address: 'one@example.org' }, { address: 'Two@example.org' }] });
    expect((await world.send(as, to('TWO@example.org'))).data.success).toBe(false);
    expect((await world.send(as, to('ONE@example.org'))).data.success).toBe(false);
  });

  it('skips test addresses, and does not count what was refused', async () => {
    const as = await world.sender();
    world.rules = { ...DEFAULT_RULES, transactionalEmailsMax: 1, testEmails: ['qa@example.org'] };
    for (let n = 0; n < 3; n += 1)
      expect((await world.send(as, to('QA@example.org'))).data.success).toBe(true);
    world.port = { sendMail: async () => ({ kind: 'retry', afterMs: 1, detail: 'refused' }) };
    expect((await world.send(as)).data.success).toBe(false);
    world.port = TAKES_ALL;
    expect((await world.send(as)).data.success).toBe(true);
    expect((await world.send(as)).data.success).toBe(false);
  });

  it('lets one of many racing for the last place through', async () => {
    const as = await world.sender();
    world.rules = { ...DEFAULT_RULES, transactionalEmailsMax: 3 };
    const answers = await Promise.all(Array.from({ length: 12 }, () => world.send(as)));
    expect(successes(answers)).toBe(3);
    expect((await world.history(as)).emails.filter((email) => email.state === 'blocked').length).toBe(9);
  });
});

describe('the do-not-contact list', () => {
  const list = (as: Sender, email: string, brandId?: string) =>
    world.api.services.dnc.add(as.caller, { email, ...(brandId ? { brandId } : {}) });

  it('stops an email to a listed address, in `cc` and `bcc` too, with one event', async () => {
    const as = await world.sender();
    await list(as, 'listed@example.org');
    const before = world.mail.taken.length;
    const answer = await world.send(as, to('Listed@example.org'));
    expect(answer.data).toEqual({ success: false, error: expect.stringContaining('do_not_contact_email') });
    for (const name of ['cc', 'bcc'])
      expect((await world.send(as, { [name]: [{ address: 'listed@example.org' }] })).data.success).toBe(
        false,
      );
    expect(world.mail.taken.length).toBe(before);
    expect(world.told(as.teamId)).toEqual(Array(3).fill('contact.email.status failure'));
    expect(
      world.news.find((one) => one.teamId === as.teamId && one.event === 'contact.email.status')?.data,
    ).toMatchObject({ reason: 'do_not_contact_email', reason_code: 5014 });
  });

  it('stops a listed address for the brand of the email only', async () => {
    const as = await world.sender();
    const brand = await world.api.services.lookups.brands.create(as.caller, { companyName: 'Example Ltd' });
    await list(as, 'brand@example.org', brand.brandId);
    expect((await world.send(as, { ...to('brand@example.org'), brand_id: brand.brandId })).data.success).toBe(
      false,
    );
    expect((await world.send(as, { ...to('brand@example.org'), brand_id: randomUUID() })).data.success).toBe(
      true,
    );
    expect((await world.send(as, to('brand@example.org'))).data.success).toBe(true);
  });
});

describe('an Idempotency-Key', () => {
  it('sends a hundred twins once, and answers all of them the same', async () => {
    const as = await world.sender();
    const held = new HeldCarrier();
    world.port = held;
    const twins = Array.from({ length: 100 }, () => world.send(as, {}, { 'idempotency-key': 'order-17' }));
    await until(() => held.asked > 0);
    held.answer({ kind: 'accepted', carrierMessageId: null });
    const answers = await Promise.all(twins);
    expect(successes(answers)).toBe(100);
    expect(held.asked).toBe(1);
    expect((await world.history(as)).total).toBe(1);
    expect((await world.api.services.ledger.balance(as.teamId)).balanceMicros).toBe(99_999_000n);
  });

  it('with another body is 409, with the same one in another order the same answer', async () => {
    const as = await world.sender();
    world.port = TAKES_ALL;
    const key = { 'idempotency-key': 'k1' };
    const body = {
      ...to('x@example.org'),
      from: { address: `a@${as.domain}` },
      subject: 'A',
      html: '<p>A</p>',
    };
    const post = (text: string) =>
      world.request('POST', '/email/public/email', {
        ...{ as, body: text, headers: { ...key, 'content-type': 'application/json' } },
      });
    expect((await post(JSON.stringify(body))).data).toEqual({ success: true });
    const turned = Object.fromEntries(Object.entries(body).reverse());
    expect((await post(JSON.stringify(turned, null, 4))).data).toEqual({ success: true });
    expect((await post(JSON.stringify({ ...body, subject: 'B' }))).status).toBe(409);
    expect((await world.history(as)).total).toBe(1);
  });

  it('is kept for 24 hours, also for what was not sent, and is the account’s own', async () => {
    const as = await world.sender();
    const other = await world.sender();
    world.port = TAKES_ALL;
    const key = { 'idempotency-key': 'k2' };
    const missing = { mailbox_id: randomUUID() };
    const first = await world.send(as, missing, key);
    expect(first.data).toEqual({ success: false, error: 'There is no such mailbox.' });
    expect((await world.send(as, missing, key)).data).toEqual(first.data);
    expect((await world.send(as, {}, key)).status).toBe(409);
    expect((await world.send(other, {}, key)).data).toEqual({ success: true });
    world.clock.advance(24 * HOUR_MS + 60_000);
    await world.sweep();
    expect((await world.send(as, {}, key)).data).toEqual({ success: true });
  });

  it.each(['ü', 'x'.repeat(256)])('that is malformed is 400', async (key) => {
    const as = await world.sender();
    const encoded = Buffer.from(key, 'utf8').toString('latin1');
    expect((await world.send(as, {}, { 'idempotency-key': encoded })).status).toBe(400);
    expect((await world.send(as, {}, { 'idempotency-key': '' })).data.success).toBe(true);
  });
});

describe('funds', () => {
  it('stop at the price of the email: the last one that can be paid goes, the next is 402', async () => {
    const as = await world.sender({ funds: 0.0015 });
    world.port = TAKES_ALL;
    const answers = await Promise.all(Array.from({ length: 5 }, () => world.send(as)));
    expect(successes(answers)).toBe(1);
    expect(answers.filter((answer) => answer.status === 402).length).toBe(4);
    expect((await world.history(as)).total).toBe(1);
    const { balanceMicros, reservedMicros } = await world.api.services.ledger.balance(as.teamId);
    expect([balanceMicros, reservedMicros]).toEqual([500n, 0n]);
  });
});

describe('an email that was committed', () => {
  it('becomes unknown when its process dies, and what its server says later is too late', async () => {
    const as = await world.sender();
    const held = new HeldCarrier();
    world.port = held;
    const sending = world.send(as, {}, { 'idempotency-key': 'lost' });
    await until(() => held.asked > 0);
    expect((await world.history(as)).emails[0].state).toBe('sending');
    expect((await world.sweep())['abandoned-emails']).toBe(0);
    world.clock.advance(180_000);
    expect((await world.sweep())['abandoned-emails']).toBe(1);
    expect((await world.history(as)).emails[0].state).toBe('unknown');
    held.answer({ kind: 'accepted', carrierMessageId: null });
    expect((await sending).data.success).toBe(false);
    expect((await world.send(as, {}, { 'idempotency-key': 'lost' })).data.success).toBe(false);
    expect(held.asked).toBe(1);
    expect((await world.api.services.ledger.balance(as.teamId)).reservedMicros).toBe(0n);
  });

  it('is unknown too when its driver throws', async () => {
    const as = await world.sender();
    world.port = { sendMail: () => Promise.reject(new Error('a bug')) };
    expect((await world.send(as)).data).toEqual({
      success: false,
      error: expect.stringContaining('result_unknown'),
    });
    expect((await world.history(as)).emails[0].state).toBe('unknown');
  });

  it('leaves the history after the retention', async () => {
    const as = await world.sender();
    world.port = TAKES_ALL;
    await world.send(as);
    world.clock.advance(91 * 24 * HOUR_MS);
    await world.send(as);
    await world.sweep();
    expect((await world.history(as)).total).toBe(1);
    expect(await world.sql('select 1 from email_events where team_id = $1', [as.teamId])).toHaveLength(1);
    expect(await world.sql('select 1 from email_attempts where team_id = $1', [as.teamId])).toHaveLength(1);
  });
});
