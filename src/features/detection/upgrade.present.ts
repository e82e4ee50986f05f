import type { Problem } from '../../kernel/problem.ts';
import type { Refusal } from '../../platform/socket/index.ts';

/** RFC 9457 problem details in place of a socket (interface.md, Errors, Format). */
export function presentRefusal(
  problem: Problem,
  request: { readonly path: string; readonly requestId: string; readonly publicUrl: string },
): Refusal {
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'x-request-id': request.requestId,
    'x-correlation-id': request.requestId,
  };
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer';
  const words = problem.code.replaceAll('-', ' ');
  const body = JSON.stringify({
    type: `${request.publicUrl}/errors/${problem.code}`,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    status: problem.status,
    detail: problem.detail,
    instance: request.path,
    request_id: request.requestId,
  });
  return { status: problem.status, headers, body };
}
