import { Type } from '@sinclair/typebox';
import type { TInteger, TOptional, TString } from '@sinclair/typebox';

/*
 * Query parameters of the contract's three paging styles (interface.md, Limits, Paging), to be spread into a route's query.
 * Defaults and bounds differ by route; what is no count or position at all is 400.
 */
export interface PageBounds {
  /** Items when no limit is given. */
  readonly preset: number;
  readonly max: number;
  /** Of the offset or skip: deeper pages cost more than they are worth. */
  readonly positionMax?: number;
}

/** Contract, Limits, Paging, Cursor. */
const CURSOR = { preset: 25, max: 500 };
const CURSOR_LENGTH_MAX = 128;

const limitUpTo = ({ preset, max }: PageBounds): TInteger =>
  Type.Integer({ minimum: 1, maximum: max, default: preset, description: 'Items of a page.' });

const position = ({ positionMax = Number.MAX_SAFE_INTEGER }: PageBounds): TInteger =>
  Type.Integer({
    minimum: 0,
    maximum: positionMax,
    default: 0,
    description: 'Items to leave out before the page.',
  });

/** `limit` and `offset`; a limit above the bound is refused. */
export const offsetPaging = (bounds: PageBounds): { limit: TInteger; offset: TInteger } => ({
  limit: limitUpTo(bounds),
  offset: position(bounds),
});

/** `limit` and `skip`; the service takes a limit above the bound as the bound. */
export const skipPaging = (bounds: PageBounds): { limit: TInteger; skip: TInteger } => ({
  limit: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    default: bounds.preset,
    description: `Items of a page; more than ${bounds.max} is taken as ${bounds.max}.`,
  }),
  skip: position(bounds),
});

/** `limit` from 1 to 500 and `after_id`. */
export const cursorPaging = (): { limit: TInteger; after_id: TOptional<TString> } => ({
  limit: limitUpTo(CURSOR),
  after_id: Type.Optional(
    Type.String({ maxLength: CURSOR_LENGTH_MAX, description: '`next_cursor` of the page before.' }),
  ),
});
