import { presentEvent } from '../event.present.ts';
import type { PlatformIds, SessionParams } from '../event.type.ts';
import { newRecord } from '../session-record.type.ts';
import type { LoggedEvent, SessionRecord } from '../session-record.type.ts';
import { DETECTION_TIMEOUT_DEFAULT_SEC } from '../welcome.rules.ts';
import { newPlayRecord } from './play.type.ts';
import type { PlayPlan, PlayRecord } from './play.type.ts';

/** Stands where a session's Detection key stands: a call that hears has none. */
export const NO_KEY_ID = '00000000-0000-0000-0000-000000000000';

/** What a call that hears listens with. */
export const hearingParams = (ids: PlatformIds): SessionParams => ({
  callId: ids.callSid === '' ? null : ids.callSid,
  encoding: 'mulaw',
  sampleRateHz: 8000,
  strategy: 'standard',
  detectionTimeoutSec: DETECTION_TIMEOUT_DEFAULT_SEC,
  keepAlive: false,
  webhook: null,
});

export type HearingRecord = SessionRecord & { readonly play: PlayRecord };

/** The log of a call that hears. It costs nothing as detection: the call itself has a price. */
export function hearingRecord(
  plan: PlayPlan,
  ids: PlatformIds,
  session: { readonly sessionId: string; readonly startedAtMs: number },
): HearingRecord {
  const { callId, strategy, encoding, sampleRateHz } = hearingParams(ids);
  const play = newPlayRecord(plan);
  const record = newRecord({
    ...{ callId, strategy, encoding, sampleRateHz, ...session },
    teamId: plan.teamId,
    keyId: NO_KEY_ID,
    source: 'platform',
    webhook: null,
    platform: ids,
    keepTranscripts: false,
    play,
  });
  return Object.assign(record, { play });
}

/** The end of a call that could not be heard, since no session was free. */
export function unheardEnd(...from: Parameters<typeof hearingRecord>): LoggedEvent {
  const record = hearingRecord(...from);
  const atMs = record.startedAtMs;
  Object.assign(record, {
    state: 'ended',
    endReason: 'refused',
    endedAtMs: atMs,
    sequence: 1,
    lastEvent: 'close',
    lastEventAtMs: atMs,
  } satisfies Partial<SessionRecord>);
  const payload = presentEvent(record, 0, { event: 'close', reason: 'error', durationMs: 0 });
  return { record, sequence: 1, event: 'close', payload, atMs };
}
