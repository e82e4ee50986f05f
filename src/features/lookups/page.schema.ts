import { Type } from '@sinclair/typebox';
import type { TSchema } from '@sinclair/typebox';
import { skipPaging } from '../../platform/http/index.ts';
import { PAGE_DEFAULT, PAGE_MAX, SEARCH_LENGTH_MAX } from './input.rules.ts';
import type { SkipPage } from './input.rules.ts';

/** A field that may be null. */
export const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Query of lists in the skip style (contract, Limits, Paging). */
export const skipPageQuery = {
  ...skipPaging({ preset: PAGE_DEFAULT, max: PAGE_MAX }),
  search_term: Type.Optional(
    Type.String({ maxLength: SEARCH_LENGTH_MAX, description: 'The name contains it, whatever the case.' }),
  ),
};

export const skipPageOf = (query: {
  limit: number;
  skip: number;
  search_term?: string;
}): SkipPage & { searchTerm?: string | undefined } => ({
  limit: query.limit,
  skip: query.skip,
  searchTerm: query.search_term,
});
