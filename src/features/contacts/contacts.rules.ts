import { invalidField } from '../../kernel/text.ts';
import type { CustomField } from './fields.rules.ts';
import { customValue } from './fields.rules.ts';
import { isRegion, parsePhone } from './phone.rules.ts';

/** What a caller may set on a contact, with its bound in characters (UTF-16 units). */
export const VALUE_LENGTH_MAX = {
  uid: 255,
  firstName: 200,
  lastName: 200,
  email: 254,
  phoneNumber: 40,
  mainPhone: 40,
  mobilePhone: 40,
  company: 300,
  address1: 300,
  address2: 300,
  city: 200,
  state: 100,
  postal: 40,
  country: 100,
} as const;
export type ValueName = keyof typeof VALUE_LENGTH_MAX;

/** Set by callers, and the country of the phone number. */
export type StoredName = ValueName | 'region';
export type Values = Partial<Record<StoredName, string>>;

/** Field types of imports (supplement 5), and those of the record that are written with another name or only there. */
export const FIELD_TYPES: ReadonlyMap<string, ValueName> = new Map([
  ['record_id', 'uid'],
  ['uid', 'uid'],
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['company', 'company'],
  ['email', 'email'],
  ['phone', 'phoneNumber'],
  ['phone_number', 'phoneNumber'],
  ['main_phone', 'mainPhone'],
  ['mobile_phone', 'mobilePhone'],
  ['address1', 'address1'],
  ['address2', 'address2'],
  ['city', 'city'],
  ['state', 'state'],
  ['postal', 'postal'],
  ['country', 'country'],
]);

/** Names that a custom field may not take: they mean something else in a request or in the record. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  ...FIELD_TYPES.keys(),
  ...[
    'fields',
    'values',
    'list_ids',
    'region',
    'conflict_mode',
    'field_data',
    'contact_id',
    'id',
    'phone_numbers',
  ],
  ...['time_zone', 'dnc', 'created_at', 'updated_at', 'tags', 'owner_id', 'disposition_id', 'pinned_notes'],
  ...['has_sms_consent', 'has_tcpa_consent', 'has_email_consent'],
]);

/** Where a value goes: a column of the contact, or a custom field. */
export type Target = { readonly value: ValueName } | { readonly custom: CustomField };

/** What a type of field means in an account; null: nothing. */
export function targetOf(type: string, custom: ReadonlyMap<string, CustomField>): Target | null {
  const value = FIELD_TYPES.get(type);
  if (value !== undefined) return { value };
  const field = custom.get(type);
  return field ? { custom: field } : null;
}

/** Values of one contact as they will be stored: what was empty is left out. */
export interface Draft {
  readonly values: Values;
  readonly custom: Readonly<Record<string, string>>;
}

/** Why a row or a value was not taken, in words; a text never repeats the value. */
export class Fault {
  readonly field: string;
  readonly reason: string;

  constructor(field: string, reason: string) {
    this.field = field;
    this.reason = reason;
  }
}

/** One value under the name it came with. */
export interface NamedValue {
  readonly name: string;
  readonly target: Target;
  readonly raw: unknown;
}

const PHONES: ReadonlySet<ValueName> = new Set(['phoneNumber', 'mainPhone', 'mobilePhone']);
/** What browsers accept as an address (WHATWG HTML, valid e-mail address), with a dot in the domain. */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i;

/** Reads the values of one contact; numbers without a country are of `region`. Faults name every value not taken. */
export function readDraft(values: readonly NamedValue[], region: string): { draft: Draft; faults: Fault[] } {
  const read: Values = {};
  const regions = new Map<string, string | null>();
  const custom: Record<string, string> = {};
  const faults: Fault[] = [];
  for (const { name, target, raw } of values) {
    const text = textOf(raw);
    if (text === null) faults.push(new Fault(name, `${name} is not a text, a number or a boolean`));
    if (text === null || text === '') continue;
    const fault =
      'custom' in target
        ? readCustom(target.custom, text, custom)
        : readValue({ name, value: target.value, text, region }, { read, regions });
    if (fault !== null) faults.push(new Fault(name, fault));
  }
  // Messages and calls go to phone_number: a contact with any number has one.
  const number = read.phoneNumber ?? read.mobilePhone ?? read.mainPhone;
  if (number !== undefined) {
    read.phoneNumber = number;
    read.region = regions.get(number) ?? undefined;
  }
  return { draft: { values: read, custom }, faults };
}

const tooLong = (name: string, lengthMax: number): string => `${name} has more than ${lengthMax} characters`;

function readCustom(field: CustomField, text: string, custom: Record<string, string>): string | null {
  const value = customValue(field, text);
  if ('lengthMax' in value) return tooLong(field.slug, value.lengthMax);
  if (value.value !== null) custom[field.slug] = value.value;
  return null;
}

function readValue(
  of: { name: string; value: ValueName; text: string; region: string },
  into: { read: Values; regions: Map<string, string | null> },
): string | null {
  const { name, value, text, region } = of;
  if (text.length > VALUE_LENGTH_MAX[value]) return tooLong(name, VALUE_LENGTH_MAX[value]);
  if (value === 'email' && !EMAIL.test(text)) return `${name} is not an email address`;
  if (!PHONES.has(value)) {
    into.read[value] = text;
    return null;
  }
  const phone = parsePhone(text, region);
  if (!phone) return `${name} is not a phone number`;
  into.read[value] = phone.number;
  into.regions.set(phone.number, phone.region);
  return null;
}

/** What PostgreSQL cannot keep: NUL, and halves of surrogate pairs, which are no text of any encoding. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** Null: no value of a cell. White space around a text is not part of it. @throws Problem validation-error (NUL) */
function textOf(raw: unknown): string | null {
  if (raw === null || raw === undefined) return '';
  if (typeof raw === 'number' || typeof raw === 'boolean') return String(raw);
  if (typeof raw !== 'string') return null;
  if (UNSTORABLE.test(raw)) throw invalidField('values', 'A value holds NUL or half of a surrogate pair.');
  return raw.trim();
}

/** The country that numbers without one belong to. @throws Problem validation-error */
export function checkRegion(region: string): string {
  if (!isRegion(region)) throw invalidField('region', 'region must be a two-letter country such as US.');
  return region.toUpperCase();
}

/** The identifiers by which an account's contacts are told apart; emails in lower case. */
export const keysOf = (values: Values): string[] => [
  ...(values.phoneNumber === undefined ? [] : [`phone ${values.phoneNumber}`]),
  ...(values.email === undefined ? [] : [`email ${values.email.toLowerCase()}`]),
  ...(values.uid === undefined ? [] : [`uid ${values.uid}`]),
];

/** What do-not-contact entries are matched with: every number, and the email in lower case. */
export const identifiersOf = (values: Partial<Record<StoredName, string | null>>): string[] => [
  ...phoneNumbersOf(values),
  ...(typeof values.email === 'string' ? [values.email.toLowerCase()] : []),
];

/** Every number of a contact once, the one that messages go to first. */
export const phoneNumbersOf = (values: Partial<Record<StoredName, string | null>>): string[] => [
  ...new Set(
    [values.phoneNumber, values.mainPhone, values.mobilePhone].filter((number) => typeof number === 'string'),
  ),
];
