import { presentProblem } from '../../../kernel/problem.present.ts';
import { Problem, problemStatus } from '../../../kernel/problem.ts';
import type { ProblemCode } from '../../../kernel/problem.ts';
import { PROBLEM_MEANINGS } from '../problem.pages.ts';
import type { RouteSpec } from '../route.type.ts';
import type { JsonSchema } from './schema.rules.ts';

const PROBLEM = {
  type: 'object',
  description: 'RFC 9457 problem details. Branch on the status, not on the texts.',
  required: ['type', 'title', 'status', 'detail', 'instance', 'request_id'],
  properties: {
    type: { type: 'string', description: 'An address that ends in the error code.' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'For people; its wording can change.' },
    instance: { type: 'string', description: 'The path called.' },
    request_id: { type: 'string', description: 'The same as the X-Request-Id header.' },
    details: { type: 'object', description: 'Optional extras, such as the field that is not valid.' },
  },
};

const REQUEST_ID = '7d9f0c7e-3f0a-4a55-9a1e-0f6a3c2b1d10';

const TOO_MANY = {
  type: 'object',
  required: ['message'],
  properties: { message: { const: 'Too Many Requests' } },
};

const REFUSAL = {
  type: 'object',
  description: 'A gate of the plan or of verification.',
  required: ['error', 'message'],
  properties: { error: { type: 'string' }, message: { type: 'string' }, feature: { type: 'string' } },
};

/** Refused before anything is read, without a body. */
const TOO_LONG = {
  description: 'The path with its query and the headers are longer than 64 KiB; the connection is closed.',
};

export const errorSchemas: JsonSchema = { Problem: PROBLEM, TooManyRequests: TOO_MANY, Refusal: REFUSAL };

/** Error answers of the whole document, each described once. */
export class ErrorResponses {
  readonly #headers: JsonSchema;
  readonly #components = new Map<string, JsonSchema>();

  /** `headers`: those of every answer. */
  constructor(headers: JsonSchema) {
    this.#headers = headers;
  }

  /** What the floor itself can answer for a route, and what the route says it refuses, by status. */
  of(spec: RouteSpec): Record<string, JsonSchema> {
    const byStatus = new Map<number, ProblemCode[]>();
    for (const code of new Set([...floorErrors(spec), ...(spec.errors ?? [])])) {
      const status = problemStatus(code);
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    const sorted = [...byStatus].sort(([one], [other]) => one - other);
    const described = Object.fromEntries(
      sorted.map(([status, codes]) => {
        const isRefusal = status === 403 && spec.refusals === true;
        const name = codes.map(titleOf).join('') + (isRefusal ? 'OrRefusal' : '');
        this.#components.set(name, response(codes, { status, isRefusal, headers: this.#headers }));
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
    );
    return spec.query ? { ...described, '431': TOO_LONG } : described;
  }

  components(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#components].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

const titleOf = (code: ProblemCode): string =>
  code
    .split(/[-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

function floorErrors(spec: RouteSpec): ProblemCode[] {
  const hasCredential = spec.auth !== 'none';
  // A handler that judges for itself tells of a wrong credential in its own way.
  const isJudged = hasCredential && spec.auth !== 'self';
  return [
    'validation-error',
    ...(hasCredential ? (['unauthorized'] as const) : []),
    ...(isJudged ? (['forbidden'] as const) : []),
    ...(isJudged && spec.scopes.length > 0 ? (['insufficient-scope'] as const) : []),
    ...(spec.paid ? (['payment-required'] as const) : []),
    ...(spec.params ? (['not-found'] as const) : []),
    ...(spec.body ? (['payload-too-large'] as const) : []),
    ...(spec.bodyKind === 'any-json' ? [] : (['unsupported-media-type'] as const)),
    'too-many-requests',
    'server-error',
    'service-unavailable',
  ];
}

function response(
  codes: readonly ProblemCode[],
  of: { status: number; isRefusal: boolean; headers: JsonSchema },
): JsonSchema {
  const description = codes.map((code) => `\`${code}\`: ${PROBLEM_MEANINGS[code]}`).join('\n\n');
  const shared = { description, headers: of.headers, 'x-problem-types': [...codes] };
  if (of.status === 429) {
    const schema = { $ref: '#/components/schemas/TooManyRequests' };
    const example = { message: 'Too Many Requests' };
    return { ...shared, content: { 'application/json': { schema, example } } };
  }
  const schema = { $ref: '#/components/schemas/Problem' };
  const example = exampleOf(codes[0] ?? 'server-error');
  const refusal = { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } };
  return {
    ...shared,
    content: { 'application/problem+json': { schema, example }, ...(of.isRefusal ? refusal : {}) },
  };
}

const exampleOf = (code: ProblemCode): JsonSchema =>
  presentProblem(new Problem(code, PROBLEM_MEANINGS[code]), {
    instance: '/contact/public/contacts',
    requestId: REQUEST_ID,
    publicUrl: '',
  });
