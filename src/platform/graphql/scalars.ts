import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped } from 'graphql';
import type { ValueNode } from 'graphql';
import { SCOPES } from '../../kernel/caller.ts';
import { formatMoney, parseMoney } from '../../kernel/money.ts';
import { JSON_DEPTH_MAX, JSON_KEYS_MAX } from '../http/index.ts';
import { registerEnumType } from './decorators.ts';

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

const textOf = (node: ValueNode, name: string): string => {
  if (node.kind !== Kind.STRING) throw new GraphQLError(`${name} must be a string.`, { nodes: node });
  return node.value;
};

function parseTime(value: unknown): number {
  const ms = typeof value === 'string' && ISO_TIME.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(ms))
    throw new GraphQLError('DateTime must be an ISO 8601 time such as 2026-01-31T08:00:00Z.');
  return ms;
}

/** Epoch milliseconds inside, ISO 8601 in UTC outside. */
export const DateTime = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  description: 'A time in ISO 8601, answered in UTC.',
  serialize: (value) => new Date(value as number).toISOString(),
  parseValue: parseTime,
  parseLiteral: (node) => parseTime(textOf(node, 'DateTime')),
});

function parseDecimal(value: unknown): bigint {
  const micros = typeof value === 'string' ? parseMoney(value) : null;
  if (micros === null)
    throw new GraphQLError('Decimal must be a string such as "25.00", with at most six places.');
  return micros;
}

/** Micro-units inside, a decimal number as text outside. */
export const Decimal = new GraphQLScalarType<bigint, string>({
  name: 'Decimal',
  description: 'An amount of money as text, such as "25.00".',
  serialize: (value) => formatMoney(value as bigint),
  parseValue: parseDecimal,
  parseLiteral: (node) => parseDecimal(textOf(node, 'Decimal')),
});

/** Whatever JSON can say; what comes in keeps the bounds of REST's bodies. */
export const Json = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => bounded(value),
  parseLiteral: (node, variables) => bounded(valueFromASTUntyped(node, variables)),
});

function bounded(root: unknown): unknown {
  let keys = 0;
  const walk = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null) return;
    if (depth > JSON_DEPTH_MAX) throw new GraphQLError(`JSON nests deeper than ${JSON_DEPTH_MAX}.`);
    for (const [key, inner] of Object.entries(value)) {
      keys += Array.isArray(value) ? 0 : 1;
      if (keys > JSON_KEYS_MAX) throw new GraphQLError(`JSON has more than ${JSON_KEYS_MAX} keys.`);
      if (key === '__proto__') throw new GraphQLError('The key __proto__ is not taken.');
      walk(inner, depth + 1);
    }
  };
  walk(root, 1);
  return root;
}

/** Registers an enum whose values inside are the words of the wire: `live_person` is LIVE_PERSON outside. */
export function enumOf<const V extends string>(
  name: string,
  values: readonly V[],
  description?: string,
): object {
  const members = Object.fromEntries(
    values.map((value) => [value.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_'), value]),
  );
  registerEnumType(members, { name, ...(description === undefined ? {} : { description }) });
  return members;
}

/** Scopes of the contract: `contacts:read` is CONTACTS_READ. */
export const ScopeEnum = enumOf('Scope', SCOPES);
