import { Problem } from '../../kernel/problem.ts';
import { wrongCursor } from '../../kernel/keyset.ts';
import type { Keyset, KeysetPage } from '../../kernel/keyset.ts';
import { ArgsType, Field, ID, Int, ObjectType } from './decorators.ts';
import type { ClassType } from './decorators.ts';

/** Rows of one page of a list (admin-graphql.md, Conventions). */
export const FIRST_MAX = 100;
const CURSOR_LENGTH_MAX = 512;

/** Arguments of every list. */
@ArgsType()
export class PageArgs {
  @Field(() => Int, { description: `Rows wanted, 1 to ${FIRST_MAX}.` })
  first!: number;

  @Field(() => String, { nullable: true, description: 'The cursor to begin after.' })
  after?: string | null;
}

/** As `PageArgs`; operators name another account. */
@ArgsType()
export class TeamPageArgs extends PageArgs {
  @Field(() => ID, { nullable: true, description: 'For operators: the account; omitted, the own.' })
  teamId?: string | null;
}

@ObjectType()
export class PageInfo {
  @Field(() => Boolean)
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether the page began after a cursor.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true })
  startCursor!: string | null;

  @Field(() => String, { nullable: true })
  endCursor!: string | null;
}

/** @throws Problem validation-error */
export function keysetOf(args: { first: number; after?: string | null }): Keyset {
  if (args.first < 1 || args.first > FIRST_MAX) {
    throw new Problem('validation-error', `first must be 1 to ${FIRST_MAX}.`, { field: 'first' });
  }
  return { first: args.first, after: args.after == null ? null : decodeCursor(args.after) };
}

/** Opaque: the values a row is sorted by, so that a cursor stays right while rows are added or deleted. */
export const encodeCursor = (key: readonly string[]): string =>
  Buffer.from(JSON.stringify(key)).toString('base64url');

/** @throws Problem validation-error */
export function decodeCursor(cursor: string): readonly string[] {
  if (cursor.length > CURSOR_LENGTH_MAX) throw wrongCursor();
  let key: unknown;
  try {
    key = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw wrongCursor();
  }
  const isKey =
    Array.isArray(key) && key.every((value) => typeof value === 'string' && !value.includes('\0'));
  if (!isKey) throw wrongCursor();
  return key as string[];
}

/** A page with what a resolver knows of it. */
export interface ConnectionSource<T> {
  readonly page: KeysetPage<T>;
  readonly keyset: Keyset;
  /** The values the list is sorted by. */
  readonly keyOf: (row: T) => readonly string[];
  /** Asked only when `totalCount` is. */
  readonly count: () => Promise<number>;
}

export interface ConnectionShape<T> {
  readonly source: ConnectionSource<T>;
}

/** The connection type of a node type: `NameConnection` with `NameEdge`. Resolvers return instances of it. */
export function connectionOf<T extends object>(
  name: string,
  node: () => ClassType<object>,
): new (source: ConnectionSource<T>) => ConnectionShape<T> {
  @ObjectType(`${name}Edge`)
  class Edge {
    @Field(() => String)
    cursor!: string;

    @Field(node)
    node!: T;
  }

  @ObjectType(`${name}Connection`)
  class Connection implements ConnectionShape<T> {
    readonly source: ConnectionSource<T>;

    constructor(source: ConnectionSource<T>) {
      this.source = source;
    }

    @Field(() => [Edge])
    edges(): Edge[] {
      const { page, keyOf } = this.source;
      return page.rows.map((row) => ({ cursor: encodeCursor(keyOf(row)), node: row }));
    }

    @Field(() => [node()])
    nodes(): readonly T[] {
      return this.source.page.rows;
    }

    @Field(() => PageInfo)
    pageInfo(): PageInfo {
      const { page, keyset, keyOf } = this.source;
      const cursorAt = (index: number): string | null => {
        const row = page.rows.at(index);
        return row === undefined ? null : encodeCursor(keyOf(row));
      };
      return {
        hasNextPage: page.hasNext,
        hasPreviousPage: keyset.after !== null,
        startCursor: cursorAt(0),
        endCursor: cursorAt(-1),
      };
    }

    @Field(() => Int)
    async totalCount(): Promise<number> {
      return this.source.count();
    }
  }
  return Connection;
}
