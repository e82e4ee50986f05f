import type { DetectionIdentity } from '../credentials/index.ts';
import type { ErrorEvent, PlatformIds, SessionParams } from './event.type.ts';
import type { StandingFault } from './standing.rules.ts';
import { newRecord } from './session-record.type.ts';
import type { SessionRecord } from './session-record.type.ts';
import type { WelcomeResult } from './welcome.rules.ts';
import { DETECTION_TIMEOUT_DEFAULT_SEC } from './welcome.rules.ts';

/** One welcome on its way through the judgement. */
export interface Attempt {
  readonly welcome: WelcomeResult;
  readonly apiKey: string;
  readonly source: 'ws' | 'platform';
  readonly platform: PlatformIds | null;
  /** A further condition of the dialect on the account; false: unauthorized. */
  readonly accepts: (identity: DetectionIdentity) => boolean;
}

const REJECTIONS: Readonly<Record<StandingFault, string>> = {
  unauthorized: 'The key opens no sessions.',
  payment_required: 'The account has no funds.',
  forbidden: 'Detection is switched off for the account.',
};

/** What the client hears when its key has no standing; the socket then closes with 1008. */
export const rejection = (code: StandingFault): ErrorEvent => ({
  event: 'error',
  code,
  message: REJECTIONS[code],
  recoverable: false,
});

/** The values of an attempt; those of a refused welcome are the defaults, as far as its own are of no use. */
export function paramsOf({ welcome }: Attempt): SessionParams {
  if ('params' in welcome) return welcome.params;
  return {
    callId: welcome.callId,
    encoding: 'pcm16',
    sampleRateHz: 8000,
    strategy: 'standard',
    detectionTimeoutSec: DETECTION_TIMEOUT_DEFAULT_SEC,
    keepAlive: false,
    webhook: welcome.webhook,
  };
}

export function recordOf(
  attempt: Attempt,
  identity: DetectionIdentity,
  session: { readonly sessionId: string; readonly startedAtMs: number },
): SessionRecord {
  const params = paramsOf(attempt);
  return newRecord({
    sessionId: session.sessionId,
    teamId: identity.teamId,
    keyId: identity.keyId,
    callId: params.callId,
    source: attempt.source,
    strategy: params.strategy,
    encoding: params.encoding,
    sampleRateHz: params.sampleRateHz,
    startedAtMs: session.startedAtMs,
    webhook: params.webhook,
    platform: attempt.platform,
    keepTranscripts: identity.keepTranscripts,
  });
}

/** The row of a refused welcome: it holds one `error` event, which its webhook gets. */
export function refusedRecord(
  attempt: Attempt,
  identity: DetectionIdentity,
  session: { readonly sessionId: string; readonly startedAtMs: number },
): SessionRecord {
  return Object.assign(recordOf(attempt, identity, session), {
    state: 'ended',
    endReason: 'refused',
    endedAtMs: session.startedAtMs,
    sequence: 1,
    lastEvent: 'error',
    lastEventAtMs: session.startedAtMs,
  } satisfies Partial<SessionRecord>);
}
