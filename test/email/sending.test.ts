import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_RULES } from '../../src/features/delivery-rules/index.ts';
import { EmailWorld } from './world.ts';
import type { Sender } from './world.ts';

let world: EmailWorld;
let as: Sender;

beforeAll(async () => {
  world = await EmailWorld.start();
  as = await world.sender();
});
beforeEach(() => {
  world.rules = DEFAULT_RULES;
  world.port = null;
});
afterAll(async () => world.close());

const balanceOf = (teamId: string) => world.api.services.ledger.balance(teamId);

describe('POST /email/public/email', () => {
  it('answers success after the mail server took it, signed and with text made from the HTML', async () => {
    const before = world.mail.taken.length;
    const answer = await world.send(as, {
      to: [{ address: 'grace@example.org', name: 'Grace Hopper' }],
      ...{ cc: [{ address: 'copy@example.org' }], bcc: [{ address: 'hidden@example.org' }] },
      ...{ html: '<p>Hello &amp; welcome</p>', preview: 'Look <inside>' },
    });
    expect([answer.status, answer.data]).toEqual([200, { success: true }]);
    const mail = world.mail.taken[before];
    expect(mail?.to).toEqual(['grace@example.org', 'copy@example.org', 'hidden@example.org']);
    expect(mail?.headers.get('dkim-signature')).toContain(`d=${as.domain}`);
    expect(mail?.headers.get('from')).toBe(`Example Ltd <news@${as.domain}>`);
    expect(mail?.raw).not.toMatch(/^bcc:/im);
    expect(mail?.part('text/plain')).toContain('Hello & welcome');
    expect(mail?.part('text/html')).toContain('Look &#60;inside&#62;');
    expect(mail?.headers.has('list-unsubscribe')).toBe(false);
  });

  it('makes a contact of an address that none has, and one only', async () => {
    const to = [{ address: 'New.Person@example.org', name: 'New Person' }];
    await world.send(as, { to });
    await world.send(as, { to: [{ address: 'new.person@EXAMPLE.org' }] });
    const found = await world.sql('select first_name, last_name from contacts where lower(email) = $1', [
      'new.person@example.org',
    ]);
    expect(found).toEqual([{ first_name: 'New', last_name: 'Person' }]);
  });

  it('writes to a contact by its id, and shows the record of the contract', async () => {
    await world.send(as, { to: [{ address: 'by-id@example.org', name: 'By Id' }] });
    const [contact] = await world.sql('select id from contacts where email = $1', ['by-id@example.org']);
    const sent = await world.send(as, { to: undefined, contact_id: contact.id });
    expect(sent.data).toEqual({ success: true });
    const { emails, total } = await world.history(as, `&contact_id=${contact.id}&direction=outbound`);
    expect(total).toBe(2);
    expect(emails[0]).toEqual({
      ...{
        email_id: expect.any(String),
        contact_id: contact.id,
        mailbox_id: as.mailboxId,
        template_id: null,
      },
      ...{ direction: 'outbound', send_type: 'transactional', subject: 'Your order', state: 'sent' },
      to: [{ address: 'by-id@example.org', name: 'By Id' }],
      from: [{ address: `news@${as.domain}`, name: 'Example Ltd' }],
      ...{ created_at: expect.any(Number), sent_at: expect.any(Number) },
    });
    expect((await world.history(as, `&contact_id=${contact.id}&direction=inbound`)).total).toBe(0);
    expect((await world.history(as, '&limit=1&skip=1')).emails[0].email_id).toBe(emails[1].email_id);
  });

  it('captures the price of what was sent, and releases that of what was refused', async () => {
    const own = await world.sender();
    await world.send(own);
    const after = await balanceOf(own.teamId);
    expect([after.balanceMicros, after.reservedMicros]).toEqual([99_999_000n, 0n]);
    await world.send(own, { to: [{ address: 'nobody@example.org' }] });
    expect(await balanceOf(own.teamId)).toEqual(after);
    const kinds = await world.sql(
      `select kind from ledger_entries where team_id = $1 and cause_type = 'email' order by id`,
      [own.teamId],
    );
    expect(kinds.map((row) => row.kind)).toEqual(['reserved', 'captured', 'reserved', 'released']);
  });

  it('says success false when the server refuses the address at RCPT, as a hard bounce', async () => {
    const own = await world.sender();
    const answer = await world.send(own, { to: [{ address: 'nobody@example.org' }] });
    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({
      success: false,
      error: expect.stringMatching(/^hard_bounce: .*no such mailbox/),
    });
    expect(world.told(own.teamId)).toEqual([
      'contact.email.status bounced',
      'contact.email.bounce_hard bounced',
    ]);
    expect((await world.history(own)).emails[0].state).toBe('failed');
  });

  it('calls it unknown when the connection broke after the message, and never sends it again', async () => {
    const own = await world.sender();
    const before = world.mail.taken.length;
    const to = [{ address: 'broken@example.org' }];
    const answer = await world.send(own, { to }, { 'idempotency-key': 'k' });
    expect(answer.data).toEqual({ success: false, error: expect.stringContaining('never answered') });
    const again = await world.send(own, { to }, { 'idempotency-key': 'k' });
    expect(again.data).toEqual(answer.data);
    expect(world.mail.taken.length).toBe(before + 1);
    expect((await world.history(own)).emails.map((email) => email.state)).toEqual(['unknown']);
    expect(world.told(own.teamId)).toEqual([]);
  });

  it('sends nothing without a verified domain, and says which', async () => {
    const account = await world.api.account();
    const from = { address: 'me@none.example.com' };
    const none = await world.send({ ...as, ...account }, { mailbox_id: undefined, from });
    expect(none.data).toEqual({
      success: false,
      error: 'none.example.com is no sending domain of the account.',
    });
    const own = await world.sender();
    await world.sql('update sending_domains set verified = false where team_id = $1', [own.teamId]);
    const unverified = await world.send(own, { to: [{ address: 'untouched@example.org' }] });
    expect(unverified.data).toEqual({
      success: false,
      error: `The sending domain ${own.domain} is not verified.`,
    });
    const stranger = await world.send(own, { mailbox_id: as.mailboxId });
    expect(stranger.data.success).toBe(false);
    expect(await world.sql(`select 1 from contacts where email = 'untouched@example.org'`)).toEqual([]);
  });

  it('writes to no contact of another account', async () => {
    const other = await world.sender();
    await world.send(other, { to: [{ address: 'theirs@example.org' }] });
    const [contact] = await world.sql('select id from contacts where team_id = $1', [other.teamId]);
    const answer = await world.send(as, { to: undefined, contact_id: contact.id });
    expect(answer.data).toEqual({ success: false, error: 'There is no such contact.' });
    expect((await world.history(other)).total).toBe(1);
  });

  it('takes the purpose of the domain for the send type', async () => {
    const bulk = await world.sender({ purpose: 'bulk' });
    await world.send(bulk, { send_type: 'transactional' });
    expect((await world.history(bulk)).emails[0].send_type).toBe('bulk');
  });

  it('merges nothing, whatever the HTML looks like', async () => {
    const before = world.mail.taken.length;
    await world.send(as, { html: '<p>{{contact.first_name}}</p>' });
    expect(world.mail.taken[before]?.part('text/html')).toContain('{{contact.first_name}}');
  });

  it.each([
    [{ to: [] }, 'to'],
    [{ mailbox_id: null }, 'mailbox_id'],
    [{ subject: ' ' }, 'subject'],
    [{ html: '' }, 'html'],
    [{ to: [{ address: 'not an address' }] }, 'to.address'],
    [{ to: [{ address: 'a@example.org\r\nBcc: b@example.org' }] }, 'to.address'],
    [{ to: [{ address: 'a@example.org', name: 'A\r\nBcc: b@example.org' }] }, 'to.name'],
    [{ subject: 'Hello\r\nBcc: b@example.org' }, 'subject'],
    [{ subject: 'Hello\u0000' }, undefined],
    [{ from: { address: 'x@example.com, y@example.com' } }, 'from.address'],
    [{ send_type: 'spam' }, 'send_type'],
    [{ template_id: 'none' }, 'template_id'],
  ])('answers 400 to %j', async (body, field) => {
    const before = world.mail.taken.length;
    const answer = await world.send(as, body);
    expect(answer.status).toBe(400);
    expect(answer.body.details?.field).toBe(field);
    expect(world.mail.taken.length).toBe(before);
  });

  it('puts nothing of a hostile name, subject or preview into the headers', async () => {
    const before = world.mail.taken.length;
    const name = '"<evil@example.org>, x';
    await world.send(as, { to: [{ address: 'safe@example.org', name }], subject: 'é: <b>{{x}}</b>' });
    const mail = world.mail.taken[before];
    expect(mail?.to).toEqual(['safe@example.org']);
    expect([...(mail?.headers.keys() ?? [])].filter((one) => one === 'bcc')).toEqual([]);
  });
});

describe('the gates of email', () => {
  it('answer before anything else, in the contract’s shape', async () => {
    const own = await world.sender();
    const ask = () => world.request('POST', '/email/public/email', { as: own, body: {} });
    await world.sql(`update teams set features = array_remove(features, 'email') where id = $1`, [
      own.teamId,
    ]);
    const plan = await ask();
    expect([plan.status, plan.body]).toEqual([
      403,
      { error: 'trial_feature_blocked', message: expect.any(String), feature: 'email' },
    ]);
    await world.sql(
      `update teams set features = array_append(features, 'email'), plan = 'inactive' where id = $1`,
      [own.teamId],
    );
    const inactive = await ask();
    expect([inactive.status, Object.keys(inactive.body)]).toEqual([403, ['error', 'message']]);
    await world.sql(`update teams set plan = 'active', dunning_tier = 'restricted' where id = $1`, [
      own.teamId,
    ]);
    const unpaid = await ask();
    expect([unpaid.status, unpaid.body.details]).toEqual([402, { dunning_tier: 'restricted' }]);
    await world.sql('update teams set dunning_tier = null where id = $1', [own.teamId]);
    expect((await ask()).status).toBe(400);
  });

  it('ask for a verified account and for funds', async () => {
    const unverified = await world.sender({ verified: false });
    const refused = await world.send(unverified);
    expect([refused.status, refused.body.error]).toEqual([403, 'team-not-verified']);
    const poor = await world.sender({ funds: 0 });
    expect((await world.send(poor)).status).toBe(402);
  });

  it('ask for the scope', async () => {
    const narrow = await world.sender({ scopes: ['contacts:read'] });
    expect((await world.send(narrow)).status).toBe(403);
    const sendOnly = await world.sender({ scopes: ['email:send'] });
    expect((await world.send(sendOnly)).data).toEqual({ success: true });
    expect((await world.request('GET', '/email/public/email', { as: sendOnly })).status).toBe(403);
  });
});
