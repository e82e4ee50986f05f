import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { presentProblem, PROBLEM_TYPE } from '../../kernel/problem.present.ts';
import type { Logger } from '../../platform/logger/index.ts';
import type { OauthProvider } from './provider.service.ts';

/** Contract, Limits: a request's own id is used up to this length. */
const REQUEST_ID_MAX = 128;

export interface OauthListenerOptions {
  readonly provider: Pick<OauthProvider, 'callback'>;
  readonly issuer: () => string;
  readonly publicUrl: () => string;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** Headers of every answer: nothing of it is framed, sniffed or runs scripts. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};

/** Answers requests on AUTH_PORT: the OAuth server, `/healthz`, and problem details for everything else. */
export function oauthListener(
  options: OauthListenerOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const requestId = idOf(request, options.ids);
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    response.setHeader('X-Request-Id', requestId).setHeader('X-Correlation-Id', requestId);
    answer(request, response, options).catch((error: unknown) => {
      const isOurs = error instanceof Problem;
      if (!isOurs) options.logger.error({ err: error, request_id: requestId }, 'An OAuth request failed.');
      const problem = isOurs ? error : new Problem('server-error', 'Something went wrong.');
      if (response.headersSent) return void response.end();
      const instance = request.url?.split('?')[0] ?? '/';
      const body = presentProblem(problem, { instance, requestId, publicUrl: options.publicUrl() });
      response.writeHead(problem.status, { 'Content-Type': PROBLEM_TYPE }).end(JSON.stringify(body));
    });
  };
}

/** Where the OAuth server answers; other paths are not its own. */
const PATHS = /^\/(oauth\/|\.well-known\/(oauth-authorization-server|openid-configuration)$)/;

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: OauthListenerOptions,
): Promise<void> {
  const issuer = new URL(options.issuer());
  const prefix = issuer.pathname.replace(/\/$/, '');
  const url = withoutPrefix(request.url ?? '/', prefix);
  const path = url.split('?')[0] ?? '/';
  if (path === '/healthz') {
    return void response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"ok"}');
  }
  if (!PATHS.test(path)) throw new Problem('not-found', 'There is nothing at this path.');
  // PostgreSQL takes no NUL in what is kept of a request.
  if (/%00/.test(url)) throw new Problem('validation-error', 'The address contains a NUL.');
  const callback = await options.provider.callback();
  speakFor(request, { issuer, prefix, url });
  await callback(request, response);
}

/** AUTH_URL may have a path, which a proxy may have taken off; RFC 8414, 3.1 puts it behind the well-known one. */
function withoutPrefix(url: string, prefix: string): string {
  if (prefix === '') return url;
  const wellKnown = `/.well-known/oauth-authorization-server${prefix}`;
  if (url.split('?')[0] === wellKnown) return url.replace(prefix, '');
  return url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url;
}

/** Addresses in answers follow from AUTH_URL alone, never from headers anybody can write. */
function speakFor(request: IncomingMessage, of: { issuer: URL; prefix: string; url: string }): void {
  request.url = of.url;
  Object.assign(request, { originalUrl: of.prefix + of.url });
  request.headers.host = of.issuer.host;
  request.headers['x-forwarded-proto'] = of.issuer.protocol.slice(0, -1);
  delete request.headers['x-forwarded-host'];
}

function idOf(request: IncomingMessage, ids: Ids): string {
  const given = request.headers['x-request-id'];
  const isUsable =
    typeof given === 'string' && given.length <= REQUEST_ID_MAX && /^[\x21-\x7e]+$/.test(given);
  return isUsable ? given : ids.uuid();
}
