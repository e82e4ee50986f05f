import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../platform/logger/index.ts';
import { METRICS_CONTENT_TYPE } from '../platform/metrics/index.ts';
import type { ReadinessBoard } from './readiness.ts';

const REQUEST_TIMEOUT_MS = 10_000;

export interface InternalOptions {
  readonly host: string;
  readonly port: number;
  readonly readiness: ReadinessBoard;
  /** Prometheus text of this process and its children. */
  readonly metrics: () => Promise<string>;
  readonly logger: Logger;
}

/** `/healthz`, `/readyz` and `/metrics` on INTERNAL_PORT (runtime.md, Living and dying). Open from start to end. */
export async function startInternal(options: InternalOptions): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    answer(request.url ?? '/', response, options).catch((error: unknown) => {
      options.logger.error({ err: error }, 'An internal request failed.');
      send(response, 500, { status: 'failed' });
    });
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

async function answer(url: string, response: ServerResponse, options: InternalOptions): Promise<void> {
  const path = url.split('?')[0];
  if (path === '/healthz') return send(response, 200, { status: 'ok' });
  if (path === '/readyz') {
    const state = await options.readiness.read();
    return send(response, state.ready ? 200 : 503, state);
  }
  if (path === '/metrics') {
    const text = await options.metrics();
    response.writeHead(200, { 'Content-Type': METRICS_CONTENT_TYPE });
    response.end(text);
    return;
  }
  send(response, 404, { status: 'not found' });
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return void response.end();
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
}
