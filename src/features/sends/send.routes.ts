import type { TObject } from '@sinclair/typebox';
import { route } from '../../platform/http/index.ts';
import type { RouteExample, RouteSpec } from '../../platform/http/index.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import { SCOPE_OF } from './channels.rules.ts';
import {
  AiBroadcastBody,
  QueuedData,
  RvmBody,
  SendHeaders,
  SmsBody,
  VoiceBroadcastBody,
} from './send.schema.ts';
import type { SendRequests } from './send-requests.service.ts';

/** A simulated number: free, nothing is dialled (supplement 3). */
const VOICE_NUMBER = '+15550010001';
const TEXT_NUMBER = '+15550020001';
const AGENT_ID = '7d9f0c7e-3f0a-4a55-9a1e-0f6a3c2b1d10';

interface SendRoute {
  readonly channel: SendChannel;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly body: TObject;
  readonly example: RouteExample['body'];
}

const ROUTES: readonly SendRoute[] = [
  {
    ...{ channel: 'rvm', path: '/rvm', operationId: 'sendRvm', body: RvmBody },
    summary: 'Queue a ringless voicemail',
    example: {
      to: VOICE_NUMBER,
      tts_body: 'Hello, this is a test.',
      voice_id: 'en-us',
      foreign_id: 'order-7',
    },
  },
  {
    ...{ channel: 'sms', path: '/sms', operationId: 'sendSms', body: SmsBody },
    summary: 'Queue a text message, or an RCS message when it has RCS content',
    example: { to: TEXT_NUMBER, body: 'Your order is ready.', foreign_id: 'order-7' },
  },
  {
    ...{ channel: 'voice_broadcast', path: '/voice-broadcast', operationId: 'sendVoiceBroadcast' },
    ...{ body: VoiceBroadcastBody, summary: 'Queue a call that plays a message' },
    example: {
      to: VOICE_NUMBER,
      tts_on_speech: 'Hello.',
      tts_on_beep: 'Please call back.',
      voice_id: 'en-us',
    },
  },
  {
    ...{ channel: 'ai_broadcast', path: '/ai-broadcast', operationId: 'sendAiBroadcast' },
    ...{ body: AiBroadcastBody, summary: 'Queue a call that an AI agent handles' },
    example: { to: VOICE_NUMBER, caller_id: '+12025550123', agent_id: AGENT_ID },
  },
];

const DESCRIPTION = `Answers once the send is stored. Everything else is its result: it arrives at \`callback_url\` and on the status
webhook with a \`reason_code\`, a wrong credential (3007) at \`callback_url\` only. The body is read as JSON whatever its content type.`;

/** The four send routes (interface.md, Single sends; supplement 1). */
export const sendRoutes = ({ sendRequests }: { sendRequests: SendRequests }): RouteSpec[] =>
  ROUTES.map(({ channel, path, operationId, summary, body, example }) =>
    route({
      ...{ method: 'POST', path, operationId, tag: 'Sends', summary, description: DESCRIPTION },
      scopes: [SCOPE_OF[channel]],
      ...{ auth: 'self', bodyKind: 'any-json', headers: SendHeaders, body },
      ...{ status: 202, envelope: false, data: QueuedData },
      example: { body: example },
      handler: async ({ credentials, body: sent, ip, request }) => {
        const idempotencyKey = request.headers['idempotency-key']?.toString();
        const asked = { channel, credentials, request: sent, ip, idempotencyKey };
        return { status: 'queued' as const, message_id: await sendRequests.take(asked) };
      },
    }),
  );
