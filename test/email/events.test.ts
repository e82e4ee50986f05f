import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_RULES } from '../../src/features/delivery-rules/index.ts';
import type { TakenMail } from './mail.server.ts';
import { EmailWorld, signatureOf } from './world.ts';
import type { Loose, Sender } from './world.ts';

let world: EmailWorld;
let as: Sender;

beforeAll(async () => {
  world = await EmailWorld.start();
  world.rules = { ...DEFAULT_RULES, bulkEmailsMax: 1_000, transactionalEmailsMax: 1_000 };
  as = await world.sender();
});
afterAll(async () => world.close());

/** Sends an email of its own account and gives what came of it. */
async function sent(
  body: Record<string, unknown> = {},
): Promise<{ own: Sender; html: string; email: Loose; mail: TakenMail }> {
  const own = await world.sender();
  const answer = await world.send(own, body);
  if (!answer.data.success) throw new Error(answer.text);
  const mail = world.mail.taken.at(-1);
  if (!mail) throw new Error('no mail came');
  const { emails } = await world.history(own);
  return { own, mail, html: mail.part('text/html'), email: emails[0] };
}

const headerOf = (mail: TakenMail, name: string): string => mail.headers.get(name) ?? '';

const unsubscribeOf = (mail: TakenMail): string =>
  /<(.*)>/.exec(headerOf(mail, 'list-unsubscribe'))?.[1] ?? '';

const urlIn = (html: string, path: string): string =>
  new RegExp(`http://[^"]*${path}[^"]*`).exec(html)?.[0].replaceAll('&#38;', '&') ?? '';

describe('tracking', () => {
  it('tells `delivered` once, `opened` once, `clicked` once for each link', async () => {
    const links = '<a href="https://example.org/a?x=1&amp;y=2">A</a> <a href="https://example.org/b">B</a>';
    const { own, html, email } = await sent({ html: `<p>${links}</p>` });
    const pixel = urlIn(html, '/email/public/open/');
    const [first = '', second = ''] = [...html.matchAll(/href="([^"]*\/click[^"]*)"/g)].map(([, url]) => url);
    for (let n = 0; n < 2; n += 1) {
      const gif = await world.request('GET', pixel);
      expect([gif.status, gif.headers.get('content-type'), gif.bytes.length]).toEqual([200, 'image/gif', 42]);
      const followed = await world.request('GET', first);
      expect([followed.status, followed.headers.get('location')]).toEqual([
        302,
        'https://example.org/a?x=1&y=2',
      ]);
    }
    expect((await world.request('GET', second)).headers.get('location')).toBe('https://example.org/b');
    const statuses = ['delivered', 'opened', 'clicked', 'clicked'];
    expect(world.told(own.teamId)).toEqual(statuses.map((status) => `contact.email.status ${status}`));
    expect(
      world.news.find((one) => one.teamId === own.teamId && one.event === 'contact.email.status')?.data,
    ).toEqual({
      ...{ email_id: email.email_id, contact_id: email.contact_id, to: 'ada@example.org' },
      ...{ from: `news@${own.domain}`, status: 'delivered' },
    });
  });

  it('leads only where a link of the email led, and goes on after the email is forgotten', async () => {
    const { own, html } = await sent({ html: '<a href="https://example.org/">A</a>' });
    const link = urlIn(html, '/email/public/click');
    const at = link.length - 20;
    const forged = link.slice(0, at) + (link[at] === 'A' ? 'B' : 'A') + link.slice(at + 1);
    expect((await world.request('GET', forged)).status).toBe(404);
    expect((await world.request('GET', '/email/public/click?t=https://evil.example')).status).toBe(404);
    expect((await world.request('GET', '/email/public/open/none')).status).toBe(404);
    await world.sql('delete from emails where team_id = $1', [own.teamId]);
    expect((await world.request('GET', link)).headers.get('location')).toBe('https://example.org/');
  });
});

describe('unsubscribing from bulk email', () => {
  it('takes one POST without a key; a GET shows a page and changes nothing', async () => {
    const { own, mail, html } = await sent({ send_type: 'bulk', to: [{ address: 'Out@example.org' }] });
    const url = unsubscribeOf(mail);
    expect(mail.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(html).toContain(`<a href="${url}">Unsubscribe</a>`);
    expect(mail.part('text/plain')).toContain(`Unsubscribe: ${url}`);
    const page = await world.request('GET', url);
    expect([page.status, page.headers.get('content-type')?.split(';')[0]]).toEqual([200, 'text/html']);
    expect(page.text).toContain('<form method="post">');
    expect((await world.send(own, { to: [{ address: 'out@example.org' }] })).data.success).toBe(true);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    for (let n = 0; n < 2; n += 1) {
      const click = await world.request('POST', url, { body: 'List-Unsubscribe=One-Click', headers: form });
      expect(click.status).toBe(200);
    }
    const entries = await world.sql(
      'select email, brand_id, method, self_added from dnc_entries where team_id = $1',
      [own.teamId],
    );
    expect(entries).toEqual([
      { email: 'out@example.org', brand_id: null, method: 'email', self_added: true },
    ]);
    const after = await world.send(own, { to: [{ address: 'out@example.org' }] });
    expect(after.data.error).toContain('do_not_contact_email');
    const [contact] = await world.sql('select dnc from contacts where team_id = $1', [own.teamId]);
    expect(contact.dnc).toBe(true);
  });

  it('takes an empty POST too, and knows no made-up token', async () => {
    const { own, mail } = await sent({ send_type: 'bulk' });
    const url = unsubscribeOf(mail);
    expect((await world.request('POST', url)).status).toBe(200);
    expect(await world.sql('select 1 from dnc_entries where team_id = $1', [own.teamId])).toHaveLength(1);
    for (const method of ['GET', 'POST'])
      expect((await world.request(method, `/email/public/unsubscribe/${'x'.repeat(32)}`)).status).toBe(404);
    const [row] = await world.sql('select unsubscribe_token_hash from emails where team_id = $1', [
      own.teamId,
    ]);
    expect(String(row.unsubscribe_token_hash)).not.toContain(url.slice(-10));
  });

  it('stops every email that did not leave before it', async () => {
    const { own, mail } = await sent({ send_type: 'bulk' });
    const url = unsubscribeOf(mail);
    const before = world.mail.taken.length;
    const racing = Array.from({ length: 8 }, () => world.send(own, { send_type: 'bulk' }));
    const optOut = world.request('POST', url);
    await optOut;
    const [entry] = await world.sql(
      'select created_at, xmin::text::bigint as tx from dnc_entries where team_id = $1',
      [own.teamId],
    );
    const went = (await Promise.all(racing)).filter((answer) => answer.data.success).length;
    const later = await world.sql(
      `select id from emails where team_id = $1 and state = 'sent' and xmin::text::bigint > $2 and created_at > sent_at`,
      [own.teamId, entry.tx],
    );
    expect(later).toEqual([]);
    expect(world.mail.taken.length).toBe(before + went);
    expect((await world.send(own)).data.success).toBe(false);
  });
});

describe('the bounce webhook', () => {
  it('turns a hard bounce into 5030 with both events, once', async () => {
    const { own, email } = await sent();
    const hook = await world.hook(own);
    const body = JSON.stringify({
      events: [
        {
          event: 'bounced',
          email_id: email.email_id,
          recipient: 'ada@example.org',
          detail: '550 no such user',
        },
        { event: 'bounced', email_id: randomUUID() },
      ],
    });
    for (let n = 0; n < 2; n += 1)
      expect((await hook.call('events', body)).data).toEqual({ received: 2, matched: 1 });
    expect(world.told(own.teamId)).toEqual([
      ...[
        'contact.email.status delivered',
        'contact.email.status bounced',
        'contact.email.bounce_hard bounced',
      ],
    ]);
    expect(world.news.findLast((one) => one.event === 'contact.email.bounce_hard')?.data).toEqual({
      ...{ email_id: email.email_id, contact_id: email.contact_id, to: 'ada@example.org' },
      ...{ from: `news@${own.domain}`, status: 'bounced', reason: 'hard_bounce', reason_code: 5030 },
    });
    expect((await world.history(own)).emails[0].state).toBe('failed');
  });

  it('tells complaints and soft bounces, by the Message-ID too', async () => {
    const { own, mail } = await sent();
    const hook = await world.hook(own);
    const message_id = headerOf(mail, 'message-id');
    const events = [
      { event: 'bounced', bounce_type: 'soft', message_id },
      { event: 'complained', message_id },
    ];
    expect((await hook.call('events', JSON.stringify({ events }))).data.matched).toBe(2);
    expect(world.told(own.teamId).slice(1)).toEqual([
      ...[
        'contact.email.status bounced',
        'contact.email.status complained',
        'contact.email.complaint complained',
      ],
    ]);
    expect((await world.history(own)).emails[0].state).toBe('sent');
  });

  it('resolves an unknown email, and says delivered then', async () => {
    const own = await world.sender();
    await world.send(own, { to: [{ address: 'broken@example.org' }] });
    const [{ email_id }] = (await world.history(own)).emails;
    const hook = await world.hook(own);
    await hook.call('events', JSON.stringify({ events: [{ event: 'delivered', email_id }] }));
    expect((await world.history(own)).emails[0].state).toBe('sent');
    expect(world.told(own.teamId)).toEqual(['contact.email.status delivered']);
  });

  it('takes nothing unsigned, wrongly signed, old, of another account, or malformed', async () => {
    const { own, email } = await sent();
    const [hook, other] = [await world.hook(own), await world.hook(as)];
    const body = JSON.stringify({ events: [{ event: 'complained', email_id: email.email_id }] });
    const path = `/email/public/events/${hook.carrierId}`;
    const json = { 'content-type': 'application/json' };
    expect((await world.request('POST', path, { body, headers: json })).status).toBe(401);
    const wrong = { ...json, ...signatureOf('wrong', world.clock.nowMs(), body) };
    expect((await world.request('POST', path, { body, headers: wrong })).status).toBe(401);
    const { secret } = await world.email.hooks.rotate(own.caller, hook.carrierId);
    expect((await hook.call('events', body)).status).toBe(401);
    const old = { ...json, ...signatureOf(secret, world.clock.nowMs() - 400_000, body) };
    expect((await world.request('POST', path, { body, headers: old })).status).toBe(401);
    const unknown = `/email/public/events/${randomUUID()}`;
    expect((await world.request('POST', unknown, { body, headers: json })).status).toBe(404);
    expect((await other.call('events', body)).data).toEqual({ received: 1, matched: 0 });
    for (const bad of ['', '{', '[]', '{"events":[]}', '{"events":[{"event":"opened"}]}'])
      expect((await other.call('events', bad)).status, bad).toBe(400);
    expect(world.told(own.teamId)).toEqual(['contact.email.status delivered']);
  });
});

describe('mail that comes in', () => {
  const report = (messageId: string, status: string, action = 'failed'): string =>
    [
      'From: MAILER-DAEMON@mx.example.org',
      'Subject: Undelivered Mail',
      'Content-Type: multipart/report; report-type=delivery-status; boundary="b1"',
      '',
      '--b1',
      'Content-Type: text/plain',
      '',
      'Sorry.',
      '--b1',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.example.org',
      '',
      'Final-Recipient: rfc822; ada@example.org',
      `Action: ${action}`,
      `Status: ${status}`,
      'Diagnostic-Code: smtp; 550 no such user',
      '',
      '--b1',
      'Content-Type: text/rfc822-headers',
      '',
      `Message-ID: ${messageId}`,
      'Subject: Your order',
      '',
      '--b1--',
      '',
    ].join('\r\n');

  it('is a bounce when it is a delivery report', async () => {
    const { own, mail } = await sent();
    const hook = await world.hook(own);
    const messageId = headerOf(mail, 'message-id');
    expect((await hook.call('inbound', report(messageId, '4.2.2', 'delayed'))).data).toEqual({
      kind: 'bounce',
    });
    expect((await world.history(own)).emails[0].state).toBe('sent');
    for (let n = 0; n < 2; n += 1) await hook.call('inbound', report(messageId, '5.1.1'));
    expect((await world.history(own)).emails[0].state).toBe('failed');
    expect(world.told(own.teamId).slice(1)).toEqual([
      ...[
        'contact.email.status bounced',
        'contact.email.status bounced',
        'contact.email.bounce_hard bounced',
      ],
    ]);
    expect((await hook.call('inbound', report('<other@example.org>', '5.1.1'))).data).toEqual({
      kind: 'ignored',
    });
  });

  it('is a complaint when it is a feedback report', async () => {
    const { own, mail } = await sent();
    const hook = await world.hook(own);
    const text = report(headerOf(mail, 'message-id'), '5.1.1')
      .replace('report-type=delivery-status', 'report-type=feedback-report')
      .replace('message/delivery-status', 'message/feedback-report')
      .replace('Reporting-MTA: dns; mx.example.org\r\n\r\n', 'Feedback-Type: abuse\r\n');
    expect((await hook.call('inbound', text)).data).toEqual({ kind: 'complaint' });
    expect(world.told(own.teamId).at(-1)).toBe('contact.email.complaint complained');
  });

  it('is recorded once as inbound, with the contact and the mailbox', async () => {
    const { own, email } = await sent();
    const hook = await world.hook(own);
    const text = [
      'From: "Ada, L." <ADA@example.org>',
      `To: news@${own.domain}`,
      'Subject: =?utf-8?B?UsOpcG9uc2U=?=',
      'Message-ID: <reply-1@example.org>',
      '',
      'Thank you.',
    ].join('\r\n');
    for (let n = 0; n < 2; n += 1) expect((await hook.call('inbound', text)).data).toEqual({ kind: 'mail' });
    const { emails, total } = await world.history(own, '&direction=inbound');
    expect(total).toBe(1);
    expect(emails[0]).toMatchObject({
      ...{ contact_id: email.contact_id, mailbox_id: own.mailboxId, direction: 'inbound', state: 'received' },
      ...{ from: [{ address: 'ADA@example.org', name: 'Ada, L.' }], to: [{ address: `news@${own.domain}` }] },
      subject: 'Réponse',
    });
    expect((await hook.call('inbound', 'Subject: nobody\r\n\r\nx')).status).toBe(422);
    expect((await hook.call('inbound', '')).status).toBe(422);
  });
});
