import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../kernel/problem.ts';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import type { CarrierWebhooks, SignedForm } from './carrier-webhooks.service.ts';

const tag = 'Carriers';
/** Bytes of a form; a text has at most 1,600 characters, each written as up to twelve. */
const FORM_BYTES_MAX = 65_536;
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** TwiML that asks for nothing. */
const NOTHING = '<?xml version="1.0" encoding="UTF-8"?><Response/>';

const SIGNED =
  'The carrier signs each request with `X-Twilio-Signature`: base64 HMAC-SHA1, under the auth token of the connection, of ' +
  'the address as it was called (with or without the port of PUBLIC_URL) followed by the name and value of each field, ' +
  'sorted by name. 403 without, or when it is not right.';

const shared = {
  tag,
  scopes: [],
  auth: 'none',
  bodyKind: 'raw',
  bodyTypes: [FORM_TYPE],
  bodyLimit: FORM_BYTES_MAX,
  dataType: 'text/xml',
  data: Type.String({ description: 'TwiML that asks for nothing.' }),
  errors: ['forbidden', 'not-found'],
} as const;

const form = (fields: Record<string, string>) =>
  Type.Object(
    Object.fromEntries(
      Object.entries(fields).map(([name, description]) => [
        name,
        Type.Optional(Type.String({ description })),
      ]),
    ),
    { additionalProperties: true },
  );

/** What Twilio, and services with its interface, call back. */
export function carrierWebhooksRoutes({
  carrierWebhooks,
}: {
  carrierWebhooks: CarrierWebhooks;
}): RouteSpec[] {
  return [
    route({
      ...{ method: 'POST', path: '/carrier/twilio/{carrier_id}/status/{token}', ...shared },
      operationId: 'receiveTwilioStatus',
      summary: 'The fate of a text or a call, told by the carrier',
      description:
        'The address is given to the carrier with each text and call; its token names the attempt. Statuses may come twice, ' +
        `in any order, and before the carrier answered the request itself. ${SIGNED}`,
      params: Type.Object({ carrier_id: Type.String(), token: Type.String() }),
      body: form({
        MessageSid: 'Of a text.',
        MessageStatus: 'Of a text: queued, sending, sent, delivered, undelivered, failed, read.',
        CallSid: 'Of a call.',
        CallStatus:
          'Of a call: initiated, ringing, in-progress, completed, busy, no-answer, failed, canceled.',
        ErrorCode: "Twilio's, when it failed.",
        SipResponseCode: "The called network's, when a call failed.",
      }),
      handler: async ({ params, request }) => {
        const of = { carrierId: params.carrier_id, token: params.token };
        await carrierWebhooks.status(of, await signedForm(request));
        return Buffer.from(NOTHING);
      },
    }),
    route({
      ...{ method: 'POST', path: '/carrier/twilio/{carrier_id}/messages', ...shared },
      operationId: 'receiveTwilioMessage',
      summary: 'A text that somebody sent to a number of the account',
      description: `The address to enter at the carrier for incoming messages. A text that comes twice counts once. ${SIGNED}`,
      params: Type.Object({ carrier_id: Type.String() }),
      body: form({
        MessageSid: 'The carrier’s id.',
        From: 'E.164.',
        To: 'E.164.',
        Body: 'The text.',
        NumMedia: 'How many media there are: MediaUrl0, MediaUrl1, …',
      }),
      handler: async ({ params, request }) => {
        await carrierWebhooks.message(params.carrier_id, await signedForm(request));
        return Buffer.from(NOTHING);
      },
    }),
  ];
}

/** @throws Problem payload-too-large */
async function signedForm(request: FastifyRequest): Promise<SignedForm> {
  const { url: path, headers } = request;
  const signature = headers['x-twilio-signature'];
  return {
    path,
    signature: typeof signature === 'string' ? signature : '',
    body: (await bytesOf(request)).toString('utf8'),
  };
}

/** What is too long is read to its end and thrown away: a connection that is cut takes the answer with it. */
async function bytesOf({ raw }: FastifyRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length;
      if (bytes > FORM_BYTES_MAX) throw new Problem('payload-too-large', 'The form is too long.');
      chunks.push(chunk as Buffer);
    }
  } finally {
    raw.resume();
  }
  return Buffer.concat(chunks);
}
