import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { until } from './until.ts';

export interface CaughtWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The exact text received. */
  readonly body: string;
  readonly receivedAtMs: number;
}

/** What a receiver answers; 'never' leaves the request open until the catcher closes, 'hangup' cuts the connection. */
export type Answer =
  { status: number; headers?: Record<string, string>; body?: string; delayMs?: number } | 'never' | 'hangup';

export interface Catcher {
  readonly url: string;
  readonly caught: CaughtWebhook[];
  /** Waits for `count` requests (those that match, when a test is given) and gives them. */
  waitFor(
    count: number,
    matches?: (hook: CaughtWebhook) => boolean,
    limitMs?: number,
  ): Promise<CaughtWebhook[]>;
  close(): Promise<void>;
}

/** A local HTTP receiver that keeps what it got. `answer` decides by request and its number (from 1). */
export async function catchWebhooks(
  answer: (hook: CaughtWebhook, number: number) => Answer = () => ({ status: 200 }),
): Promise<Catcher> {
  const caught: CaughtWebhook[] = [];
  const server = createServer((request, response) => {
    receive(request).then(
      (hook) => {
        caught.push(hook);
        respond(response, answer(hook, caught.length));
      },
      // The sender died within its request: nothing whole was received.
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    caught,
    waitFor: (count, matches = () => true, limitMs = 20_000) =>
      until(
        () => {
          const found = caught.filter(matches);
          return found.length >= count && found;
        },
        limitMs,
        `${count} webhooks`,
      ),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function receive(request: IncomingMessage): Promise<CaughtWebhook> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  return { path: request.url ?? '', headers: request.headers, body, receivedAtMs: Date.now() };
}

function respond(response: ServerResponse, answer: Answer): void {
  if (answer === 'never') return;
  if (answer === 'hangup') return void response.destroy();
  setTimeout(() => {
    response.writeHead(answer.status, answer.headers ?? {});
    response.end(answer.body ?? '');
  }, answer.delayMs ?? 0);
}
