import { Problem } from '../../../kernel/problem.ts';
import { invalidField } from '../../../kernel/text.ts';

/** Lines of one account: they are listed at once. */
export const LINES_MAX = 1_000;

export const LINE_TYPES = ['voice', 'sms'] as const;
export type LineType = (typeof LINE_TYPES)[number];

/** Whether a new line becomes its type's default: the first does, unless told otherwise. */
export const isNewDefault = (asked: boolean | undefined, hasDefault: boolean): boolean =>
  asked ?? !hasDefault;

/** @throws Problem validation-error */
export function checkSameType(asked: LineType | undefined, type: LineType): void {
  if (asked !== undefined && asked !== type) {
    throw invalidField('type', `The type of a line cannot be changed: this is a ${type} line.`);
  }
}

/** @throws Problem conflict */
export function checkRoom(count: number): void {
  if (count >= LINES_MAX) {
    throw new Problem('conflict', `The account has ${LINES_MAX} lines already: delete one first.`);
  }
}
