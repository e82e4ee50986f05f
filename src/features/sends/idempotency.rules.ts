import { createHash } from 'node:crypto';
import type { SendChannel } from '../delivery-rules/index.ts';

/** How long a key is kept (supplement 1, Idempotency-Key). */
export const KEY_LIFETIME_MS = 24 * 3_600_000;
/** 1 to 255 printable ASCII characters (supplement 1). */
const KEY = /^[\x20-\x7e]{1,255}$/;

export type ReadKey =
  { readonly kind: 'none' } | { readonly kind: 'malformed' } | { readonly kind: 'key'; readonly key: string };

/** An empty header is no key. */
export function readKey(header: string | undefined): ReadKey {
  if (header === undefined || header.trim() === '') return { kind: 'none' };
  return KEY.test(header) ? { kind: 'key', key: header } : { kind: 'malformed' };
}

/**
 * JSON text of a parsed body that is the same for the same content: keys sorted by UTF-16 units, no white space. Bodies nest
 * no deeper than the door lets in.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of what makes two requests the same: the route and the content of the body. */
export const hashOfRequest = (channel: SendChannel, body: unknown): Buffer =>
  createHash('sha256')
    .update(`${channel}\n${canonicalJson(body)}`)
    .digest();

/** What is known of a key: whose send it is, and of which request. */
export interface KeyOwner {
  readonly sendId: string;
  readonly requestHash: Buffer;
}

export interface Keyed extends KeyOwner {
  readonly teamId: string;
  readonly key: string;
}

/** Tells keys of different accounts apart: an id holds no blank. */
export const keyNameOf = ({ teamId, key }: Pick<Keyed, 'teamId' | 'key'>): string => `${teamId} ${key}`;

/** The first send of each key, sorted, so that two batches that claim the same keys cannot wait for each other. */
export function claimsOf(keyed: readonly Keyed[]): Keyed[] {
  const first = new Map<string, Keyed>();
  for (const one of keyed) if (!first.has(keyNameOf(one))) first.set(keyNameOf(one), one);
  return [...first].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, claim]) => claim);
}

/** `own`: the send has the key. `twin`: it is the owner again. `conflict`: the key was used for something else. */
export function standingOf(send: KeyOwner, owner: KeyOwner): 'own' | 'twin' | 'conflict' {
  if (send.sendId === owner.sendId) return 'own';
  return send.requestHash.equals(owner.requestHash) ? 'twin' : 'conflict';
}
