import type { Refusal, UpgradeRequest } from './socket.type.ts';

/** An HTTP answer as RFC 9457 problem details (interface.md, Errors). */
export function refusal(status: number, title: string, detail: string): Refusal {
  return {
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: JSON.stringify({ type: 'about:blank', title, status, detail }),
  };
}

const countOf = (request: UpgradeRequest, name: string): number =>
  request.headers.reduce((count, [key]) => (key === name ? count + 1 : count), 0);

/**
 * Refuses what one hop may read differently from the next: the library's own parser lets it pass. An upgrade has
 * exactly one non-empty host, no body and at most one credential header. Null when nothing is odd.
 */
export function upgradeFault(request: UpgradeRequest): Refusal | null {
  const bad = (detail: string): Refusal => refusal(400, 'Bad Request', detail);
  const hosts = request.headers.filter(([name]) => name === 'host');
  if (hosts.length !== 1 || hosts[0]?.[1].trim() === '') return bad('Exactly one Host header is needed.');
  if (countOf(request, 'content-length') > 0 || countOf(request, 'transfer-encoding') > 0)
    return bad('An upgrade carries no body.');
  if (countOf(request, 'authorization') > 1) return bad('At most one Authorization header is taken.');
  if (countOf(request, 'sec-websocket-key') !== 1 || countOf(request, 'sec-websocket-version') !== 1)
    return bad('Exactly one Sec-WebSocket-Key and one Sec-WebSocket-Version are needed.');
  const version = request.headers.find(([name]) => name === 'sec-websocket-version')?.[1];
  if (version !== '13') {
    const answer = refusal(426, 'Upgrade Required', 'Only WebSocket version 13 is spoken (RFC 6455).');
    return { ...answer, headers: { ...answer.headers, 'sec-websocket-version': '13' } };
  }
  return null;
}

/** What a plain HTTP request gets on the detection port: `/healthz` 200, anything else 404, another method 405. */
export function plainAnswer(method: string, path: string): Refusal {
  if (path !== '/healthz') return refusal(404, 'Not Found', 'This port speaks WebSocket.');
  if (method !== 'GET' && method !== 'HEAD') {
    const answer = refusal(405, 'Method Not Allowed', '/healthz is read with GET.');
    return { ...answer, headers: { ...answer.headers, allow: 'GET, HEAD' } };
  }
  return { status: 200, headers: { 'content-type': 'application/json' }, body: '{"status":"ok"}' };
}
