import { GraphQLError } from 'graphql';
import type { GraphQLFormattedError } from 'graphql';
import { Problem } from '../../kernel/problem.ts';
import { Refusal } from '../../kernel/refusal.ts';
import type { Logger } from '../logger/index.ts';
import { isTransientDbError } from '../outbox/index.ts';

/** Codes that the GraphQL server itself gives to what is wrong with a request. */
const REQUEST_FAULTS = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** REST's problem type in upper snake (supplement 13, REST). */
export const codeOf = (type: string): string => type.toUpperCase().replaceAll('-', '_');

export interface ErrorScope {
  readonly requestId: string;
  /** Production: what the schema holds is not told by "Did you mean". */
  readonly hidesHints: boolean;
  readonly logger: Logger;
}

/**
 * An error as callers see it: `extensions {code, status, requestId}`, and `details` where a problem has some. What is
 * neither a problem nor a fault of the request is a bug: it is logged here, once, and says nothing of itself.
 */
export function presentError(
  formatted: GraphQLFormattedError,
  error: unknown,
  scope: ErrorScope,
): GraphQLFormattedError {
  const shown = judged(formatted, causeOf(error), scope);
  const message = scope.hidesHints ? shown.message.replace(/ ?Did you mean [^?]*\?/, '') : shown.message;
  const { locations, path } = formatted;
  return {
    message,
    ...(locations ? { locations } : {}),
    ...(path ? { path } : {}),
    extensions: {
      code: shown.code,
      status: shown.status,
      requestId: scope.requestId,
      ...(shown.details ? { details: shown.details } : {}),
    },
  };
}

interface Shown {
  readonly message: string;
  readonly code: string;
  readonly status: number;
  readonly details?: Record<string, unknown> | undefined;
}

function judged(formatted: GraphQLFormattedError, cause: unknown, scope: ErrorScope): Shown {
  if (cause instanceof Problem) return shownOf(cause);
  if (cause instanceof Refusal) {
    return { message: cause.message, code: codeOf(cause.error), status: cause.status };
  }
  if (cause instanceof GraphQLError && isRequestFault(formatted, cause)) {
    const isMethod = (cause.extensions['http'] as { status?: number } | undefined)?.status === 405;
    return shownOf(new Problem(isMethod ? 'method-not-allowed' : 'validation-error', formatted.message));
  }
  if (isTransientDbError(cause)) {
    return shownOf(
      new Problem('service-unavailable', 'The service cannot reach its database; try again soon.'),
    );
  }
  const { requestId, logger } = scope;
  logger.error({ err: cause, request_id: requestId, path: formatted.path }, 'A GraphQL request failed.');
  return shownOf(new Problem('server-error', 'Something went wrong.'));
}

const shownOf = (problem: Problem): Shown => ({
  message: problem.detail,
  code: codeOf(problem.code),
  status: problem.status,
  details: problem.details,
});

/** Arguments are also coerced while a query runs; those errors carry no code. */
const isRequestFault = (formatted: GraphQLFormattedError, cause: GraphQLError): boolean =>
  REQUEST_FAULTS.has(String(formatted.extensions?.['code'])) || /^(Argument|Variable) "/.test(cause.message);

/** What was thrown, under the places that GraphQL wrapped around it. */
function causeOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

/** A problem met before the GraphQL server was asked, as it would show it. */
export const presentProblemError = (error: unknown, scope: ErrorScope): GraphQLFormattedError =>
  presentError({ message: '' }, error, scope);
