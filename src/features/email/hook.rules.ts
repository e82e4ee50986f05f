import { createHmac, timingSafeEqual } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { Problem } from '../../kernel/problem.ts';

/** How far the time of a signature may be from now, as with the webhooks that we send. */
const TOLERANCE_SEC = 300;
const SIGNATURE = /^sha256=([0-9a-f]{64})$/;
/** Events of one call: each is a transaction of its own. */
export const EVENTS_MAX = 200;
const TEXT_LENGTH_MAX = 500;
const ID_LENGTH_MAX = 998;

/** What a signature covers, as it came. */
export interface SignedBody {
  readonly body: Buffer;
  /** `X-Timestamp`: Unix seconds. */
  readonly timestamp: string | undefined;
  /** `X-Signature`: `sha256=<hex HMAC-SHA256(secret, timestamp + "." + body)>`. */
  readonly signature: string | undefined;
}

/** The signature of the webhooks that we send (supplement 4), asked of those that we take. @throws Problem unauthorized */
export function checkSignature(
  { body, timestamp, signature }: SignedBody,
  secret: string,
  nowMs: number,
): void {
  const given = SIGNATURE.exec(signature ?? '')?.[1];
  const isFresh =
    /^\d{1,12}$/.test(timestamp ?? '') && Math.abs(nowMs / 1_000 - Number(timestamp)) <= TOLERANCE_SEC;
  const wanted = createHmac('sha256', secret)
    .update(`${timestamp ?? ''}.`)
    .update(body)
    .digest();
  if (given === undefined || !isFresh || !timingSafeEqual(Buffer.from(given, 'hex'), wanted))
    throw new Problem('unauthorized', 'The signature is missing, wrong or too old.');
}

const MailEvent = Type.Object({
  event: Type.Union([Type.Literal('delivered'), Type.Literal('bounced'), Type.Literal('complained')]),
  email_id: Type.Optional(Type.String({ maxLength: 64, description: 'Of the email; or its message_id.' })),
  message_id: Type.Optional(Type.String({ maxLength: ID_LENGTH_MAX, description: 'Its Message-ID header.' })),
  recipient: Type.Optional(
    Type.String({ maxLength: 254, description: 'Omitted: the first address of `to`.' }),
  ),
  bounce_type: Type.Optional(
    Type.Union([Type.Literal('hard'), Type.Literal('soft')], { description: 'Of a bounce; omitted: hard.' }),
  ),
  detail: Type.Optional(
    Type.String({ maxLength: TEXT_LENGTH_MAX, description: 'What the other system said.' }),
  ),
  occurred_at: Type.Optional(Type.Integer({ minimum: 0, description: 'Epoch ms; omitted: now.' })),
});
export type MailEventBody = Static<typeof MailEvent>;

export const MailEvents = Type.Object({
  events: Type.Array(MailEvent, { minItems: 1, maxItems: EVENTS_MAX }),
});

/** The body of a bounce webhook. @throws Problem validation-error */
export function readMailEvents(body: unknown): readonly MailEventBody[] {
  const fault = Value.Errors(MailEvents, body).First();
  if (!fault) return (body as Static<typeof MailEvents>).events;
  const field = fault.path.slice(1).replaceAll('/', '.') || 'body';
  throw new Problem('validation-error', 'The request has a field that is not valid.', {
    ...{ field, message: fault.message },
  });
}

/** A Message-ID as it is kept: in its brackets (RFC 5322, 3.6.4). */
export function messageIdOf(text: string): string {
  const bare = text.trim().replace(/^<|>$/g, '');
  return `<${bare}>`;
}
