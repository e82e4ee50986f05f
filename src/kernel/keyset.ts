import { isUuid } from './ids.ts';
import { Problem } from './problem.ts';

/** A page of a list that rows are added to meanwhile: it begins after a row, named by the values it is sorted by. */
export interface Keyset {
  /** Rows wanted, 1 to 100. */
  readonly first: number;
  /** Null: from the beginning. */
  readonly after: readonly string[] | null;
}

export interface KeysetPage<T> {
  readonly rows: readonly T[];
  readonly hasNext: boolean;
}

/** What most lists are sorted by: a time in microseconds since 1970, as the database keeps it, and an id. */
export interface TimeKey {
  readonly atUs: string;
  readonly id: string;
}

/** How a store answers: it reads one row more than is wanted and so knows whether there are further ones. */
export function pageOf<T>(rows: readonly T[], first: number): KeysetPage<T> {
  return { rows: rows.slice(0, first), hasNext: rows.length > first };
}

const MICROSECONDS = /^-?\d{1,17}$/;

/** The row to begin after in a list sorted by time and id; nulls: from the beginning. @throws Problem validation-error */
export function timeKeyOf(after: readonly string[] | null): { atUs: string | null; id: string | null } {
  if (after === null) return { atUs: null, id: null };
  const [atUs, id] = after;
  if (atUs === undefined || id === undefined || !MICROSECONDS.test(atUs) || !isUuid(id)) throw wrongCursor();
  return { atUs, id };
}

export const wrongCursor = (): Problem =>
  new Problem('validation-error', 'The cursor is not one of this list.', { field: 'after' });

/**
 * A page of a list that is short and known whole, newest first, then by id. A row to begin after that is gone meanwhile
 * is stood for by its place. @throws Problem validation-error
 */
export function newestFirst<T>(
  rows: readonly T[],
  keyset: Keyset,
  of: (row: T) => { readonly atMs: number; readonly id: string },
): { page: KeysetPage<T>; keyOf: (row: T) => readonly string[] } {
  const order = (a: { atMs: number; id: string }, b: { atMs: number; id: string }): number =>
    b.atMs - a.atMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  const sorted = [...rows].sort((a, b) => order(of(a), of(b)));
  const { atUs, id } = timeKeyOf(keyset.after);
  const after = atUs === null || id === null ? null : { atMs: Number(atUs), id };
  const rest = after === null ? sorted : sorted.filter((row) => order(of(row), after) > 0);
  return { page: pageOf(rest, keyset.first), keyOf: (row) => [String(of(row).atMs), of(row).id] };
}
