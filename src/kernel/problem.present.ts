import type { Problem } from './problem.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** A problem as RFC 9457 problem details (interface.md, Errors, Format). `publicUrl` is where its type lives. */
export function presentProblem(
  problem: Problem,
  request: { readonly instance: string; readonly requestId: string; readonly publicUrl: string },
) {
  const title = problem.code.replaceAll(/[-_]/g, ' ');
  return {
    type: `${request.publicUrl}/problems/${problem.code}`,
    title: title.charAt(0).toUpperCase() + title.slice(1),
    status: problem.status,
    detail: problem.detail,
    instance: request.instance,
    request_id: request.requestId,
    ...(problem.details ? { details: problem.details } : {}),
  };
}
