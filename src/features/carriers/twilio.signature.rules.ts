import { createHmac, timingSafeEqual } from 'node:crypto';

/** Parameters of a form in the order they came; names may repeat. */
export type FormFields = readonly (readonly [name: string, value: string])[];

/**
 * True when `signature` is Twilio's of one of the addresses: base64 HMAC-SHA1 under the account's auth token of the address
 * followed by each parameter's name and value, sorted by name (Twilio, Webhooks security). A name that repeats stands once
 * for each of its different values, sorted.
 */
export function isTwilioSignature(input: {
  readonly signature: string;
  readonly authToken: string;
  readonly urls: readonly string[];
  readonly fields: FormFields;
}): boolean {
  const given = Buffer.from(input.signature);
  const parameters = parametersOf(input.fields);
  return input.urls.some((url) => {
    const digest = createHmac('sha1', input.authToken)
      .update(url + parameters)
      .digest('base64');
    const wanted = Buffer.from(digest);
    return wanted.length === given.length && timingSafeEqual(wanted, given);
  });
}

function parametersOf(fields: FormFields): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of fields) values.set(name, (values.get(name) ?? new Set()).add(value));
  return [...values.keys()]
    .sort()
    .flatMap((name) => [...(values.get(name) ?? [])].sort().map((value) => name + value))
    .join('');
}

const SCHEME_PORTS: Record<string, string> = { 'https:': '443', 'http:': '80' };

/**
 * The ways a caller may have written the address of a request to `path` (with its query) under PUBLIC_URL: with and
 * without the port, since Twilio signs what it dialled and proxies may hide the port.
 */
export function signedUrls(publicUrl: string, path: string): string[] {
  const { protocol, hostname, port, pathname } = new URL(publicUrl);
  const rest = pathname.replace(/\/$/, '') + path;
  const ports = new Set([port, '', SCHEME_PORTS[protocol] ?? '']);
  return [...ports].map((one) => `${protocol}//${hostname}${one === '' ? '' : `:${one}`}${rest}`);
}
