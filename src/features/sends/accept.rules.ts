import type { SendChannel } from '../delivery-rules/index.ts';
import { hashOfRequest, readKey } from './idempotency.rules.ts';
import type { NewSend } from './send.type.ts';

/** Characters; longer ones stay in the body, where the request check finds them. */
export const FOREIGN_ID_LENGTH_MAX = 255;
export const CALLBACK_URL_LENGTH_MAX = 2_048;

/** What may be wrong before a send is looked at (supplement 2). */
export const IDEMPOTENCY_CONFLICT = 3027;
export const IDEMPOTENCY_KEY_MALFORMED = 3028;

/** A send as it will be stored, if it is no twin. */
export interface Draft {
  readonly sendId: string;
  readonly teamId: string;
  readonly channel: SendChannel;
  readonly version: 1 | 2;
  /** The body as JSON text. */
  readonly request: string;
  readonly acceptCode: typeof IDEMPOTENCY_CONFLICT | typeof IDEMPOTENCY_KEY_MALFORMED | null;
  readonly createdBy: string;
  readonly foreignId: string | null;
  readonly callbackUrl: string | null;
  readonly createdAtMs: number;
  /** What the step `accepted` shows. */
  readonly detail: Readonly<Record<string, string>>;
  /** Null: nothing is said about twins. */
  readonly idempotency: { readonly key: string; readonly requestHash: Buffer } | null;
}

export function draftOf(send: NewSend, of: { sendId: string; nowMs: number }): Draft {
  const { caller, channel, version, request } = send;
  const read = readKey(send.idempotencyKey);
  const key = read.kind === 'key' ? read.key : null;
  return {
    ...{ sendId: of.sendId, teamId: caller.teamId, channel, version, createdBy: caller.userId },
    // JSON has no undefined: whoever asks for a send without a body asks for null.
    request: JSON.stringify(request ?? null),
    acceptCode: read.kind === 'malformed' ? IDEMPOTENCY_KEY_MALFORMED : null,
    foreignId: textOf(request, 'foreign_id', FOREIGN_ID_LENGTH_MAX),
    callbackUrl: textOf(request, 'callback_url', CALLBACK_URL_LENGTH_MAX),
    createdAtMs: of.nowMs,
    detail: { credential_id: caller.credentialId, ...(key === null ? {} : { idempotency_key: key }) },
    idempotency: key === null ? null : { key, requestHash: hashOfRequest(channel, request) },
  };
}

/** A field of a body that may be anything: its text, when it is one that is not too long; else null. */
export function textOf(request: unknown, field: string, lengthMax: number): string | null {
  if (typeof request !== 'object' || request === null || !Object.hasOwn(request, field)) return null;
  const value = (request as Record<string, unknown>)[field];
  return typeof value === 'string' && value !== '' && value.length <= lengthMax ? value : null;
}
