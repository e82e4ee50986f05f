import type { Problem } from '../../kernel/problem.ts';
import { presentProblem, PROBLEM_TYPE } from '../../kernel/problem.present.ts';
import type { Refusal } from '../../platform/socket/index.ts';

/** Problem details in place of a socket. */
export function presentRefusal(
  problem: Problem,
  request: { readonly path: string; readonly requestId: string; readonly publicUrl: string },
): Refusal {
  const headers: Record<string, string> = {
    'content-type': PROBLEM_TYPE,
    'x-request-id': request.requestId,
    'x-correlation-id': request.requestId,
  };
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer';
  const body = JSON.stringify(presentProblem(problem, { ...request, instance: request.path }));
  return { status: problem.status, headers, body };
}
