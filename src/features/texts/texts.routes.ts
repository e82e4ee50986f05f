import { Type } from '@sinclair/typebox';
import { route, skipPaging } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { presentText } from './texts.present.ts';
import {
  MEDIA_MAX,
  MEDIA_URL_LENGTH_MAX,
  PAGE_DEFAULT,
  PAGE_MAX,
  REPLY_LENGTH_MAX,
  SKIP_MAX,
} from './texts.rules.ts';
import type { TextThreads } from './thread.service.ts';

const PATH = '/phone/public/sms/thread/{contact_id}';
const tag = 'Texts';
const params = Type.Object({ contact_id: Type.String({ maxLength: 64 }) });
const NullableText = Type.Union([Type.String(), Type.Null()]);

const TextData = Type.Object({
  message_id: Type.String({ description: 'Of an outbound text: its send.' }),
  contact_id: NullableText,
  direction: Type.Union([Type.Literal('inbound'), Type.Literal('outbound')]),
  from: NullableText,
  to: NullableText,
  body: Type.String(),
  media_urls: Type.Array(Type.String()),
  phone_line_id: NullableText,
  created_by: NullableText,
  created_at: Type.Integer({ description: 'Epoch ms.' }),
});

/** Texts with one contact (supplement 13, Sends). */
export const textsRoutes = ({ threads }: { threads: TextThreads }): RouteSpec[] => [
  list(threads),
  reply(threads),
];

const list = (threads: TextThreads): RouteSpec =>
  route({
    ...{ method: 'GET', path: PATH, operationId: 'getTextThread', tag },
    summary: 'Texts with a contact, newest first',
    scopes: ['contacts:read'],
    params,
    query: Type.Object(skipPaging({ preset: PAGE_DEFAULT, max: PAGE_MAX, positionMax: SKIP_MAX })),
    data: Type.Array(TextData),
    errors: ['not-found'],
    handler: async ({ caller, params: { contact_id }, query }) =>
      (await threads.list(caller, contact_id, query)).map(presentText),
  });

const media = (maxLength: number) =>
  Type.Optional(Type.Array(Type.String({ maxLength }), { maxItems: MEDIA_MAX }));

const reply = (threads: TextThreads): RouteSpec =>
  route({
    ...{ method: 'POST', path: PATH, operationId: 'replyToText', tag },
    summary: 'Reply to a contact by text',
    description:
      'A send to the number that the contact wrote from last, else to its first one. Like every send it is queued: its result arrives as `contact.sms.status`.',
    scopes: ['sms:send'],
    params,
    body: Type.Object({
      body: Type.Optional(
        Type.String({
          maxLength: REPLY_LENGTH_MAX,
          description: 'Needed without media; merge fields are filled.',
        }),
      ),
      media_urls: media(MEDIA_URL_LENGTH_MAX),
      media_ids: media(64),
      phone_line_id: Type.Optional(
        Type.String({
          maxLength: 64,
          description: 'Omitted: the line that the contact wrote to last, else the default line.',
        }),
      ),
    }),
    status: 201,
    data: Type.Object({ status: Type.Literal('queued'), message_id: Type.String() }),
    errors: ['not-found', 'unprocessable'],
    example: { body: { body: 'Thank you, we call you tomorrow.' } },
    handler: async ({ caller, params: { contact_id }, body }) => {
      const { messageId } = await threads.reply(caller, contact_id, {
        ...{ body: body.body, mediaUrls: body.media_urls, mediaIds: body.media_ids },
        phoneLineId: body.phone_line_id,
      });
      return { status: 'queued' as const, message_id: messageId };
    },
  });
