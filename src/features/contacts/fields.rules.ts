import { checkText, invalidField, requireText } from '../../kernel/text.ts';

export const FIELD_KINDS = ['string', 'text', 'list'] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

/** Custom fields of an account: an import may have a column for each (docs/GUIDE.md, Contacts and lists). */
export const FIELDS_PER_ACCOUNT_MAX = 200;
export const DISPLAY_NAME_LENGTH_MAX = 100;
export const LIST_ITEMS_MAX = 500;
export const ITEM_LENGTH_MAX = 200;
const SLUG_LENGTH_MAX = 64;
/** Characters (UTF-16 units) of a value; items bound those of a list. */
const VALUE_LENGTH_MAX = { string: 1_000, text: 10_000, list: ITEM_LENGTH_MAX } as const;

export interface ListItem {
  readonly itemId: string;
  readonly displayName: string;
  readonly value: string;
}

export interface CustomField {
  readonly fieldId: string;
  readonly type: FieldKind;
  readonly displayName: string;
  /** What imports and records call it; unique in the account. */
  readonly slug: string;
  /** Null unless the type is list. */
  readonly listItems: readonly ListItem[] | null;
  readonly createdAtMs: number;
}

export interface NewField {
  readonly type: unknown;
  readonly displayName: unknown;
  /** For a list: its items; `value` is the display name unless given. */
  readonly listItems?: unknown;
}

export interface CheckedField {
  readonly type: FieldKind;
  readonly displayName: string;
  readonly slug: string;
  readonly items: readonly { displayName: string; value: string }[] | null;
}

/** @throws Problem validation-error */
export function checkField(input: NewField): CheckedField {
  const type = FIELD_KINDS.find((kind) => kind === input.type);
  if (!type) throw invalidField('type', `type must be one of ${FIELD_KINDS.join(', ')}.`);
  const displayName = requireText('display_name', input.displayName, DISPLAY_NAME_LENGTH_MAX).trim();
  const slug = slugOf(displayName);
  if (slug === '') throw invalidField('display_name', 'display_name needs a letter or a digit.');
  if (type !== 'list' && (input.listItems ?? null) !== null)
    throw invalidField('list_items', 'Only a field of type list has list_items.');
  return { type, displayName, slug, items: type === 'list' ? checkItems(input.listItems) : null };
}

/** `Favourite colour` → `favourite_colour`: letters lose their accents, whatever else is no letter or digit parts words. */
export const slugOf = (displayName: string): string =>
  [
    ...displayName
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{Mark}+/gu, '')
      .replace(/[^\p{Letter}\p{Number}]+/gu, '_')
      .replace(/^_+/, ''),
  ]
    .slice(0, SLUG_LENGTH_MAX)
    .join('')
    .replace(/_+$/, '');

function checkItems(input: unknown): { displayName: string; value: string }[] {
  if (!Array.isArray(input) || input.length === 0)
    throw invalidField('list_items', 'A field of type list needs list_items.');
  if (input.length > LIST_ITEMS_MAX)
    throw invalidField('list_items', `list_items has more than ${LIST_ITEMS_MAX} items.`);
  const items = input.map((item: unknown) => {
    const { displayName, value } = (item ?? {}) as { displayName?: unknown; value?: unknown };
    const shown = requireText('list_items', displayName ?? value, ITEM_LENGTH_MAX).trim();
    const stored = checkText('list_items', value ?? shown, ITEM_LENGTH_MAX).trim();
    return { displayName: shown, value: stored === '' ? shown : stored };
  });
  if (new Set(items.map((item) => item.value)).size < items.length)
    throw invalidField('list_items', 'Two items of list_items have the same value.');
  return items;
}

/**
 * A text as it is stored in a custom field. For a list the value of the item that it names by value or display name, null
 * when it names none (contract, Contact details); `lengthMax`: it is longer than that.
 */
export function customValue(
  field: CustomField,
  text: string,
): { value: string | null } | { lengthMax: number } {
  const lengthMax = VALUE_LENGTH_MAX[field.type];
  if (field.type !== 'list') return text.length > lengthMax ? { lengthMax } : { value: text };
  const items = field.listItems ?? [];
  const item =
    items.find(({ value }) => value === text) ?? items.find(({ displayName }) => displayName === text);
  return { value: item?.value ?? null };
}
