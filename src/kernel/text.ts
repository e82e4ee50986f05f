import { Problem } from './problem.ts';

/** What PostgreSQL cannot keep: NUL, and halves of surrogate pairs, which are no text of any encoding. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/**
 * A text as a caller sent it, within its bound (UTF-16 units), and one that can be stored. Empty passes.
 * @throws Problem validation-error
 */
export function checkText(field: string, value: unknown, lengthMax: number): string {
  if (typeof value !== 'string') throw invalidField(field, `${field} must be a text.`);
  if (value.length > lengthMax) throw invalidField(field, `${field} has more than ${lengthMax} characters.`);
  if (UNSTORABLE.test(value))
    throw invalidField(field, `${field} must not contain NUL or half of a surrogate pair.`);
  return value;
}

/** Like `checkText`, and something other than white space is in it. @throws Problem validation-error */
export function requireText(field: string, value: unknown, lengthMax: number): string {
  if (value === undefined || value === null) throw invalidField(field, `${field} is required.`);
  const text = checkText(field, value, lengthMax);
  if (text.trim() === '') throw invalidField(field, `${field} must not be empty.`);
  return text;
}

/** The refusal of one field of a request; `details.field` names it. */
export const invalidField = (field: string, detail: string): Problem =>
  new Problem('validation-error', detail, { field });
