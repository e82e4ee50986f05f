import { invalidField } from '../../kernel/text.ts';

/** Contract, Address object. */
export interface Address {
  readonly address: string;
  readonly name?: string;
}

/** Addresses of each of `to`, `cc` and `bcc`. */
export const ADDRESSES_MAX = 50;
/** RFC 5321, 4.5.3.1.3: a path of 256 octets with its brackets. */
export const ADDRESS_LENGTH_MAX = 254;
export const NAME_LENGTH_MAX = 200;

/**
 * RFC 5321 without its quoted and literal forms: nothing in it can end an address or begin another one in a header. Letters
 * of any script are taken (RFC 6531).
 */
const ADDRESS =
  /^[^\s@,<>()[\]:;"\\\p{Cc}\p{Cf}]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u;
const CONTROL = /\p{Cc}/u;

export const isAddress = (text: string): boolean => text.length <= ADDRESS_LENGTH_MAX && ADDRESS.test(text);

/** What addresses are compared by: rules, limits and the do-not-contact list know them in lower case. */
export const keyOfAddress = (address: string): string => address.toLowerCase();

export const domainOf = (address: string): string =>
  address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/** One address object. @throws Problem validation-error */
export function checkAddress(field: string, value: unknown): Address {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidField(field, `${field} must be an address object: { address, name }.`);
  const { address, name } = value as { address?: unknown; name?: unknown };
  const text = typeof address === 'string' ? address.trim() : '';
  if (!isAddress(text))
    throw invalidField(
      `${field}.address`,
      `${field}.address must be an email address such as ada@example.com.`,
    );
  if (name === undefined || name === null || name === '') return { address: text };
  return { address: text, name: oneLine(`${field}.name`, name, NAME_LENGTH_MAX) };
}

/** A list of address objects, or one; each address once. @throws Problem validation-error */
export function checkAddresses(field: string, value: unknown): Address[] {
  if (value === undefined || value === null) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > ADDRESSES_MAX)
    throw invalidField(field, `${field} must have at most ${ADDRESSES_MAX} addresses.`);
  const byKey = new Map<string, Address>();
  for (const one of list) {
    const address = checkAddress(field, one);
    const key = keyOfAddress(address.address);
    if (!byKey.has(key)) byKey.set(key, address);
  }
  return [...byKey.values()];
}

/** Text for a header: a line break or any other control character could begin another one. @throws Problem validation-error */
export function oneLine(field: string, value: unknown, lengthMax: number): string {
  if (typeof value !== 'string') throw invalidField(field, `${field} must be a text.`);
  const text = value.trim();
  if (CONTROL.test(text)) throw invalidField(field, `${field} must be one line.`);
  if (text.length > lengthMax) throw invalidField(field, `${field} has more than ${lengthMax} characters.`);
  return text;
}

/** The same of values that were merged in: what a contact holds is no reason to refuse. */
export const flattened = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').trim();
