import { describe, expect, it } from 'vitest';
import { addressesOf } from '../../src/features/email/inbound.rules.ts';
import { dress, textOfHtml, webAddress } from '../../src/features/email/content.rules.ts';
import { mergeHtml, mergeText } from '../../src/features/email/merge.rules.ts';
import type { MergeSources } from '../../src/features/email/merge.rules.ts';
import { readableHeader, readMail } from '../../src/features/email/mime.rules.ts';

const contact = {
  ...{ firstName: '<script>alert(1)</script>', lastName: null, email: 'ada@example.org' },
  custom: { plan: 'A & "B"', __proto__: 'x' },
} as unknown as MergeSources['contact'];
const sources: MergeSources = {
  contact,
  user: { name: 'Grace Brewster Hopper', email: 'grace@example.com' },
};

describe('merge fields', () => {
  it.each([
    ['Hi {{contact.first_name}}', 'Hi &#60;script&#62;alert(1)&#60;/script&#62;'],
    ['{{ contact.email }} {{contact.plan}}', 'ada@example.org A &#38; &#34;B&#34;'],
    ['{{contact.last_name|there}} {{contact.last_name}}.', 'there .'],
    ['{{contact.constructor}}{{contact.toString|x}}{{other.name}}', 'x'],
    ['{{user.first_name}} {{sender.last_name}} {{user.email}}', 'Grace Brewster Hopper grace@example.com'],
    ['{{ nothing }} {{{contact.email}}} {{contact.email', '{{ nothing }} {ada@example.org} {{contact.email'],
  ])('%s', (template, expected) => expect(mergeHtml(template, sources)).toBe(expected));

  it('are not looked for in values', () => {
    const nested = { ...sources, contact: { ...contact, firstName: '{{contact.email}}' } } as MergeSources;
    expect(mergeText('{{contact.first_name}}', nested)).toBe('{{contact.email}}');
  });
});

describe('what is put into the HTML', () => {
  const dressing = {
    ...{ preview: null, unsubscribeUrl: null, pixelUrl: 'https://p/' },
    linkUrl: (target: string) => `https://t/?u=${encodeURIComponent(target)}`,
  };
  const dressed = (html: string): string =>
    dress({ html, text: '' }, dressing).html.replace(/<img src="https:\/\/p\/"[^>]*>/, '');
  const link = (target: string): string => `https://t/?u=${encodeURIComponent(target)}`;

  it.each([
    ['<a href="https://x.org/a?b=1&amp;c=2">', `<a href="${link('https://x.org/a?b=1&c=2')}">`],
    ["<A class=x HREF='http://x.org'>", `<A class=x HREF='${link('http://x.org/')}'>`],
    ['<a href=https://x.org/p>', `<a href=${link('https://x.org/p')}>`],
    [
      '<a href = "https://x.org/" href="https://y.org/">',
      `<a href = "${link('https://x.org/')}" href="https://y.org/">`,
    ],
  ])('follows the link of %s', (html, expected) => expect(dressed(html)).toBe(expected));

  it.each([
    '<a href="mailto:a@x.org">',
    '<a href="javascript:alert(1)">',
    '<a href="#top">',
    '<a title="<a href=\'https://x.org\'>">',
    '<!-- <a href="https://x.org/"> -->',
    '<style>a[href="https://x.org/"] {}</style>',
    '<img href="https://x.org/">',
    '<a href="https://x.org/',
    '<a href=>',
    'a < b and <',
    '',
  ])('leaves %s as it is', (html) => expect(dressed(html)).toBe(html));

  it('goes inside the body, wherever its tags are', () => {
    const html = '<!doctype html><html><BODY class="</body>"><p>x</p></BODY ></html>';
    const whole = dress({ html, text: 't' }, { ...dressing, preview: 'P', unsubscribeUrl: 'https://u/' });
    expect(whole.html).toMatch(/^<!doctype html><html><BODY class="<\/body>"><div style="display:none/);
    expect(whole.html).toMatch(
      /<p>x<\/p><p style=[^>]*><a href="https:\/\/u\/">Unsubscribe<\/a><\/p><img [^>]*><\/BODY ><\/html>$/,
    );
    expect(whole.text).toBe('t\n\nUnsubscribe: https://u/\n');
  });

  it.each([
    ['<a '.repeat(60_000)],
    ['<a href="'.repeat(20_000)],
    ["<a b='".repeat(30_000)],
    ['<style>'.repeat(25_000)],
    ['<!--'.repeat(50_000)],
    [`<a ${' = '.repeat(60_000)}>`],
    ['<div>'.repeat(40_000)],
    ['&'.repeat(200_000)],
    ['{{ '.repeat(60_000)],
  ])('ends for hostile HTML %#', (html) => {
    expect(dressed(html).length).toBeGreaterThanOrEqual(html.length);
    expect(typeof textOfHtml(html)).toBe('string');
    expect(mergeHtml(html, sources)).toBe(html);
  });

  it('takes no address that is none', () => {
    expect(webAddress('https://x.org/\r\nSet-Cookie: a')).not.toContain('\n');
    for (const href of [
      '//x.org',
      'https:x',
      'https://',
      `https://x.org/${'a'.repeat(3_000)}`,
      'data:text/html,x',
    ])
      expect(webAddress(href)).toBeNull();
  });
});

describe('mail that came in', () => {
  it('is read through encodings, character sets and nested parts', () => {
    const mail = readMail(
      Buffer.from(
        [
          'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= =?iso-8859-1?B?5A==?=',
          'Content-Type: multipart/mixed; boundary="o"',
          '',
          '--o',
          'Content-Type: multipart/alternative; boundary=i',
          '',
          '--i',
          'Content-Type: text/plain; charset=iso-8859-1',
          'Content-Transfer-Encoding: quoted-printable',
          '',
          'Gr=FC=',
          '=DFe',
          '--i',
          'Content-Type: text/html',
          'Content-Transfer-Encoding: base64',
          '',
          Buffer.from('<p>Grüße</p>').toString('base64'),
          '--i--',
          '--o',
          'Content-Type: text/plain',
          'Content-Disposition: attachment',
          '',
          'attached',
          '--o--',
        ].join('\r\n'),
      ),
    );
    expect(readableHeader(mail.headers.get('subject'))).toBe('Grüßeä');
    expect(mail.parts.map((part) => [part.type, part.isAttachment, part.text()])).toEqual([
      ['text/plain', false, 'Grüße'],
      ['text/html', false, '<p>Grüße</p>'],
      ['text/plain', true, 'attached'],
    ]);
  });

  it.each([
    ['', 0],
    ['\r\n', 1],
    ['Content-Type: multipart/mixed; boundary=b\r\n\r\n'.repeat(50), 0],
    [`Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(1_000)}`, 200],
    ['Content-Type: text/plain; charset=no-such\r\n\r\n\u0000x', 1],
    [': '.repeat(100_000), 1],
  ])('ends for malformed mail %#', (text, parts) => {
    const mail = readMail(Buffer.from(text, 'latin1'));
    for (const part of mail.parts) expect(part.text()).not.toContain('\0');
    expect(mail.parts.length).toBeGreaterThanOrEqual(Math.min(parts, 1));
    expect(mail.parts.length).toBeLessThanOrEqual(200);
  });

  it.each([
    ['Ada <ada@example.org>', [{ address: 'ada@example.org', name: 'Ada' }]],
    [
      '"Lovelace, Ada" <ada@example.org>, b@example.org',
      [{ address: 'ada@example.org', name: 'Lovelace, Ada' }, { address: 'b@example.org' }],
    ],
    ['=?utf-8?q?=C3=84da?= <ada@example.org>', [{ address: 'ada@example.org', name: 'Äda' }]],
    ['undisclosed-recipients:;', []],
    ['"'.repeat(20_000), []],
  ])('names its parties: %#', (header, expected) => expect(addressesOf(header)).toEqual(expected));
});
