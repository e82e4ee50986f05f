import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { settingsOf } from '../../src/features/carriers/carriers.rules.ts';
import type { CarrierSettings } from '../../src/features/carriers/carriers.rules.ts';
import type { MailRequest } from '../../src/features/carriers/index.ts';
import type { Said } from '../../src/features/carriers/said.rules.ts';
import { SmtpDriver } from '../../src/features/carriers/smtp.driver.ts';
import type { SmtpOptions } from '../../src/features/carriers/smtp.driver.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { makeCertificate } from '../_util/certificates.ts';
import { startMailServer } from './_mail-server.ts';
import type { MailAnswer, MailServer } from './_mail-server.ts';
import { going, mailRequest } from './_requests.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
const LOGIN = { user: 'mailer', pass: 'smtp-password' };

describe('mail over SMTP', () => {
  let folder: string;
  let tls: { cert: string; key: string };
  let server: MailServer | undefined;
  let driver: SmtpDriver | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tonegate-smtp-'));
    const { cert, key } = await makeCertificate(folder, 'mail');
    tls = { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
  });
  afterEach(async () => {
    await driver?.close();
    await server?.close();
    server = driver = undefined;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const start = async (
    of: Parameters<typeof startMailServer>[0] = {},
    given: object = { security: 'none' },
    over: Partial<SmtpOptions> = {},
  ): Promise<MailServer> => {
    server = await startMailServer(of);
    const settings = settingsOf('smtp', {
      ...{ host: '127.0.0.1', port: server.port },
      ...given,
    }) as CarrierSettings<'smtp'>;
    const clock = new ManualClock(NOW_MS);
    driver = new SmtpDriver({ settings, clock, allowPrivateTargets: true, ...over });
    return server;
  };
  const send = (request: MailRequest = mailRequest(), signal = going()): Promise<Said> => {
    if (!driver) throw new Error('no driver');
    return driver.send('mail', request, signal);
  };

  it('goes to all that it is for, blind copies unseen, with the headers it was given', async () => {
    const { caught } = await start();
    const request = mailRequest({
      ...{ cc: [{ address: 'bob@example.org' }], bcc: [{ address: 'eve@example.org' }] },
      subject: 'Grüße\r\nBcc: mallory@example.org',
      headers: { 'List-Unsubscribe': '<https://example.com/u/1>' },
    });
    const { answer } = await send(request);
    expect(answer).toEqual({
      kind: 'accepted',
      carrierMessageId: request.messageId,
      result: { outcomeCode: 0 },
    });
    const [mail] = caught;
    expect(mail?.from).toBe('news@example.com');
    expect(mail?.to).toEqual(['ada@example.org', 'bob@example.org', 'eve@example.org']);
    const { headers, body } = partsOf(mail?.message);
    expect(headers.get('from')).toBe('Example Ltd <news@example.com>');
    expect(headers.get('message-id')).toBe(request.messageId);
    expect(headers.get('list-unsubscribe')).toBe('<https://example.com/u/1>');
    expect(headers.get('date')).toBe('Sun, 01 Mar 2026 12:00:00 +0000');
    expect(headers.has('bcc')).toBe(false);
    expect(mail?.message.toString()).not.toContain('eve@');
    expect(body).toContain('<p>Hello, Ada.</p>');
  });

  it('is signed for its domain so that anybody can verify it', async () => {
    const { caught } = await start();
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const dkim = {
      ...{ domain: 'example.com', selector: 'tonegate' },
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    };
    await send(mailRequest({ dkim, html: '<p>One  line </p>\n\n<p>And a lone .\n.\n</p>\n\n' }));
    const message = caught[0]?.message ?? Buffer.alloc(0);
    const key = publicKey.export({ type: 'spki', format: 'pem' }) as string;
    expect(dkimHolds(message, key)).toMatchObject({
      isBody: true,
      isHeaders: true,
      d: 'example.com',
      s: 'tonegate',
    });
    const changed = Buffer.from(
      message.toString('latin1').replace('Subject: Hello', 'Subject: Hullo'),
      'latin1',
    );
    expect(dkimHolds(changed, key)).toMatchObject({ isBody: true, isHeaders: false });
  });

  it.each([
    ['starttls', false],
    ['tls', true],
  ])('is encrypted and logged in with security %s', async (security, secure) => {
    const given = { security, username: LOGIN.user, password: LOGIN.pass };
    const { caught } = await start({ ...tls, secure, login: LOGIN }, given, { tuning: { ca: tls.cert } });
    expect((await send()).answer.kind).toBe('accepted');
    expect(caught).toMatchObject([{ user: 'mailer', isSecure: true }]);
  });

  it('is not sent to a server whose certificate nobody vouches for', async () => {
    const { caught } = await start({ ...tls, secure: true }, { security: 'tls' });
    const { answer, fault } = await send();
    expect(answer.kind).toBe('retry');
    expect(fault).toEqual(expect.any(String));
    expect(caught).toEqual([]);
  });

  it('is not sent in the clear when the server has no STARTTLS', async () => {
    const { caught } = await start({}, { security: 'starttls' });
    expect((await send()).answer.kind).not.toBe('accepted');
    expect(caught).toEqual([]);
  });

  it('is refused with a wrong password, which is the connection’s fault', async () => {
    await start({ login: LOGIN }, { security: 'none', username: 'mailer', password: 'wrong' });
    const { answer, fault } = await send();
    expect(answer).toMatchObject({ kind: 'refused', result: { outcomeCode: 6003 } });
    expect(fault).toContain('535');
  });

  it.each([
    ['connect 421 Too busy', { kind: 'retry' }],
    ['connect 554 Go away', { kind: 'refused', result: { outcomeCode: 6003 } }],
    ['sender 451 Later', { kind: 'retry' }],
    ['sender 550 5.7.1 Not you', { kind: 'refused', result: { outcomeCode: 6000 } }],
    ['recipient 450 4.2.1 Later', { kind: 'retry' }],
    ['recipient 550 5.1.1 Nobody', { kind: 'refused', result: { outcomeCode: 5030 } }],
    ['recipient 552 5.2.2 Full', { kind: 'refused', result: { outcomeCode: 5030 } }],
    ['data 550 5.7.1 Spam', { kind: 'refused', result: { outcomeCode: 4008 } }],
    ['data 550 5.1.1 Nobody after all', { kind: 'refused', result: { outcomeCode: 5030 } }],
    ['data 554 Transaction failed', { kind: 'refused', result: { outcomeCode: 6000 } }],
    ['data 451 4.3.0 Try later', { kind: 'refused', result: { outcomeCode: 6003 } }],
  ] as [MailAnswer, object][])('answered %s at a stage is %j', async (said, expected) => {
    const { script } = await start();
    script(said);
    expect((await send()).answer).toMatchObject(expected);
    expect((await send()).answer.kind).toBe('accepted');
  });

  it('that reached only some of its recipients is accepted, and a bounce when it reached none of those it was to', async () => {
    await start();
    const copied = { cc: [{ address: 'bob@example.org' }] };
    const some = await send(
      mailRequest({ to: [{ address: 'ada@example.org' }, { address: 'nobody@example.org' }] }),
    );
    expect(some.answer).toMatchObject({ kind: 'accepted', result: { outcomeCode: 0 } });
    const none = await send(mailRequest({ ...copied, to: [{ address: 'nobody@example.org' }] }));
    expect(none.answer).toMatchObject({ kind: 'accepted', result: { outcomeCode: 5030 } });
  });

  it('takes one connection for mails that follow one another, and a new one when the server closed it', async () => {
    const mail = await start();
    for (let n = 0; n < 5; n += 1) expect((await send()).answer.kind).toBe('accepted');
    expect(mail.connections()).toBe(1);
    mail.cut();
    expect((await send()).answer.kind).toBe('accepted');
    expect(mail.connections()).toBe(2);
    expect(mail.caught).toHaveLength(6);
  });

  it('takes five connections at most, however much is sent at once', async () => {
    const mail = await start();
    const all = await Promise.all(Array.from({ length: 40 }, () => send()));
    expect(all.map(({ answer }) => answer.kind)).toEqual(Array.from({ length: 40 }, () => 'accepted'));
    expect(mail.connections()).toBeLessThanOrEqual(5);
    expect(mail.caught).toHaveLength(40);
  });

  it('does not go to addresses that are not public unless these are allowed', async () => {
    const mail = await start({}, { security: 'none' }, { allowPrivateTargets: false });
    const { answer } = await send();
    expect(answer).toMatchObject({ kind: 'refused', result: { outcomeCode: 6003 } });
    expect(mail.connections()).toBe(0);
  });
});

function partsOf(message: Buffer | undefined): { headers: Map<string, string>; body: string } {
  const text = message?.toString('utf8') ?? '';
  const at = text.indexOf('\r\n\r\n');
  const unfolded = text.slice(0, at).replace(/\r\n[ \t]+/g, ' ');
  const headers = unfolded.split('\r\n').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { headers: new Map(headers), body: text.slice(at + 4) };
}

/** Verifies a DKIM signature with relaxed canonicalization of both parts (RFC 6376, 3.4.2, 3.4.4, 3.7). */
function dkimHolds(message: Buffer, publicKey: string) {
  const text = message.toString('latin1');
  const at = text.indexOf('\r\n\r\n');
  const fields = text.slice(0, at).split(/\r\n(?![ \t])/);
  const signature = fields.find((field) => /^dkim-signature:/i.test(field)) ?? '';
  const tags = Object.fromEntries(
    signature
      .slice(signature.indexOf(':') + 1)
      .split(';')
      .map((tag) => {
        const [name = '', ...value] = tag.split('=');
        return [name.trim(), value.join('=').replace(/\s/g, '')];
      }),
  ) as Record<string, string>;
  const relaxed = (field: string): string => {
    const colon = field.indexOf(':');
    const value = field
      .slice(colon + 1)
      .replace(/\r\n/g, '')
      .replace(/[ \t]+/g, ' ')
      .trim();
    return `${field.slice(0, colon).trim().toLowerCase()}:${value}`;
  };
  const lines = text
    .slice(at + 4)
    .split('\r\n')
    .map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
  while (lines.length > 0 && lines.at(-1) === '') lines.pop();
  const body = lines.map((line) => `${line}\r\n`).join('');
  const left = [...fields];
  const signed = (tags['h'] ?? '').split(':').map((name) => {
    const index = left.findLastIndex((field) => field.toLowerCase().startsWith(`${name.toLowerCase()}:`));
    return index < 0 ? '' : `${relaxed(left.splice(index, 1)[0] ?? '')}\r\n`;
  });
  const own = relaxed(signature).replace(/\bb=[^;]*/, 'b=');
  return {
    ...{ d: tags['d'], s: tags['s'] },
    isBody: createHash('sha256').update(body, 'latin1').digest('base64') === tags['bh'],
    isHeaders: verify(
      'sha256',
      Buffer.from(signed.join('') + own, 'latin1'),
      createPublicKey(publicKey),
      Buffer.from(tags['b'] ?? '', 'base64'),
    ),
  };
}
