/** The table of what detection has to show, each line with where its figure comes from. The one place for targets. */
import type { Group } from './case.ts';
import {
  beepFigures,
  calibration,
  everLive,
  falseBeepFigures,
  isRight,
  quantile,
  ratio,
  share,
  type Judged,
} from './score.ts';

/** One line of the table, measured. */
export interface Target {
  what: string;
  measured: number;
  unit: 'share' | 'ms' | 'Hz' | 'per hour' | 'count';
  /** The figure must be at least (or at most) this. */
  bound: 'at least' | 'at most';
  limit: number;
  /** What it was measured over. */
  over: string;
  met: boolean;
}

/** Judged cases of the plain line, standard and live_check apart, and all variants together for false beeps. */
export interface Measured {
  standard: readonly Judged[];
  liveCheck: readonly Judged[];
  everything: readonly Judged[];
}

/** Measures every line. */
export function targetsOf(measured: Measured): Target[] {
  return [...beepTargets(measured), ...verdictTargets(measured), ...timeTargets(measured)];
}

const of = (judged: readonly Judged[], ...groups: Group[]): Judged[] =>
  judged.filter(({ outcome }) => groups.includes(outcome.case.group));

function line(what: string, unit: Target['unit'], bound: Target['bound'], limit: number) {
  return (measured: number, over: string): Target => ({
    what,
    unit,
    bound,
    limit,
    measured,
    over,
    met: bound === 'at least' ? measured >= limit : measured <= limit,
  });
}

function beepTargets({ standard, everything }: Measured): Target[] {
  const mixes = beepFigures(of(standard, 'beep mix'));
  const real = beepFigures(of(standard, 'real beep'));
  const all = beepFigures(of(standard, 'beep mix', 'real beep'));
  const falses = falseBeepFigures(everything);
  const recordings = of(standard, 'recording');
  const onRecordings = recordings.reduce((sum, item) => sum + item.falseBeeps.length, 0);
  const counted = ({ hits, of: total }: { hits: number; of: number }): string => `${hits} of ${total}`;
  const tones = `${all.endErrorsMs.length} tones`;
  return [
    line(
      'beeps mixed into real greetings, heard',
      'share',
      'at least',
      0.97,
    )(ratio(mixes.heard), counted(mixes.heard)),
    line('recorded beeps, heard', 'share', 'at least', 1)(ratio(real.heard), counted(real.heard)),
    line('beep: end error, median', 'ms', 'at most', 10)(quantile(all.endErrorsMs, 0.5), tones),
    line('beep: end error, p95', 'ms', 'at most', 40)(quantile(all.endErrorsMs, 0.95), tones),
    line(
      'beep: frequency error, median',
      'Hz',
      'at most',
      1,
    )(quantile(all.frequencyErrorsHz, 0.5), `${all.frequencyErrorsHz.length} tones`),
    line('beep: event after the tone’s end, p95', 'ms', 'at most', 160)(quantile(all.delaysMs, 0.95), tones),
    line('beep: event after the tone’s end, all', 'ms', 'at most', 180)(quantile(all.delaysMs, 1), tones),
    line(
      'false beeps, everything without one',
      'per hour',
      'at most',
      1,
    )(falses.count / falses.hours, `${falses.count} in ${falses.hours.toFixed(1)} h`),
    line(
      'false beeps on the recordings',
      'count',
      'at most',
      0,
    )(onRecordings, `${recordings.length} recordings`),
  ];
}

function verdictTargets({ standard, liveCheck }: Measured): Target[] {
  const rate = (what: string, limit: number, judged: Judged[], right: (item: Judged) => boolean): Target => {
    const hits = share(judged, right);
    return line(what, 'share', 'at least', limit)(ratio(hits), `${hits.hits} of ${hits.of}`);
  };
  const waiting = of(standard, 'short answer', '1.5 s answer', '2.5 s answer', 'early media').filter(
    ({ outcome }) => outcome.case.truth.personWaits,
  );
  const hungUp = share(waiting, ({ verdicts }) => verdicts.some((v) => v.type === 'voicemail' && v.isFinal));
  const sure = calibration(standard).at(-1)!.right;
  return [
    rate('short answers called live, final', 0.97, of(standard, 'short answer'), isRight),
    rate('answers of 1.5 s called live, final', 0.9, of(standard, '1.5 s answer'), isRight),
    rate('answers of 2.5 s called live, final', 0.8, of(standard, '2.5 s answer'), isRight),
    line(
      '“voicemail”, final, while a person waits',
      'share',
      'at most',
      1 / 200,
    )(ratio(hungUp), `${hungUp.hits} of ${hungUp.of}`),
    rate('greetings called voicemail, final', 0.95, of(standard, 'greeting', 'greeting with beep'), isRight),
    rate('silence called silence, final', 1, of(standard, 'silence'), isRight),
    rate('music, ringback, tones never live', 0.98, of(standard, 'tone'), (item) => !everLive(item)),
    line(
      'verdicts given with 0.9 and more, right',
      'share',
      'at least',
      0.9,
    )(ratio(sure), `${sure.hits} of ${sure.of}`),
    rate('live_check: short answers called live', 0.95, of(liveCheck, 'short answer'), isRight),
    rate(
      'live_check: greetings called voicemail',
      0.85,
      of(liveCheck, 'greeting', 'greeting with beep'),
      isRight,
    ),
  ];
}

function timeTargets({ standard, liveCheck }: Measured): Target[] {
  const groups: Group[] = ['short answer', '1.5 s answer', '2.5 s answer', 'greeting', 'greeting with beep'];
  const times = of(standard, ...groups).flatMap((item) => item.firstAfterSpeechMs ?? []);
  const quick = of(liveCheck, ...groups).flatMap((item) => item.firstAfterSpeechMs ?? []);
  return [
    line(
      'first verdict after speech starts, p50',
      'ms',
      'at most',
      1600,
    )(quantile(times, 0.5), `${times.length} calls`),
    line(
      'first verdict after speech starts, p95',
      'ms',
      'at most',
      3000,
    )(quantile(times, 0.95), `${times.length} calls`),
    line(
      'live_check: verdict after speech starts, p50',
      'ms',
      'at most',
      1200,
    )(quantile(quick, 0.5), `${quick.length} calls`),
  ];
}
