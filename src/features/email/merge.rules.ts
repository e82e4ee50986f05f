import type { Contact } from '../contacts/index.ts';
import { HTML_LENGTH_MAX } from './email.rules.ts';

/** Supplement 1, Merge fields: `{{contact.first_name}}`, `{{contact.first_name|there}}`. */
const PLACEHOLDER = /\{\{ *([a-z]{1,20})\.([A-Za-z0-9_-]{1,100}) *(?:\|([^{}|]{0,200}))?\}\}/g;

const CONTACT_FIELDS: Readonly<Record<string, keyof Contact>> = {
  first_name: 'firstName',
  last_name: 'lastName',
  email: 'email',
  phone: 'phoneNumber',
  phone_number: 'phoneNumber',
  main_phone: 'mainPhone',
  mobile_phone: 'mobilePhone',
  company: 'company',
  address1: 'address1',
  address2: 'address2',
  city: 'city',
  state: 'state',
  postal: 'postal',
  country: 'country',
  record_id: 'uid',
  uid: 'uid',
};

/** The user whose details fill sender fields (`{{user.name}}`, `{{sender.email}}`). */
export interface MergedUser {
  readonly name: string;
  readonly email: string | null;
}

/** What placeholders stand for. */
export interface MergeSources {
  readonly contact: Contact | null;
  readonly user: MergedUser;
}

/** Fills placeholders in HTML; values are text, whatever they look like. */
export const mergeHtml = (html: string, sources: MergeSources): string => merge(html, sources, escapeHtml);

export const mergeText = (text: string, sources: MergeSources): string =>
  merge(text, sources, (value) => value);

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Whether values made it longer than any email may be. */
export const isTooLong = (html: string): boolean => html.length > HTML_LENGTH_MAX;

/** Unknown and empty fields are the default that the placeholder names, else nothing. A value is not looked through again. */
function merge(text: string, sources: MergeSources, write: (value: string) => string): string {
  return text.replace(PLACEHOLDER, (_, of: string, name: string, preset: string | undefined) => {
    const value = valueOf(of, name, sources);
    return value === null || value === '' ? (preset ?? '') : write(value);
  });
}

function valueOf(of: string, name: string, { contact, user }: MergeSources): string | null {
  if (of === 'contact') return contact === null ? null : contactValue(contact, name);
  return of === 'user' || of === 'sender' ? userValue(user, name) : null;
}

function contactValue(contact: Contact, name: string): string | null {
  if (Object.hasOwn(CONTACT_FIELDS, name)) {
    const value = contact[CONTACT_FIELDS[name] as keyof Contact];
    return typeof value === 'string' ? value : null;
  }
  return Object.hasOwn(contact.custom, name) ? (contact.custom[name] ?? null) : null;
}

function userValue({ name: fullName, email }: MergedUser, name: string): string | null {
  const [first, ...others] = fullName.split(' ');
  if (name === 'name') return fullName;
  if (name === 'first_name') return first ?? null;
  if (name === 'last_name') return others.join(' ');
  return name === 'email' ? email : null;
}
