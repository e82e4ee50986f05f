import { Ajv } from 'ajv';
import type { ErrorObject } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { FastifySchemaCompiler, FastifyRequest } from 'fastify';
import type { TSchema } from '@sinclair/typebox';
import { Problem } from '../../kernel/problem.ts';
import { isStorableText } from './json.body.ts';

// The package is CommonJS whose default export TypeScript sees one level too high.
const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void;

function ajvOf(options: { coerces: boolean }): Ajv {
  const ajv = new Ajv({
    coerceTypes: options.coerces ? 'array' : false,
    useDefaults: true,
    allErrors: false,
    verbose: true,
    strict: true,
    strictTypes: false,
    strictTuples: false,
    keywords: ['example'],
  });
  addFormats(ajv);
  return ajv;
}

const strict = ajvOf({ coerces: false });
const coercing = ajvOf({ coerces: true });

/** Bodies are taken as they are; params and queries are text and become what their schema says. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const ajv = httpPart === 'body' ? strict : coercing;
  const validate = ajv.compile<unknown>(schema);
  return (value: unknown) => {
    if (!validate(value)) return { error: problemOf(validate.errors?.at(-1), httpPart ?? 'body') };
    // Ajv makes Infinity of `1e400` and lets it pass every bound.
    const [infinite] = Object.entries(value ?? {}).find(([, one]) => isInfinite(one)) ?? [];
    return infinite === undefined ? { value } : { error: invalid(infinite, 'must be a finite number') };
  };
};

/** Checks a JSON body as `compileValidator` does, for routes that read other bodies too. */
export function bodyChecker(schema: TSchema): (body: unknown) => void {
  const validate = strict.compile<unknown>(schema);
  return (body) => {
    if (!validate(body)) throw problemOf(validate.errors?.at(-1), 'body');
  };
}

/** The fault as a problem with `details {field, message}` (supplement 12); field is a path with dots. */
function problemOf(error: ErrorObject | undefined, part: string): Problem {
  const missing = (error?.params as { missingProperty?: string } | undefined)?.missingProperty;
  const path = (error?.instancePath ?? '').slice(1).replaceAll('/', '.');
  const field = [path, missing].filter((piece) => piece !== undefined && piece !== '').join('.') || part;
  const message = missing === undefined ? messageOf(error) : 'is required';
  return invalid(field, message);
}

const isInfinite = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value);

const invalid = (field: string, message: string): Problem =>
  new Problem('validation-error', 'The request has a field that is not valid.', { field, message });

function messageOf(error: ErrorObject | undefined): string {
  const branches: unknown = error?.keyword === 'anyOf' ? error.schema : undefined;
  const values = Array.isArray(branches) ? branches.map((branch: { const?: unknown }) => branch.const) : [];
  if (values.length > 0 && values.every((value) => value !== undefined))
    return `must be one of ${values.map(String).join(', ')}`;
  return error?.message ?? 'is not valid';
}

/**
 * What no schema says: the query is valid percent-encoding, and no text of params and query holds NUL.
 * @throws Problem validation-error
 */
export function checkTexts(request: FastifyRequest): void {
  const query = request.url.slice(request.url.indexOf('?') + 1);
  if (query.length < request.url.length && !isDecodable(query))
    throw new Problem('validation-error', 'The query is not valid percent-encoding.');
  const values = [request.params, request.query].flatMap((part) =>
    Object.entries((part ?? {}) as Record<string, unknown>).flat(2),
  );
  if (values.some((value) => typeof value === 'string' && !isStorableText(value)))
    throw new Problem('validation-error', 'The path or query holds NUL.');
}

function isDecodable(text: string): boolean {
  if (!text.includes('%')) return true;
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
