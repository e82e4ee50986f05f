import { ADDRESSES_MAX, checkAddress, flattened, isAddress, NAME_LENGTH_MAX } from './addresses.rules.ts';
import type { Address } from './addresses.rules.ts';
import { HTML_LENGTH_MAX, SUBJECT_LENGTH_MAX } from './email.rules.ts';
import { messageIdOf } from './hook.rules.ts';
import { readableHeader } from './mime.rules.ts';
import type { ReadMail } from './mime.rules.ts';

/** Characters of a header of addresses that are looked through. */
const HEADER_LENGTH_MAX = 20_000;
/** One address with its name before it, quoted or not, or alone. */
const MAILBOX = /(?:"((?:[^"\\]|\\.)*)"|([^",<>]*))\s*<([^<>\s]{3,254})>|([^\s,<>"]+@[^\s,<>"]+)/g;

/** A mail as it is recorded. */
export interface InboundRecord {
  readonly from: Address;
  readonly to: readonly Address[];
  readonly subject: string;
  readonly html: string;
  readonly text: string | null;
  readonly messageId: string | null;
}

/** Null: nobody sent it. */
export function inboundOf(mail: ReadMail): InboundRecord | null {
  const { headers, parts } = mail;
  const [from] = addressesOf(headers.get('from'));
  if (from === undefined) return null;
  const bodies = parts.filter((part) => !part.isAttachment);
  const textOf = (type: string): string | undefined =>
    bodies
      .find((part) => part.type === type)
      ?.text()
      .slice(0, HTML_LENGTH_MAX);
  const messageId = headers.get('message-id');
  const named = ['to', 'cc'].flatMap((name) => addressesOf(headers.get(name)));
  const to = named.length > 0 ? named : addressesOf(headers.get('delivered-to'));
  return {
    ...{ from, to: to.slice(0, ADDRESSES_MAX) },
    subject: flattened(readableHeader(headers.get('subject'))).slice(0, SUBJECT_LENGTH_MAX),
    html: textOf('text/html') ?? '',
    text: textOf('text/plain') ?? null,
    messageId: messageId === undefined || messageId === '' ? null : messageIdOf(messageId),
  };
}

export function addressesOf(header: string | undefined): Address[] {
  const text = (header ?? '').slice(0, HEADER_LENGTH_MAX);
  return [...text.matchAll(MAILBOX)].slice(0, ADDRESSES_MAX).flatMap(([, quoted, plain, bracketed, bare]) => {
    const address = bracketed ?? bare ?? '';
    if (!isAddress(address)) return [];
    const name = flattened(readableHeader((quoted ?? plain ?? '').replace(/\\(.)/g, '$1')));
    return [checkAddress('from', { address, name: name.slice(0, NAME_LENGTH_MAX) })];
  });
}
