/** Longest name and default of a merge field; longer braces are plain text. */
const FIELD = /\{\{\s*([^{}|\s]{1,100})\s*(?:\|([^{}]{0,500}))?\}\}/g;

/** Values of merge fields by their full names (`contact.first_name`). */
export type MergeValues = ReadonlyMap<string, string>;

/**
 * A text with its merge fields filled in (supplement 1): unknown and empty ones become their default, or nothing. What a
 * value holds is never looked at for fields again.
 */
export const merge = (text: string, values: MergeValues): string =>
  text.includes('{{')
    ? text.replace(
        FIELD,
        (_, name: string, preset: string | undefined) => values.get(name) || (preset ?? '').trim(),
      )
    : text;

/** Fields of a contact by their wire names, with those of a send over them. */
export function mergeValues(
  contact: Readonly<Record<string, unknown>>,
  variables: Readonly<Record<string, unknown>> = {},
): MergeValues {
  const values = new Map<string, string>();
  for (const source of [contact, variables]) {
    for (const [name, value] of Object.entries(source)) {
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
      values.set(`contact.${name}`, String(value));
      values.set(name, String(value));
    }
  }
  return values;
}
