import { isE164 } from '../../kernel/e164.ts';
import { isUuid } from '../../kernel/ids.ts';
import { checkText, invalidField } from '../../kernel/text.ts';

/** Identifiers of one call that adds or removes. */
export const IDENTIFIERS_MAX = 10_000;
/** Identifiers of one look-up: as many as fit in an address. */
export const LOOKUP_MAX = 500;
/** Characters of a comma-separated list in a query. */
export const LOOKUP_LENGTH_MAX = 14_000;
export const REASON_LENGTH_MAX = 500;
export const METHOD_LENGTH_MAX = 100;
/** RFC 5321, 4.5.3.1.3: a path of 256 octets with its brackets. */
export const EMAIL_LENGTH_MAX = 254;
export const PHONE_LENGTH_MAX = 16;
/** Where an entry came from, and why, unless the caller says (contract, Do-not-contact entry). */
const DEFAULT_LABEL = 'api';
const EMAIL = /^[^\s@,<>]{1,64}@[^\s@,<>]{1,253}$/;

/** What is asked for: E.164 numbers and emails in lower case, each once, in the order given. */
export interface Identifiers {
  phoneNumbers: string[];
  emails: string[];
}

/** @throws Problem validation-error (a wrong one, none, or more than `max`) */
export function checkIdentifiers(
  fields: { phones: { name: string; values: unknown }; emails: { name: string; values: unknown } },
  max: number,
): Identifiers {
  const phoneNumbers = checkAll(fields.phones, max, checkPhone);
  const emails = checkAll(fields.emails, max, checkEmail);
  const count = phoneNumbers.length + emails.length;
  if (count === 0) {
    throw invalidField(fields.phones.name, `${fields.phones.name} or ${fields.emails.name} is required.`);
  }
  if (count > max) throw invalidField(fields.phones.name, `At most ${max} identifiers may be sent at once.`);
  return { phoneNumbers, emails };
}

/** A single value is a list of one; undefined, null and an empty list are none. */
function checkAll(
  field: { name: string; values: unknown },
  max: number,
  check: (name: string, value: unknown) => string,
): string[] {
  const { name, values } = field;
  if (values === undefined || values === null) return [];
  const list: unknown[] = Array.isArray(values) ? values : [values];
  if (list.length > max) throw invalidField(name, `${name} has more than ${max} identifiers.`);
  return list.map((value) => check(name, value));
}

/** The values of a comma-separated list; blanks around them are none of theirs. */
export const splitList = (text: string | undefined): string[] | undefined =>
  text === undefined
    ? undefined
    : text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');

/** Numbers are matched exactly (contract, Do-not-contact list). @throws Problem validation-error */
export function checkPhone(name: string, value: unknown): string {
  if (typeof value !== 'string' || !isE164(value)) {
    throw invalidField(
      name,
      `${name} must hold E.164 numbers such as +12025550123; in a URL + is written %2B.`,
    );
  }
  return value;
}

/** In lower case. @throws Problem validation-error */
export function checkEmail(name: string, value: unknown): string {
  const email = checkText(name, value, EMAIL_LENGTH_MAX).trim().toLowerCase();
  if (!EMAIL.test(email)) throw invalidField(name, `${name} must hold email addresses.`);
  return email;
}

/** Null: every brand. @throws Problem validation-error */
export function checkBrandId(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || !isUuid(value)) throw unknownBrand();
  return value.toLowerCase();
}

/** A 400, not a 404: on the look-ups of one identifier a 404 means that it may be sent to. */
export const unknownBrand = () => invalidField('brand_id', 'brand_id is no brand of the account.');

/** @throws Problem validation-error */
export function checkLabel(name: string, value: unknown, lengthMax: number): string {
  if (value === undefined || value === null) return DEFAULT_LABEL;
  const text = checkText(name, value, lengthMax).trim();
  return text === '' ? DEFAULT_LABEL : text;
}
