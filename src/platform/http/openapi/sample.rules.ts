import type { JsonSchema } from './schema.rules.ts';

const UUID = '7d9f0c7e-3f0a-4a55-9a1e-0f6a3c2b1d10';
/** 1 January 2026. */
const TIME_MS = 1_767_225_600_000;
/** Samples nest no deeper; schemas of this service do not either. */
const DEPTH_MAX = 12;

/** A value that the schema accepts, for answers that name no example of their own; names tell ids, times and numbers. */
export function sampleOf(schema: JsonSchema, name = '', depth = 0): unknown {
  for (const keyword of ['const', 'default', 'example'])
    if (schema[keyword] !== undefined) return schema[keyword];
  const [first] = (schema['enum'] ?? schema['examples'] ?? []) as unknown[];
  if (first !== undefined) return first;
  const [branch] = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'] ?? []) as JsonSchema[];
  if (branch !== undefined) return sampleOf(branch, name, depth);
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  if (type === 'object') return objectOf(schema, depth);
  if (type === 'array') return arrayOf(schema, name, depth);
  if (type === 'integer' || type === 'number') return numberOf(schema, name);
  if (type === 'boolean') return true;
  if (type === 'string') return textOf(schema, name);
  return type === 'null' ? null : {};
}

function objectOf(schema: JsonSchema, depth: number): Record<string, unknown> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const required = (schema['required'] ?? []) as string[];
  const shown = depth < DEPTH_MAX ? properties : properties.filter(([name]) => required.includes(name));
  return Object.fromEntries(shown.map(([name, one]) => [name, sampleOf(one, name, depth + 1)]));
}

function arrayOf(schema: JsonSchema, name: string, depth: number): unknown[] {
  const items = schema['items'];
  const tuple = schema['prefixItems'];
  if (Array.isArray(tuple)) return (tuple as JsonSchema[]).map((one) => sampleOf(one, name, depth + 1));
  if (typeof items !== 'object' || items === null || depth >= DEPTH_MAX) return [];
  return [sampleOf(items as JsonSchema, name.replace(/s$/, ''), depth + 1)];
}

function numberOf(schema: JsonSchema, name: string): number {
  if (/(_at|_ts|_ms)$/.test(name) && schema['maximum'] === undefined) return TIME_MS;
  return Number(schema['minimum'] ?? 1);
}

function textOf(schema: JsonSchema, name: string): string {
  const format = schema['format'];
  if (format === 'uuid' || /(^|_)(id|uid|ids)$/.test(name)) return UUID;
  if (format === 'date-time') return new Date(TIME_MS).toISOString();
  if (format === 'email' || /email/.test(name)) return 'ada@example.com';
  if (format === 'uri' || /url$/.test(name)) return 'https://example.com/hook';
  if (/phone|^to$|^from$/.test(name)) return '+12025550123';
  const text = name === '' ? 'text' : name.replaceAll('_', ' ');
  return text.padEnd(Number(schema['minLength'] ?? 0), '.').slice(0, Number(schema['maxLength'] ?? 100));
}
