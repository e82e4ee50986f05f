import { isIP } from 'node:net';
import { isPrivateName, isPublicAddress } from './address.ts';

export type RefusalReason = 'scheme' | 'credentials' | 'address' | 'malformed';

/** An outbound address that is not allowed (supplement 8). Its message never repeats the address. */
export class TargetRefused extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(REASONS[reason]);
    this.name = 'TargetRefused';
    this.reason = reason;
  }
}

const REASONS: Record<RefusalReason, string> = {
  scheme: 'only https addresses are allowed',
  credentials: 'the address must not contain a user name or password',
  address: 'the address is not on the public internet',
  malformed: 'the address is malformed',
};

/** Longest address taken; the longest that common HTTP servers take in a request line is 8 KiB. */
const URL_LENGTH_MAX = 2_048;

/**
 * Parses an outbound address and judges what can be judged without a resolver: scheme, credentials, literal
 * addresses (the URL parser turns decimal, octal and hexadecimal IPv4 into the dotted form) and private names.
 * @throws TargetRefused
 */
export function parseTarget(text: string, allowPrivateTargets: boolean): URL {
  if (text.length > URL_LENGTH_MAX || !URL.canParse(text)) throw new TargetRefused('malformed');
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowPrivateTargets && url.protocol === 'http:')) {
    throw new TargetRefused('scheme');
  }
  if (url.username !== '' || url.password !== '') throw new TargetRefused('credentials');
  const host = hostOf(url);
  if (host === '' || url.port === '0') throw new TargetRefused('malformed');
  if (allowPrivateTargets) return url;
  if (isIP(host) !== 0 ? !isPublicAddress(host) : isPrivateName(host)) throw new TargetRefused('address');
  return url;
}

/** The host as a resolver takes it: no brackets, no trailing dot, lower case. */
export function hostOf(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
