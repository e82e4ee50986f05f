/**
 * An error that a caller may see. One shape for every surface: REST shows it as RFC 9457 problem details,
 * GraphQL as `extensions`, the command line as one line. Codes are the contract's error types
 * (interface.md, Errors); a bug is not a Problem, it is thrown as it is and logged.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly detail: string;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: ProblemCode, detail: string, details?: Record<string, unknown>) {
    super(`${code}: ${detail}`);
    this.name = 'Problem';
    this.code = code;
    this.status = STATUS[code];
    this.detail = detail;
    this.details = details;
  }
}

const STATUS = {
  'validation-error': 400,
  unauthorized: 401,
  'payment-required': 402,
  forbidden: 403,
  'insufficient-scope': 403,
  trial_feature_blocked: 403,
  'team-not-verified': 403,
  'byoc-required': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  conflict: 409,
  'payload-too-large': 413,
  'unsupported-media-type': 415,
  unprocessable: 422,
  'too-many-requests': 429,
  'server-error': 500,
  'service-unavailable': 503,
} as const;

export type ProblemCode = keyof typeof STATUS;

/** The HTTP status of a code. */
export const problemStatus = (code: ProblemCode): number => STATUS[code];

export const isProblemCode = (text: string): text is ProblemCode => Object.hasOwn(STATUS, text);
