import { compile } from 'html-to-text';
import { insertInto } from './html.rules.ts';
import { escapeHtml } from './merge.rules.ts';

/** Deeper nesting, and more elements under one parent, are left out of the text. */
const NESTING_MAX = 50;
const CHILDREN_MAX = 10_000;
/** Links of one email that are followed; further ones lead straight to their targets. */
export const LINKS_MAX = 500;
/** Longer addresses are no links that browsers and mail programs agree on. */
const URL_LENGTH_MAX = 2_048;
/** Keeps what follows the preview out of the line that inboxes show. */
const PREVIEW_PADDING = '&#8199;&#65279;&#847; '.repeat(30);

const toText = compile({
  wordwrap: false,
  limits: { maxDepth: NESTING_MAX, maxChildNodes: CHILDREN_MAX },
  selectors: [
    ...['h1', 'h2', 'h3', 'h4'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'skip' },
  ],
});

/** What the HTML says, for programs that show no HTML. */
export const textOfHtml = (html: string): string => toText(html).trim();

export interface Dressing {
  readonly preview: string | null;
  /** Of bulk emails; null: none. */
  readonly unsubscribeUrl: string | null;
  readonly pixelUrl: string;
  readonly linkUrl: (target: string) => string;
}

/** An email as it leaves: with its preview, its followed links, the pixel, and in bulk the way out. */
export function dress(
  of: { html: string; text: string },
  { preview, unsubscribeUrl, pixelUrl, linkUrl }: Dressing,
): { html: string; text: string } {
  let links = 0;
  const retarget = (href: string): string | null => {
    const target = links < LINKS_MAX ? webAddress(href) : null;
    if (target === null) return null;
    links += 1;
    return linkUrl(target);
  };
  const html = insertInto(of.html, {
    head: preview === null || preview === '' ? '' : hidden(preview),
    foot: `${unsubscribeUrl === null ? '' : footer(unsubscribeUrl)}${pixel(pixelUrl)}`,
    retarget,
  });
  const text = unsubscribeUrl === null ? of.text : `${of.text}\n\nUnsubscribe: ${unsubscribeUrl}\n`;
  return { html, text };
}

/** Headers of a bulk email: RFC 2369, and one click by RFC 8058. */
export const unsubscribeHeaders = (url: string): Record<string, string> => ({
  'List-Unsubscribe': `<${url}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
});

/** An address of the web in its plain form; null: mail, telephone, a place on the page, or none at all. */
export function webAddress(href: string): string | null {
  if (href.length > URL_LENGTH_MAX || !/^https?:\/\//i.test(href) || !URL.canParse(href)) return null;
  const plain = new URL(href).href;
  return plain.length > URL_LENGTH_MAX ? null : plain;
}

const hidden = (preview: string): string =>
  `<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${escapeHtml(preview)}${PREVIEW_PADDING}</div>`;

const footer = (url: string): string =>
  `<p style="margin:24px 0 0;font-size:12px;color:#6b7280;text-align:center"><a href="${escapeHtml(url)}">Unsubscribe</a></p>`;

const pixel = (url: string): string =>
  `<img src="${escapeHtml(url)}" width="1" height="1" alt="" style="display:block;border:0">`;
