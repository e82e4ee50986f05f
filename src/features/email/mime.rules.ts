import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/*
 * What is read of a mail that came in: headers, texts, and the parts of reports (RFC 2045, 2046, 2047). Whatever is
 * malformed is left out; nothing here can fail or take longer than the mail is long.
 */

/** Deeper parts, and further ones, are left out. */
const DEPTH_MAX = 10;
const PARTS_MAX = 200;
const HEADERS_MAX = 1_000;

export type Headers = ReadonlyMap<string, string>;

/** A part that has no parts. */
export interface MailPart {
  /** In lower case. */
  readonly type: string;
  readonly isAttachment: boolean;
  readonly text: () => string;
}

export interface ReadMail {
  /** First of each name, in lower case, unfolded. */
  readonly headers: Headers;
  /** `report-type` of a report, else null. */
  readonly reportType: string | null;
  readonly parts: readonly MailPart[];
}

export function readMail(bytes: Buffer): ReadMail {
  // Each byte one character: structure is ASCII, and contents are decoded by what they say of themselves.
  const { headers, body } = splitHead(bytes.toString('latin1'));
  const parts: MailPart[] = [];
  collect({ headers, body, depth: 0 }, parts);
  const { type, params } = contentType(headers);
  const isReport = type === 'multipart/report';
  return { headers, parts, reportType: isReport ? (params.get('report-type')?.toLowerCase() ?? '') : null };
}

/** Fields of a block such as those of delivery reports; later ones of a name are left out. */
export function readHeaders(block: string): Headers {
  const headers = new Map<string, string>();
  let count = 0;
  for (const line of block.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    if ((count += 1) > HEADERS_MAX) break;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    if (name !== '' && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}

/** A header as people read it: encoded words decoded (RFC 2047), bytes beyond ASCII as UTF-8 where they are. */
export function readableHeader(value: string | undefined): string {
  const raw = Buffer.from(value ?? '', 'latin1');
  const text = isUtf8(raw) ? raw.toString('utf8') : (value ?? '');
  return text
    .replace(/(\?=)[ \t]+(?==\?)/g, '$1')
    .replace(/=\?([^?\s]{1,40})\?([bq])\?([^?\s]*)\?=/gi, (_, charset, encoding, word) =>
      decodeText(wordBytes(String(encoding), String(word)), String(charset)),
    );
}

const wordBytes = (encoding: string, word: string): Buffer =>
  encoding.toLowerCase() === 'b' ? Buffer.from(word, 'base64') : quotedPrintable(word.replaceAll('_', ' '));

function splitHead(text: string): { headers: Headers; body: string } {
  const end = /\r?\n\r?\n/.exec(text);
  const isBare = /^\r?\n/.exec(text);
  if (isBare) return { headers: new Map(), body: text.slice(isBare[0].length) };
  if (!end) return { headers: readHeaders(text), body: '' };
  return { headers: readHeaders(text.slice(0, end.index)), body: text.slice(end.index + end[0].length) };
}

function collect(of: { headers: Headers; body: string; depth: number }, parts: MailPart[]): void {
  const { headers, body, depth } = of;
  const { type, params } = contentType(headers);
  const boundary = params.get('boundary');
  if (!type.startsWith('multipart/')) {
    if (parts.length < PARTS_MAX) parts.push(leafOf(headers, body));
    return;
  }
  if (boundary === undefined || boundary === '' || depth >= DEPTH_MAX) return;
  for (const section of sectionsOf(body, boundary)) {
    if (parts.length >= PARTS_MAX) return;
    collect({ ...splitHead(section), depth: depth + 1 }, parts);
  }
}

/** Between the lines of a boundary; one that is not closed runs to the end. */
function* sectionsOf(body: string, boundary: string): Generator<string> {
  const mark = `\n--${boundary}`;
  const text = `\n${body}`;
  let at = text.indexOf(mark);
  while (at >= 0) {
    const after = at + mark.length;
    if (text.startsWith('--', after)) return;
    const start = text.indexOf('\n', after);
    if (start < 0) return;
    const next = text.indexOf(mark, start);
    yield text.slice(start + 1, next < 0 ? undefined : next).replace(/\r$/, '');
    at = next;
  }
}

function leafOf(headers: Headers, body: string): MailPart {
  const { type, params } = contentType(headers);
  const encoding = (headers.get('content-transfer-encoding') ?? '').trim().toLowerCase();
  const charset = params.get('charset') ?? 'utf-8';
  return {
    type,
    isAttachment: /^\s*attachment/i.test(headers.get('content-disposition') ?? ''),
    text: () => decodeText(contentBytes(body, encoding), charset),
  };
}

function contentType(headers: Headers): { type: string; params: ReadonlyMap<string, string> } {
  const value = headers.get('content-type') ?? 'text/plain';
  const params = new Map<string, string>();
  for (const [, name, quoted, bare] of value.matchAll(/;\s*([\w-]{1,40})=(?:"([^"]*)"|([^\s;"]+))/g))
    if (name !== undefined) params.set(name.toLowerCase(), quoted ?? bare ?? '');
  return { type: (value.split(';')[0] ?? '').trim().toLowerCase(), params };
}

function contentBytes(body: string, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64');
  return encoding === 'quoted-printable' ? quotedPrintable(body) : Buffer.from(body, 'latin1');
}

function quotedPrintable(text: string): Buffer {
  const joined = text.replace(/=[ \t]*\r?\n/g, '');
  return Buffer.from(
    joined.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  );
}

/** NUL is no text that can be stored. */
function decodeText(bytes: Buffer, charset: string): string {
  return decoderOf(charset).decode(bytes).replaceAll('\0', '');
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder('latin1');
    throw error;
  }
}
