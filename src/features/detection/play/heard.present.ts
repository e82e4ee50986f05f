import type { OutboxMessage } from '../../../platform/outbox/index.ts';
import type { LoggedEvent, SessionRecord } from '../session-record.type.ts';

/** The topic that tells sends how a call that listened ended; its key is the send's id. */
export const HEARD_TOPIC = 'send.heard';

/** Whether this event is the end of a call that hears: nothing changes in its record after it. */
export const isHeardEnd = ({ record, event }: LoggedEvent): boolean =>
  record.play !== null && event === 'close';

/** The end of a call that hears, told once. Times are media milliseconds of the stream. */
export function heardMessage(record: SessionRecord): OutboxMessage {
  const { play, platform, teamId } = record;
  if (play === null) throw new Error('this session played nothing');
  return {
    topic: HEARD_TOPIC,
    key: play.sendId,
    lane: `${teamId}:heard`,
    payload: {
      teamId,
      attempt: play.attempt,
      sessionId: record.sessionId,
      callSid: platform === null || platform.callSid === '' ? null : platform.callSid,
      verdict: record.verdict,
      beepAtMs: record.beepAtMs,
      played: play.played,
      playedAtMs: play.playedAtMs,
      isHeardWhole: play.isHeardWhole,
      optOut: play.optOut,
      durationMs: Math.round(play.mediaMs),
    },
  };
}
