import { invalidField } from '../../../kernel/text.ts';

/** Sending domains of one account. */
export const DOMAINS_MAX = 100;
/** RFC 1035, 2.3.4. */
const DOMAIN_LENGTH_MAX = 253;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** RFC 6376, 3.3.3: long enough for keys that live for years; 2,048 bits fit every signer. */
export const DKIM_BITS = 2_048;
export const VERIFICATION_BYTES = 24;
export const SELECTOR_PREFIX = 'tonegate';
const VERIFICATION_NAME = '_tonegate-verification';

export const PURPOSES = ['transactional', 'bulk'] as const;
export type Purpose = (typeof PURPOSES)[number];

export interface DnsRecord {
  type: 'TXT';
  name: string;
  value: string;
  /** Whether verification asks for it; the others are advice for good delivery. */
  isRequired: boolean;
}

/** What a domain's records say. */
export interface DomainKeys {
  domain: string;
  verificationToken: string;
  dkimSelector: string;
  /** Base64 of the key's DER (RFC 6376, 3.6.1). */
  dkimPublicKey: string;
}

/** A domain name in lower case, of ASCII (international names in their `xn--` form). @throws Problem validation-error */
export function domainName(text: string): string {
  const name = text.trim().toLowerCase().replace(/\.$/, '');
  const labels = name.split('.');
  const isName = labels.length >= 2 && labels.every((label) => LABEL.test(label));
  // An address such as 192.0.2.1 has the form of a name; no top-level domain is of digits alone.
  if (!isName || name.length > DOMAIN_LENGTH_MAX || /^\d+$/.test(labels.at(-1) ?? '')) {
    throw invalidField('domain', 'domain must be a domain name such as mail.example.com.');
  }
  return name;
}

/**
 * The records to publish: proof of ownership and the DKIM key (RFC 6376), both asked for; then SPF (RFC 7208) and DMARC
 * (RFC 7489) to begin with, which a domain may already have in other words.
 */
export function recordsOf(keys: DomainKeys): DnsRecord[] {
  const txt = (name: string, value: string, isRequired: boolean): DnsRecord => ({
    ...{ type: 'TXT', name, value, isRequired },
  });
  const { domain, dkimSelector, dkimPublicKey } = keys;
  const required = true;
  return [
    txt(`${VERIFICATION_NAME}.${domain}`, `tonegate-verification=${keys.verificationToken}`, required),
    txt(`${dkimSelector}._domainkey.${domain}`, `v=DKIM1; k=rsa; p=${dkimPublicKey}`, required),
    txt(domain, 'v=spf1 a mx ~all', !required),
    txt(`_dmarc.${domain}`, 'v=DMARC1; p=none', !required),
  ];
}

/** Whether a record found at the name says what is asked for; white space between tags does not count (RFC 6376, 3.2). */
export function isPublished(record: DnsRecord, found: readonly string[]): boolean {
  const bare = (text: string): string => text.replace(/\s+/g, '').replace(/;$/, '');
  return found.some((value) => bare(value) === bare(record.value));
}
