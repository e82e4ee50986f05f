import {
  detectionPolicy,
  EVENT_TYPES,
  eventBody,
  mergeHeaders,
  subscriptionPolicy,
} from '../../../features/webhooks/index.ts';
import type { DeliveryPolicy } from '../../../features/webhooks/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Ids } from '../../../kernel/ids.ts';

/** What a receiver is asked to do with one POST. */
export type Expectation = 'accept' | 'refuse';

/** One POST and what a right receiver does with it. */
export interface Sample {
  readonly name: string;
  readonly expects: Expectation;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** The receiver must answer within this time (contract, Limits). */
  readonly limitMs: number;
}

/** The kinds of deliveries that are checked, with the secret of each. */
export interface Secrets {
  /** Of a webhook subscription. */
  readonly secret?: string | undefined;
  /** Signs the deliveries of its detection sessions. */
  readonly detectionKey?: string | undefined;
}

/** Receivers refuse what is older than 5 minutes (contract; Standard Webhooks); this is twice as old. */
const STALE_MS = 600_000;

interface Kind {
  readonly label: string;
  readonly policy: DeliveryPolicy;
  readonly key: string;
  /** A key that the receiver cannot know. */
  readonly wrongKey: string;
  readonly event: {
    readonly deliveryId: string;
    readonly eventId: string;
    readonly event: string;
    readonly body: string;
  };
}

/** The POSTs of one check, in the order they are made. Without a secret only one that no receiver should accept. */
export function samplesOf(secrets: Secrets, eventType: string, at: { clock: Clock; ids: Ids }): Sample[] {
  const { secret, detectionKey } = secrets;
  const wrongSecret = `whsec_${Buffer.from(at.ids.secret(32), 'base64url').toString('base64')}`;
  const samples: Sample[] = [];
  if (secret !== undefined || detectionKey === undefined) {
    const event = mainEvent(eventType, at);
    const kind = {
      label: 'event',
      policy: subscriptionPolicy,
      key: secret ?? wrongSecret,
      wrongKey: wrongSecret,
      event,
    };
    samples.push(
      ...(secret === undefined ? [forged(kind, at.clock.nowMs())] : series(kind, at.clock.nowMs())),
    );
  }
  if (detectionKey !== undefined) {
    const event = detectionEvent(at);
    const kind = {
      label: 'detection',
      policy: detectionPolicy,
      key: detectionKey,
      wrongKey: wrongSecret,
      event,
    };
    samples.push(...series(kind, at.clock.nowMs()));
  }
  return samples;
}

function series(kind: Kind, nowMs: number): Sample[] {
  const { label } = kind;
  return [
    sample(kind, { name: `${label}, signed`, expects: 'accept', nowMs, attempt: 1 }),
    sample(kind, { name: `${label}, sent again`, expects: 'accept', nowMs, attempt: 2 }),
    forged(kind, nowMs),
    sample(kind, {
      name: `${label}, 10 minutes old`,
      expects: 'refuse',
      nowMs: nowMs - STALE_MS,
      attempt: 1,
    }),
  ];
}

const forged = (kind: Kind, nowMs: number): Sample =>
  sample(
    { ...kind, key: kind.wrongKey },
    { name: `${kind.label}, badly signed`, expects: 'refuse', nowMs, attempt: 1 },
  );

function sample(
  { policy, key, event }: Kind,
  as: { name: string; expects: Expectation; nowMs: number; attempt: number },
): Sample {
  const { name, expects, nowMs, attempt } = as;
  const { body, eventId } = event;
  const own = { ...policy.describe({ ...event, attempt }), ...policy.sign({ body, key, nowMs, eventId }) };
  return { name, expects, body, headers: mergeHeaders({}, own), limitMs: policy.timeoutMs };
}

function mainEvent(eventType: string, { clock, ids }: { clock: Clock; ids: Ids }): Kind['event'] {
  const data = EVENT_TYPES.find((type) => type.eventType === eventType)?.example ?? {};
  const eventId = ids.uuid();
  const body = eventBody({ eventId, event: eventType, data, atMs: clock.nowMs(), sequence: 1 });
  return { deliveryId: eventId, eventId, event: eventType, body };
}

function detectionEvent({ clock, ids }: { clock: Clock; ids: Ids }): Kind['event'] {
  const deliveryId = ids.uuid();
  const envelope = {
    ...{ delivery_id: deliveryId, event: 'beep', emitted_at: new Date(clock.nowMs()).toISOString() },
    ...{ session_id: ids.uuid(), call_id: 'check-receiver', source: 'ws', sequence: 1 },
    data: { timestamp_ms: 8_320, frequency_hz: 1_000, duration_ms: 400, confidence: 0.98, is_final: true },
  };
  return { deliveryId, eventId: deliveryId, event: 'beep', body: JSON.stringify(envelope) };
}
