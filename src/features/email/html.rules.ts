import { escapeHtml } from './merge.rules.ts';

/*
 * Places in an email's HTML that something is put into. The author's markup stays as it is, to the byte: mail programs
 * depend on comments, doctypes and attributes that a parser would write in another way. One pass, each character once.
 */

/** A start tag; positions are offsets in the text. */
interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly start: number;
  /** After its `>`. */
  readonly end: number;
  readonly href: Span | null;
}

/** Of an attribute's value, without its quotes. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Whatever is within these is text. */
const RAW_TEXT = new Set(['script', 'style', 'textarea', 'title', 'xmp', 'noscript', 'iframe']);
const NAME_START = /[a-z]/i;
const NAME = /[^\s/>]*/y;
const ATTRIBUTE = /[\s/]*([^\s/>=]+)?(\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y;

/** What is put into a mail. */
export interface Insertions {
  /** At the beginning of the body. */
  readonly head: string;
  /** At its end. */
  readonly foot: string;
  /** A link's new target; null: it stays. Asked for `a` and `area` only. */
  readonly retarget: (href: string) => string | null;
}

export function insertInto(html: string, { head, foot, retarget }: Insertions): string {
  const edits: { at: number; until: number; text: string }[] = [];
  let headAt = 0;
  let footAt = html.length;
  for (const tag of tagsOf(html)) {
    if (tag.name === 'body' && !tag.isEnd && headAt === 0) headAt = tag.end;
    if (tag.name === 'body' && tag.isEnd) footAt = tag.start;
    if (tag.href === null || tag.isEnd) continue;
    const { start: at, end: until } = tag.href;
    const target = retarget(decodeEntities(html.slice(at, until)).trim());
    if (target !== null) edits.push({ at, until, text: escapeHtml(target) });
  }
  edits.push({ at: headAt, until: headAt, text: head }, { at: footAt, until: footAt, text: foot });
  edits.sort((a, b) => a.at - b.at);
  let result = '';
  let done = 0;
  for (const { at, until, text } of edits) {
    result += html.slice(done, at) + text;
    done = until;
  }
  return result + html.slice(done);
}

/** Tags outside comments and raw text; what is not closed ends the list. */
function* tagsOf(html: string): Generator<Tag> {
  const lower = html.toLowerCase();
  let at = 0;
  for (;;) {
    const start = html.indexOf('<', at);
    if (start < 0) return;
    if (html.startsWith('<!--', start)) {
      at = html.indexOf('-->', start + 4);
      if (at < 0) return;
      continue;
    }
    const isEnd = html[start + 1] === '/';
    const nameAt = start + (isEnd ? 2 : 1);
    if (!NAME_START.test(html[nameAt] ?? '')) {
      at = start + 1;
      continue;
    }
    const tag = tagAt(html, { start, nameAt, isEnd });
    if (tag === null) return;
    yield tag;
    at = tag.end;
    if (!RAW_TEXT.has(tag.name) || isEnd) continue;
    at = lower.indexOf(`</${tag.name}`, at);
    if (at < 0) return;
  }
}

function tagAt(html: string, of: { start: number; nameAt: number; isEnd: boolean }): Tag | null {
  NAME.lastIndex = of.nameAt;
  const name = (NAME.exec(html)?.[0] ?? '').toLowerCase();
  const isLink = name === 'a' || name === 'area';
  let at = of.nameAt + name.length;
  let href: Span | null = null;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const match = ATTRIBUTE.exec(html);
    if (!match || match[0] === '') break;
    at += match[0].length;
    const [, attribute, , quoted, apostrophed, bare] = match;
    const value = quoted ?? apostrophed ?? bare;
    if (!isLink || href !== null || attribute?.toLowerCase() !== 'href' || value === undefined) continue;
    const end = bare === undefined ? at - 1 : at;
    href = { start: end - value.length, end };
  }
  if (html[at] !== '>') return null;
  return { name, isEnd: of.isEnd, start: of.start, end: at + 1, href };
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const CODE_POINT_MAX = 0x10_ffff;

/** Of the names only those that addresses need; others are as they are. */
const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? parseInt(String(hex), 16) : Number(decimal);
    return code > 0 && code <= CODE_POINT_MAX ? String.fromCodePoint(code) : whole;
  });
