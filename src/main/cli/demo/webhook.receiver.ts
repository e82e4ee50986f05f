/** A receiver of detection webhooks as an integrator writes it: verify over the raw bytes, then parse, then answer. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A verified delivery. */
export interface Delivery {
  deliveryId: string;
  event: string;
  callId: string;
  data: Record<string, unknown>;
}

export interface WebhookReceiver {
  url: string;
  deliveries: readonly Delivery[];
  /** Why requests were refused: wrong signature, old timestamp, no JSON. */
  refused: readonly string[];
  close(): Promise<void>;
}

/** Contract, "Detection webhooks": deliveries signed longer ago are refused. */
const SIGNATURE_AGE_MS_MAX = 5 * 60_000;
/** An event is far smaller. */
const BODY_BYTES_MAX = 64 * 1024;
/** More than a demo sends: the lists below stay bounded whatever knocks. */
const DELIVERIES_MAX = 10_000;

/** Listens on a free port of this machine. `signingKey` is asked for at each delivery: the Detection key. */
export async function receiveWebhooks(signingKey: () => string): Promise<WebhookReceiver> {
  const deliveries: Delivery[] = [];
  const refused: string[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const answer = verify(request.headers, body, signingKey());
      const known = typeof answer === 'object' && deliveries.some((d) => d.deliveryId === answer.deliveryId);
      if (typeof answer === 'string') refused.push(answer);
      else if (!known && deliveries.length < DELIVERIES_MAX) deliveries.push(answer);
      refused.length = Math.min(refused.length, DELIVERIES_MAX);
      response.writeHead(typeof answer === 'string' ? 400 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/events`,
    deliveries,
    refused,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A delivery, or why it is not believed. */
export function verify(
  headers: NodeJS.Dict<string | string[]>,
  body: Buffer,
  signingKey: string,
): Delivery | string {
  const header = (name: string): string => String(headers[name] ?? '');
  const timestamp = header('x-timestamp');
  if (!(Math.abs(Date.now() - Number(timestamp)) <= SIGNATURE_AGE_MS_MAX)) return `timestamp ${timestamp}`;
  const digest = createHmac('sha256', signingKey).update(`${timestamp}.`).update(body).digest('hex');
  const expected = Buffer.from(`v1=hmac-sha256,${digest}`);
  const given = Buffer.from(header('x-signature'));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'signature';
  const parsed = jsonOf(body);
  if (parsed === undefined) return 'no JSON object';
  const { delivery_id: deliveryId, event, call_id: callId } = parsed;
  if (deliveryId !== header('x-delivery-id') || event !== header('x-event')) return 'headers';
  return {
    deliveryId: header('x-delivery-id'),
    event: header('x-event'),
    callId: typeof callId === 'string' ? callId : '',
    data: (parsed.data ?? {}) as Record<string, unknown>,
  };
}

function jsonOf(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // The caller answers 400 and says so.
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
