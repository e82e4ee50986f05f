import { compile } from 'html-to-text';
import sanitizeHtml from 'sanitize-html';

/** Deeper nesting is cut off, here and where text is made of it. */
const NESTING_MAX = 50;
/** Elements under one parent that are turned into text. */
const CHILDREN_MAX = 10_000;

const OPTIONS: sanitizeHtml.IOptions = {
  allowedTags: [
    ...['p', 'br', 'div', 'span', 'b', 'strong', 'i', 'em', 'u', 's', 'sub', 'sup', 'a', 'ul', 'ol', 'li'],
    ...['blockquote', 'code', 'pre', 'h1', 'h2', 'h3', 'h4', 'hr'],
  ],
  allowedAttributes: { a: ['href', 'title', 'rel'] },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  nestingLimit: NESTING_MAX,
  // What a link opens learns nothing of the page that shows the text, and cannot steer it.
  transformTags: { a: sanitizeHtml.simpleTransform('a', { rel: 'noopener noreferrer nofollow' }) },
};

const HEADINGS = ['h1', 'h2', 'h3', 'h4'];
const toText = compile({
  wordwrap: false,
  limits: { maxDepth: NESTING_MAX, maxChildNodes: CHILDREN_MAX },
  selectors: [
    ...HEADINGS.map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
  ],
});

/** Basic HTML without anything that acts: scripts, styles, handlers, forms, frames and images are left out. */
export const sanitizeBasicHtml = (html: string): string => sanitizeHtml(html, OPTIONS);

/** What basic HTML says, as plain text. */
export const textOfBasicHtml = (html: string): string => toText(html).trim();
