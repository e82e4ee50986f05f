import type { TSchema } from '@sinclair/typebox';

/** JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = { [keyword: string]: unknown };

/**
 * A route's schema as the document shows it: what TypeBox writes in the words of draft 7 is said in those of 2020-12, and
 * unions of words read as an `enum`. It accepts the same values.
 */
export function publishedSchema(schema: TSchema): JsonSchema {
  return convert(JSON.parse(JSON.stringify(schema)) as JsonSchema);
}

function convert(schema: JsonSchema): JsonSchema {
  const branches = schema['anyOf'];
  if (Array.isArray(branches))
    return union({ ...schema, anyOf: branches.map((one) => convert(one as JsonSchema)) });
  const result: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) result[keyword] = convertKeyword(keyword, value);
  if (Array.isArray(schema['items'])) {
    result['prefixItems'] = (schema['items'] as JsonSchema[]).map(convert);
    delete result['items'];
    delete result['additionalItems'];
  }
  return result;
}

function convertKeyword(keyword: string, value: unknown): unknown {
  const isMap = keyword === 'properties' || keyword === 'patternProperties';
  if (isMap)
    return Object.fromEntries(
      Object.entries(value as Record<string, JsonSchema>).map(([name, one]) => [name, convert(one)]),
    );
  const isSchema = ['items', 'additionalProperties', 'not'].includes(keyword);
  if (isSchema && typeof value === 'object' && value !== null && !Array.isArray(value))
    return convert(value as JsonSchema);
  if (keyword === 'allOf' || keyword === 'oneOf') return (value as JsonSchema[]).map(convert);
  return value;
}

/** `{const: a} | {const: b}` → `{enum: [a, b]}`; `X | null` → X with both types. */
function union(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const branches = anyOf as JsonSchema[];
  const types = new Set(branches.map((one) => one['type']));
  if (branches.every((one) => 'const' in one) && types.size === 1)
    return { ...rest, type: branches[0]?.['type'], enum: branches.map((one) => one['const']) };
  const [other, ...more] = branches.filter((one) => one['type'] !== 'null');
  const isNullable = branches.length === 2 && other !== undefined && more.length === 0;
  if (!isNullable || typeof other['type'] !== 'string' || 'const' in other) return schema;
  const values = other['enum'];
  return {
    ...other,
    ...rest,
    type: [other['type'], 'null'],
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  };
}
