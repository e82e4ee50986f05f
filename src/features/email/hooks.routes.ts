import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../kernel/problem.ts';
import { parseJsonBody, route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { MailEvents, readMailEvents } from './hook.rules.ts';
import type { SignedBody } from './hook.rules.ts';
import type { MailHooks } from './hooks.service.ts';
import type { InboundMail } from './inbound.service.ts';

const tag = 'Email';
const EVENTS_BYTES_MAX = 262_144;
/** A mail with attachments, which are not kept. */
const MAIL_BYTES_MAX = 10_485_760;
const params = Type.Object({ carrier_id: Type.String({ maxLength: 64 }) });
const SIGNED = `Signed with the connection's webhook secret (GraphQL \`rotateMailWebhookSecret\`): \`X-Timestamp\` in Unix seconds,
at most five minutes away, and \`X-Signature: sha256=<hex HMAC-SHA256(secret, timestamp + "." + body)>\`.`;

export interface HooksServices {
  readonly hooks: MailHooks;
  readonly inbound: InboundMail;
}

/** What mail systems call. */
export const hooksRoutes = (of: HooksServices): RouteSpec[] => [eventsRoute(of), inboundRoute(of)];

const eventsRoute = ({ hooks }: HooksServices): RouteSpec =>
  route({
    ...{ method: 'POST', path: '/email/public/events/{carrier_id}', operationId: 'receiveMailEvents', tag },
    summary: 'Tell what became of emails: delivered, bounced, complained',
    description: `${SIGNED} What is told twice counts once; emails that the account does not have are left out.`,
    ...{ scopes: [], auth: 'none', params, errors: ['unauthorized', 'not-found'] },
    ...{ body: MailEvents, bodyKind: 'raw', bodyTypes: ['application/json'], bodyLimit: EVENTS_BYTES_MAX },
    data: Type.Object({ received: Type.Integer(), matched: Type.Integer() }),
    handler: async ({ params: { carrier_id: carrierId }, request }) => {
      const signed = await signedBody(request, EVENTS_BYTES_MAX);
      const owner = await hooks.authenticate(carrierId, signed);
      const events = readMailEvents(parseJsonBody(signed.body));
      return { received: events.length, matched: await hooks.take(owner, events) };
    },
  });

const inboundRoute = ({ hooks, inbound }: HooksServices): RouteSpec =>
  route({
    ...{ method: 'POST', path: '/email/public/inbound/{carrier_id}', operationId: 'receiveMail', tag },
    summary: 'Hand over a mail that came in',
    description: `${SIGNED} A delivery report (RFC 3464) becomes a bounce, a feedback report (RFC 5965) a complaint; any other
mail is recorded with direction inbound, once for each Message-ID.`,
    ...{ scopes: [], auth: 'none', params, errors: ['unauthorized', 'not-found', 'unprocessable'] },
    body: Type.String({ description: 'The mail as it came (RFC 5322).' }),
    ...{
      bodyKind: 'raw',
      bodyTypes: ['message/rfc822', 'application/octet-stream'],
      bodyLimit: MAIL_BYTES_MAX,
    },
    data: Type.Object({
      kind: Type.String({
        description: 'bounce, complaint, mail, or ignored: nothing of the account is meant.',
      }),
    }),
    handler: async ({ params: { carrier_id: carrierId }, request }) => {
      const signed = await signedBody(request, MAIL_BYTES_MAX);
      const owner = await hooks.authenticate(carrierId, signed);
      return { kind: await inbound.receive(owner, signed.body) };
    },
  });

async function signedBody(request: FastifyRequest, bytesMax: number): Promise<SignedBody> {
  const one = (name: string): string | undefined => {
    const value = request.headers[name];
    return Array.isArray(value) ? undefined : value;
  };
  const body = await readBytes(request.body as AsyncIterable<Buffer> | undefined, bytesMax);
  return { body, timestamp: one('x-timestamp'), signature: one('x-signature') };
}

/** @throws Problem payload-too-large */
async function readBytes(stream: AsyncIterable<Buffer> | undefined, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Problem('payload-too-large', 'The body is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
