import { isUtf8 } from 'node:buffer';
import { Problem } from '../../kernel/problem.ts';

/** What is stored as jsonb is read again by others: bounds of its shape (docs/GUIDE.md, REST). Items of arrays are no keys. */
export const JSON_DEPTH_MAX = 32;
export const JSON_KEYS_MAX = 1_000;

const refuse = (detail: string): never => {
  throw new Problem('validation-error', detail);
};

/** An unpaired half of a surrogate pair: no text of any encoding, and PostgreSQL refuses it in jsonb. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * A JSON body → its value; an empty body is undefined. Refused are text that is not UTF-8 or not JSON, NUL and lone
 * surrogates in texts and keys, `__proto__` as a key, numbers beyond 2^53, and shapes beyond the bounds above.
 * @throws Problem validation-error
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) refuse('The body is not UTF-8.');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('The body is not valid JSON.');
  }
  judge(value, text.includes('\\u'));
  return value;
}

/** Whether a text can be stored and sent on: no NUL, no half of a surrogate pair. */
export const isStorableText = (text: string): boolean => !text.includes('\0') && !LONE_SURROGATE.test(text);

function judge(root: unknown, hasEscapes: boolean): void {
  let keys = 0;
  const text = (value: string): void => {
    // NUL and halves of pairs cannot be in valid UTF-8 JSON but by an escape.
    if (hasEscapes && !isStorableText(value)) refuse('A text holds NUL or half of a surrogate pair.');
  };
  const walk = (value: unknown, depth: number): void => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
      return refuse('A number is beyond 2^53.');
    if (typeof value !== 'object' || value === null) return;
    if (depth > JSON_DEPTH_MAX) return refuse(`The body nests deeper than ${JSON_DEPTH_MAX}.`);
    if (Array.isArray(value)) {
      for (const item of value) walk(item, depth + 1);
      return;
    }
    for (const key of Object.keys(value)) {
      if ((keys += 1) > JSON_KEYS_MAX) return refuse(`The body has more than ${JSON_KEYS_MAX} keys.`);
      if (key === '__proto__') return refuse('The key __proto__ is not taken.');
      text(key);
      walk((value as Record<string, unknown>)[key], depth + 1);
    }
  };
  walk(root, 1);
}
