import type { TSchema } from '@sinclair/typebox';
import type { Scope } from '../../../kernel/caller.ts';
import type { RouteSpec } from '../route.type.ts';
import { answerSchema } from '../answer.schema.ts';
import { ErrorResponses, errorSchemas } from './errors.ts';
import { publishedSchema } from './schema.rules.ts';
import type { JsonSchema } from './schema.rules.ts';
import { sampleOf } from './sample.rules.ts';

export interface DocumentOptions {
  readonly routes: readonly RouteSpec[];
  readonly version: string;
  /** Where the service is reached. */
  readonly serverUrl: string;
}

const DESCRIPTION = `Outreach messaging, contact automation and call detection.

Every answer carries \`X-Request-Id\` and \`X-Correlation-Id\`; a request's own \`X-Request-Id\` of up to 128 printable characters is
used. Times are epoch milliseconds unless a field says otherwise. Errors are RFC 9457 problem details whose \`type\` is
described at its own address. A request holds JSON of at most 32 levels and 1,000 keys, without NUL, with numbers within 2^53.

Each operation lists in \`x-scopes\` the scopes it takes: any one suffices; none listed means any credential.`;

const HEADERS = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  'X-Correlation-Id': { $ref: '#/components/headers/CorrelationId' },
};

/** The OpenAPI 3.1 document of the routes: all that they take, answer and refuse. */
export function openApiDocument({ routes, version, serverUrl }: DocumentOptions): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  const errors = new ErrorResponses(HEADERS);
  for (const spec of routes) (paths[spec.path] ??= {})[spec.method.toLowerCase()] = operation(spec, errors);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tonegate',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(routes.map((spec) => spec.tag))].map((name) => ({ name })),
    paths,
    components: {
      headers: {
        RequestId: { description: 'The id of this request.', schema: { type: 'string' } },
        CorrelationId: { description: 'The same as X-Request-Id.', schema: { type: 'string' } },
      },
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'x-key', description: 'An API key, with its secret.' },
        secret: { type: 'apiKey', in: 'header', name: 'x-secret', description: 'The secret of the API key.' },
        team: {
          ...{ type: 'apiKey', in: 'header', name: 'x-team-id' },
          description: 'Version 1: an account, with the secret of one of its API keys.',
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An OAuth 2.0 access token. An API key in the same request wins over it.',
        },
      },
      schemas: errorSchemas,
      responses: errors.components(),
    },
  };
}

function operation(spec: RouteSpec, errors: ErrorResponses): JsonSchema {
  const parameters = [
    ...parametersOf(spec.params, 'path', spec.example?.params),
    ...parametersOf(spec.query, 'query', spec.example?.query),
    ...parametersOf(spec.headers, 'header'),
  ];
  return {
    operationId: spec.operationId,
    tags: [spec.tag],
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    'x-scopes': [...spec.scopes],
    security: securityOf(spec),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(spec.body ? { requestBody: requestBody(spec, spec.body) } : {}),
    responses: { [spec.status ?? 200]: success(spec), ...errors.of(spec) },
  };
}

/** One alternative for each scope, since any one suffices. */
function securityOf({ auth, scopes }: RouteSpec): JsonSchema[] {
  if (auth === 'none') return [];
  const alternatives: Scope[][] = scopes.length > 0 ? scopes.map((scope) => [scope]) : [[]];
  if (auth === 'team-secret') return alternatives.map((of) => ({ team: of, secret: of }));
  return alternatives.flatMap((of) => [{ key: of, secret: of }, { bearer: of }]);
}

function parametersOf(
  schema: TSchema | undefined,
  place: 'path' | 'query' | 'header',
  examples: Record<string, unknown> = {},
): JsonSchema[] {
  if (!schema) return [];
  const published = publishedSchema(schema);
  const required = (published['required'] ?? []) as string[];
  return Object.entries((published['properties'] ?? {}) as Record<string, JsonSchema>).map(([name, one]) => {
    const { description, ...rest } = one;
    return {
      name,
      in: place,
      // What has a default need not be given.
      required: place === 'path' || (required.includes(name) && rest['default'] === undefined),
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(examples[name] === undefined ? {} : { example: examples[name] }),
    };
  });
}

function requestBody(spec: RouteSpec, body: TSchema): JsonSchema {
  const { bodyKind = 'json', bodyTypes = ['application/octet-stream'], example } = spec;
  const schema = publishedSchema(body);
  // A body that may be null may be left out.
  const required = !(Array.isArray(schema['type']) && schema['type'].includes('null'));
  const json = {
    'application/json': {
      schema,
      ...(example?.body === undefined ? {} : { example: example.body }),
    },
  };
  const multipart = { 'multipart/form-data': { schema: publishedSchema(spec.multipartBody ?? body) } };
  const raw = Object.fromEntries(bodyTypes.map((type) => [type, { schema }]));
  const content = {
    json,
    'any-json': json,
    multipart,
    raw,
    'json-or-multipart': { ...json, ...multipart },
  }[bodyKind];
  return { required, content };
}

function success(spec: RouteSpec): JsonSchema {
  const headers = HEADERS;
  if (spec.dataType !== undefined)
    return {
      description: spec.data.description ?? 'The content.',
      headers,
      content: { [spec.dataType]: { schema: publishedSchema(spec.data) } },
    };
  const schema = publishedSchema(answerSchema(spec));
  const sample = sampleOf(schema);
  const given = spec.example?.data;
  const isEnveloped = spec.envelope !== false;
  const example = given === undefined ? sample : isEnveloped ? { ...(sample as object), data: given } : given;
  const description = spec.summary;
  return { description, headers, content: { 'application/json': { schema, example } } };
}
