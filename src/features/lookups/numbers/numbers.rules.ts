/** Numbers of one account: they are listed at once. */
export const NUMBERS_MAX = 50_000;
/** Numbers of one import. */
export const IMPORT_MAX = 10_000;
/** Numbers of one transaction of an import: what a crash undoes, and the steps in which progress shows. */
export const BATCH_NUMBERS = 500;
export const NUMBER_TEXT_MAX = 40;

export const REJECTIONS = ['invalid_number', 'limit_reached'] as const;
export type RejectionReason = (typeof REJECTIONS)[number];

export interface Rejection {
  /** Place in the request, from 0. */
  index: number;
  phoneNumber: string;
  reason: RejectionReason;
}

/** A text → E.164, or null when it is no number. */
export type ReadNumber = (text: string, region: string) => string | null;

export interface NumberBatch {
  /** E.164, each once. */
  numbers: string[];
  /** Where each of `numbers` stood in the request. */
  indexes: number[];
  rejected: Rejection[];
}

/** What of a slice of an import that begins at `from` is a number; a repeated one counts once. */
export function judgeBatch(
  texts: readonly string[],
  from: number,
  read: (text: string) => string | null,
): NumberBatch {
  const places = new Map<string, number>();
  const rejected: Rejection[] = [];
  texts.forEach((text, n) => {
    const number = read(text);
    if (number === null) rejected.push({ index: from + n, phoneNumber: text, reason: 'invalid_number' });
    else if (!places.has(number)) places.set(number, from + n);
  });
  return { numbers: [...places.keys()], indexes: [...places.values()], rejected };
}
