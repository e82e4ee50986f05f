import type { MessageKind, PlayPlan } from './play.type.ts';

/**
 * What a call that hears can come to: a verdict, the end of a beep, the timeout without a verdict, or with the verdict
 * voicemail standing (`no_beep`).
 */
export type Happening = 'live_person' | 'voicemail' | 'silence' | 'unknown' | 'beep' | 'timeout' | 'no_beep';

/** What is under way; `after_beep`: the beep message, begun at the end of a beep. */
export type Playing = 'nothing' | MessageKind | 'after_beep';

/** `wait`: go on as it is. A message replaces the one under way. `end`: the call ends, whatever is under way. */
export type PlayAction = 'wait' | MessageKind | 'end';

type Messages = Pick<PlayPlan, 'onSpeech' | 'onBeep' | 'noVerdict'>;

/**
 * The table of PROTOCOL.md, "Calls that hear". A beep always wins: whatever was said before it was said to a greeting.
 * A message that was begun is otherwise left to its end, since nobody is told half of two messages.
 */
export function actionOn(happening: Happening, playing: Playing, plan: Messages): PlayAction {
  if (happening === 'beep') return playing === 'after_beep' ? 'wait' : playable('beep', plan);
  if (playing !== 'nothing') return 'wait';
  switch (happening) {
    case 'live_person':
      return playable('speech', plan);
    case 'voicemail':
      return plan.onSpeech === null && plan.onBeep === null ? 'end' : 'wait';
    case 'silence':
    case 'timeout':
      return withoutVerdict(plan);
    case 'no_beep':
      return plan.noVerdict === 'hang_up' ? 'end' : playable('beep', plan);
    case 'unknown':
      return 'end';
  }
}

function withoutVerdict(plan: Messages): PlayAction {
  if (plan.noVerdict === 'hang_up') return 'end';
  return playable(plan.noVerdict === 'play_speech' ? 'speech' : 'beep', plan);
}

const playable = (kind: MessageKind, plan: Messages): PlayAction =>
  (kind === 'speech' ? plan.onSpeech : plan.onBeep) === null ? 'end' : kind;
