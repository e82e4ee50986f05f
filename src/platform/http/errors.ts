import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../kernel/problem.ts';
import { presentProblem, PROBLEM_TYPE } from '../../kernel/problem.present.ts';
import { Refusal } from '../../kernel/refusal.ts';
import type { Logger } from '../logger/index.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
/** What a server's own error says is for its log; a caller reads fixed text. */
const DETAILS: Record<string, string> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as its Content-Length says.',
  FST_ERR_BAD_URL: 'The path is not valid percent-encoding.',
};

/** Answers an error in the contract's shape (interface.md, Errors, Format): the one place where errors become wire. */
export function sendError(
  error: unknown,
  at: { request: FastifyRequest; reply: FastifyReply; publicUrl: string; logger: Logger },
): FastifyReply {
  const { request, reply } = at;
  if (error instanceof Refusal) {
    const { message, feature } = error;
    const body = { error: error.error, message, ...(feature === undefined ? {} : { feature }) };
    return reply.status(error.status).type(JSON_TYPE).send(JSON.stringify(body));
  }
  const problem = toProblem(error);
  if (problem.status === 429) {
    return reply
      .status(429)
      .type(JSON_TYPE)
      .send(JSON.stringify({ message: 'Too Many Requests' }));
  }
  if (problem.status >= 500) at.logger.error({ err: error, request_id: request.id }, 'A request failed.');
  const instance = request.url.split('?')[0] ?? '/';
  const shown = presentProblem(problem, { instance, requestId: request.id, publicUrl: at.publicUrl });
  return reply.status(problem.status).type(PROBLEM_TYPE).send(JSON.stringify(shown));
}

/** Errors of the server itself carry a status and a code; anything else is a bug and says nothing of itself. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const { statusCode = 500, code = '' } = error as { statusCode?: number; code?: string };
  if (statusCode === 404 || statusCode === 414)
    return new Problem('not-found', 'There is nothing at this path.');
  if (statusCode === 413) return new Problem('payload-too-large', 'The body is too large.');
  if (statusCode === 415)
    return new Problem('unsupported-media-type', 'The content type or encoding is not supported.');
  if (statusCode >= 400 && statusCode < 500)
    return new Problem('validation-error', DETAILS[code] ?? 'The request is malformed.');
  return new Problem('server-error', 'Something went wrong.');
}
