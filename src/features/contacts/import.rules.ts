import { keysOf } from './contacts.rules.ts';
import type { Draft, StoredName, Values } from './contacts.rules.ts';

/** Contract, Limits of the import (supplement 5): rows a call. */
export const IMPORT_ROWS_MAX = 10_000;
/** Columns a row: every type of field and every custom field fit. */
export const IMPORT_FIELDS_MAX = 250;

/** `append` fills what is empty, `overwrite` replaces; an empty cell never takes a value away. */
export const CONFLICT_MODES = ['append', 'overwrite'] as const;
export type ConflictMode = (typeof CONFLICT_MODES)[number];

/** A row that was read, or why it was not. */
export type ImportRow = Draft | { readonly reasons: readonly string[] };

/** A contact as an import finds it. */
export interface StoredContact {
  readonly contactId: string;
  readonly values: Values;
  readonly custom: Readonly<Record<string, string>>;
}

/** A contact as an import leaves it. */
export interface ImportedContact {
  readonly contactId: string;
  readonly isNew: boolean;
  /** As stored before; of a new one nothing. */
  readonly before: Values;
  readonly values: Values;
  readonly custom: Record<string, string>;
  /** Whether it differs from what is stored; new ones do. */
  isChanged: boolean;
}

export interface Rejection {
  /** Position of the row in the call, from 0. */
  readonly index: number;
  readonly reasons: readonly string[];
}

export interface ImportPlan {
  /** Every contact that a row went to, in the order of the first such row. */
  readonly contacts: readonly ImportedContact[];
  readonly rejected: readonly Rejection[];
}

const TWO_CONTACTS = 'the row matches two contacts';
const NOTHING = 'the row has no value';

/**
 * Rows → contacts, as if one row came after the other. A row goes to the contact that has, or to which an earlier row of the
 * call brought, its phone, email or record id; to a new one when there is none; a row that matches two is rejected
 * (supplement 13). `stored` holds every contact of the account that any row names by an identifier.
 */
export function planImport(
  rows: readonly ImportRow[],
  stored: readonly StoredContact[],
  options: { mode: ConflictMode; newId: () => string },
): ImportPlan {
  const byKey = new Map<string, ImportedContact>();
  for (const contact of stored) {
    const { contactId, values, custom } = contact;
    const copy = { before: values, values: { ...values }, custom: { ...custom } };
    const imported = { contactId, isNew: false, ...copy, isChanged: false };
    for (const key of keysOf(contact.values)) byKey.set(key, imported);
  }
  const contacts = new Set<ImportedContact>();
  const rejected: Rejection[] = [];
  for (const [index, row] of rows.entries()) {
    const reasons = 'reasons' in row ? row.reasons : place(row);
    if (reasons !== null) rejected.push({ index, reasons });
  }
  return { contacts: [...contacts], rejected };

  function place(row: Draft): readonly string[] | null {
    const keys = keysOf(row.values);
    const matches = new Set(keys.map((key) => byKey.get(key)).filter((match) => match !== undefined));
    const [match] = matches;
    if (matches.size > 1) return [TWO_CONTACTS];
    if (!match && isEmpty(row)) return [NOTHING];
    const contact = match ?? newContact(options.newId());
    merge(contact, row, options.mode);
    contacts.add(contact);
    // Also those that append does not take over: a later row that repeats them means the same contact.
    for (const key of keys) byKey.set(key, contact);
    return null;
  }
}

const newContact = (contactId: string): ImportedContact => ({
  ...{ contactId, isNew: true, before: {}, values: {}, custom: {}, isChanged: true },
});

const isEmpty = ({ values, custom }: Draft): boolean =>
  Object.keys(values).length === 0 && Object.keys(custom).length === 0;

function merge(contact: ImportedContact, row: Draft, mode: ConflictMode): void {
  for (const [name, value] of Object.entries(row.values) as [StoredName, string][]) {
    if (name === 'region' || !takes(contact.values[name], value, mode)) continue;
    contact.values[name] = value;
    // The country is the phone number's: it comes with it.
    if (name === 'phoneNumber') contact.values.region = row.values.region;
    contact.isChanged = true;
  }
  for (const [slug, value] of Object.entries(row.custom)) {
    const current = Object.hasOwn(contact.custom, slug) ? contact.custom[slug] : undefined;
    if (!takes(current, value, mode)) continue;
    contact.custom[slug] = value;
    contact.isChanged = true;
  }
}

const takes = (current: string | undefined, value: string, mode: ConflictMode): boolean =>
  current === undefined || (mode === 'overwrite' && current !== value);
