import type { GraphQLSchema } from 'graphql';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import type { NonEmptyArray } from 'type-graphql';
import './decorators.ts';

/** Resolver objects, each made with its services; their classes make the schema. */
export type Resolvers = readonly object[];

type ResolverClass = new (...args: never[]) => object;

/** The schema of resolver classes; `instanceOf` answers the object that resolves for a class. */
export function schemaOf(
  classes: readonly ResolverClass[],
  instanceOf: (type: unknown) => object | undefined,
): GraphQLSchema {
  return buildSchemaSync({
    resolvers: classes as unknown as NonEmptyArray<ResolverClass>,
    container: {
      get: (type: unknown) => {
        const instance = instanceOf(type);
        if (!instance) throw new Error(`no resolver object of ${String(type)}`);
        return instance;
      },
    },
    validate: false,
    // Every subscription brings its own stream; nothing is published by topic.
    pubSub: {
      publish: () => undefined,
      subscribe: () => {
        throw new Error('a subscription without a stream');
      },
    },
  });
}

/** The schema over resolver objects. */
export function schemaOver(resolvers: Resolvers): GraphQLSchema {
  const byClass = new Map<unknown, object>(resolvers.map((resolver) => [resolver.constructor, resolver]));
  return schemaOf(
    resolvers.map((resolver) => resolver.constructor as ResolverClass),
    (type) => byClass.get(type),
  );
}

/** The schema as text, the same for the same schema. */
export const schemaText = (schema: GraphQLSchema): string =>
  `${printSchema(lexicographicSortSchema(schema))}\n`;
