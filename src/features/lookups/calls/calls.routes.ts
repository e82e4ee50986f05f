import { Type } from '@sinclair/typebox';
import { route } from '../../../platform/http/index.ts';
import type { RouteSpec } from '../../../platform/http/index.ts';
import { OrNull } from '../page.schema.ts';
import type { CallsService } from './calls.service.ts';
import type { Call } from './calls.store.ts';

const CallData = Type.Object({
  call_id: Type.String(),
  contact_id: OrNull(Type.String()),
  phone_number: Type.String(),
  caller_id: OrNull(Type.String()),
  direction: Type.Union([Type.Literal('inbound'), Type.Literal('outbound')]),
  outcome: OrNull(Type.String()),
  answered: Type.Boolean(),
  started_at: Type.Integer({ description: 'Epoch ms.' }),
  ended_at: OrNull(Type.Integer({ description: 'Epoch ms.' })),
  duration: OrNull(Type.Number({ description: 'Seconds; null while it lasts.' })),
  has_recording: Type.Boolean(),
});

const presentCall = (call: Call) => ({
  call_id: call.callId,
  contact_id: call.contactId,
  phone_number: call.phoneNumber,
  caller_id: call.callerId,
  direction: call.direction,
  outcome: call.outcome,
  answered: call.answered,
  started_at: call.startedAtMs,
  ended_at: call.endedAtMs,
  duration: call.endedAtMs === null ? null : (call.endedAtMs - call.startedAtMs) / 1_000,
  has_recording: call.recordingKey !== null,
});

const params = Type.Object({ call_id: Type.String() });
const ONE = '/phone/public/calls/{call_id}';
const tag = 'Calls';

/** Calls (contract, Lookup routes; supplement 6). */
export const callsRoutes = ({ calls }: { calls: CallsService }): RouteSpec[] => [
  route({
    ...{ method: 'GET', path: ONE, operationId: 'getCall', tag },
    summary: 'One call',
    scopes: ['contacts:read'],
    params,
    data: CallData,
    errors: ['not-found'],
    handler: async ({ caller, params: { call_id } }) => presentCall(await calls.get(caller, call_id)),
  }),
  route({
    ...{ method: 'GET', path: `${ONE}/recording`, operationId: 'getCallRecording', tag },
    summary: 'The recording of a call',
    scopes: ['contacts:read'],
    params,
    data: Type.Unsafe<Uint8Array>({ type: 'string', contentMediaType: 'audio/wav' }),
    dataType: 'audio/wav',
    errors: ['not-found'],
    handler: async ({ caller, params: { call_id }, reply }) => {
      const { stream, sizeBytes } = await calls.recording(caller, call_id);
      reply.header('Content-Length', sizeBytes);
      return stream;
    },
  }),
];
