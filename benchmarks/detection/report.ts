/** Figures as Markdown: the same text goes to the screen and to `benchmarks/results/detection.md`. */
import {
  beepFigures,
  calibration,
  confusion,
  everLive,
  falseBeepFigures,
  isRight,
  quantile,
  share,
  type Judged,
  type Share,
} from './score.ts';
import type { Target } from './targets.ts';

const WORDS = ['live_person', 'voicemail', 'silence', 'unknown', 'none'];

export interface ReportInput {
  targets: readonly Target[];
  standard: readonly Judged[];
  liveCheck: readonly Judged[];
  /** Judged cases of each spoiled line. */
  variants: readonly { name: string; judged: readonly Judged[] }[];
}

/** The whole report. */
export function report({ targets, standard, liveCheck, variants }: ReportInput): string {
  const recordings = standard.filter(({ outcome }) => outcome.case.group === 'recording');
  const made = standard.filter(({ outcome }) => outcome.case.group !== 'recording');
  return [
    '## Targets',
    table(['What', 'Bound', 'Measured', 'Over', ''], targets.map(targetRow)),
    '## Last word, by constructed case',
    confusionTable(made, (item) => item.outcome.case.group),
    '## Last word, by label of the recording (the file, then 10 s of line)',
    confusionTable(recordings, (item) => item.outcome.case.label),
    '## Tones, music, early media: last word',
    confusionTable(
      made.filter(({ outcome }) => outcome.case.group === 'tone' || outcome.case.group === 'early media'),
      (item) => `${item.outcome.case.group}: ${item.outcome.case.label}`,
    ),
    '## `live_check`',
    confusionTable(liveCheck, (item) => item.outcome.case.group),
    '## First verdict after speech starts, by group',
    timeTable([...standard, ...liveCheck]),
    '## Beeps, by condition',
    beepTable(standard),
    '## False beeps, by what was heard (all lines together)',
    falseBeepTable([...standard, ...liveCheck, ...variants.flatMap(({ judged }) => judged)]),
    '## Confidence',
    table(
      ['Given', 'Right', 'Share'],
      calibration(standard).map((bin) => [
        `${bin.from.toFixed(1)} to ${bin.to.toFixed(1)}`,
        `${bin.right.hits} of ${bin.right.of}`,
        percent(bin.right),
      ]),
    ),
    '## The same calls on spoiled lines',
    variantTable([{ name: 'plain (mu-law 8 kHz)', judged: standard }, ...variants]),
  ].join('\n\n');
}

function targetRow(target: Target): string[] {
  const show = (value: number): string => {
    if (Number.isNaN(value)) return '–';
    if (target.unit === 'share') return `${(value * 100).toFixed(1)} %`;
    return target.unit === 'count' ? String(value) : `${value.toFixed(value < 10 ? 1 : 0)} ${target.unit}`;
  };
  const bound = `${target.bound} ${show(target.limit)}`;
  return [target.what, bound, show(target.measured), target.over, target.met ? 'met' : '**missed**'];
}

function confusionTable(judged: readonly Judged[], rowOf: (item: Judged) => string): string {
  const rows = confusion(judged, rowOf);
  return table(
    ['', ...WORDS, 'right', 'ever live'],
    [...rows].map(([name, counts]) => {
      const items = judged.filter((item) => rowOf(item) === name);
      const known = items.filter(({ outcome }) => outcome.case.truth.verdict !== undefined);
      return [
        name,
        ...WORDS.map((word) => String(counts.get(word) ?? 0)),
        known.length === 0 ? '–' : percent(share(known, isRight)),
        String(items.filter(everLive).length),
      ];
    }),
  );
}

function timeTable(judged: readonly Judged[]): string {
  const groups = new Map<string, number[]>();
  for (const item of judged) {
    if (item.firstAfterSpeechMs === undefined) continue;
    const { group, strategy } = item.outcome.case;
    const name = strategy === 'standard' ? group : `${group} (${strategy})`;
    groups.set(name, [...(groups.get(name) ?? []), item.firstAfterSpeechMs]);
  }
  return table(
    ['Group', 'Calls', 'p50', 'p95'],
    [...groups].map(([name, times]) => [
      name,
      String(times.length),
      milliseconds(quantile(times, 0.5)),
      milliseconds(quantile(times, 0.95)),
    ]),
  );
}

function beepTable(judged: readonly Judged[]): string {
  const beepy = judged.filter(({ outcome }) => outcome.case.truth.beeps.length > 0);
  const names = [...new Set(beepy.map(beepName))];
  return table(
    [
      'Condition',
      'Heard',
      'End error p50 / p95',
      'Frequency error p50 / p95',
      'Event after the end p95 / max',
      'False',
    ],
    names.map((name) => {
      const items = beepy.filter((item) => beepName(item) === name);
      const figures = beepFigures(items);
      const pair = (values: number[], [low, high]: [number, number], unit: string): string =>
        values.length === 0
          ? '–'
          : `${quantile(values, low).toFixed(1)} / ${quantile(values, high).toFixed(1)} ${unit}`;
      return [
        name,
        `${figures.heard.hits} of ${figures.heard.of}`,
        pair(figures.endErrorsMs, [0.5, 0.95], 'ms'),
        pair(figures.frequencyErrorsHz, [0.5, 0.95], 'Hz'),
        pair(figures.delaysMs, [0.95, 1], 'ms'),
        String(items.reduce((sum, item) => sum + item.falseBeeps.length, 0)),
      ];
    }),
  );
}

function falseBeepTable(judged: readonly Judged[]): string {
  const rows = new Map<string, Judged[]>();
  for (const item of judged) {
    const { group, label } = item.outcome.case;
    if (item.falseBeeps.length > 0)
      rows.set(`${group}: ${label}`, [...(rows.get(`${group}: ${label}`) ?? []), item]);
  }
  return table(
    ['Heard', 'Calls', 'False beeps'],
    [...rows].map(([name, items]) => [
      name,
      String(items.length),
      String(items.reduce((sum, item) => sum + item.falseBeeps.length, 0)),
    ]),
  );
}

const beepName = ({ outcome }: Judged): string => `${outcome.case.group}: ${outcome.case.label}`;

function variantTable(lines: readonly { name: string; judged: readonly Judged[] }[]): string {
  const groups = [
    'short answer',
    '1.5 s answer',
    '2.5 s answer',
    'greeting',
    'greeting with beep',
    'silence',
  ];
  return table(
    ['Line', ...groups, 'never live', 'beeps heard', 'false beeps'],
    lines.map(({ name, judged }) => {
      const of = (group: string): Judged[] => judged.filter(({ outcome }) => outcome.case.group === group);
      const falses = falseBeepFigures(judged);
      const { heard } = beepFigures(of('beep mix'));
      return [
        name,
        ...groups.map((group) => percent(share(of(group), isRight))),
        percent(share(of('tone'), (item) => !everLive(item))),
        percent(heard),
        `${falses.count} in ${falses.hours.toFixed(1)} h`,
      ];
    }),
  );
}

/** Cases that went wrong, with everything that was said of them: what to look at next. */
export function failures(judged: readonly Judged[]): string[] {
  return judged.flatMap((item) => {
    const { truth, group, id } = item.outcome.case;
    const faults = [
      truth.verdict !== undefined && !isRight(item)
        ? `last word ${item.final?.type ?? 'none'}, not ${truth.verdict}`
        : '',
      truth.neverLive && everLive(item) ? 'called live' : '',
      truth.personWaits && item.verdicts.some((v) => v.type === 'voicemail' && v.isFinal) ? 'HUNG UP' : '',
      ...item.missed.map((beep) => `missed the beep ending at ${beep.endMs.toFixed(0)} ms`),
      ...item.falseBeeps.map(
        ({ event }) =>
          `false beep at ${event.timestampMs.toFixed(0)} ms, ${event.frequencyHz?.toFixed(0)} Hz, ${event.durationMs?.toFixed(0)} ms`,
      ),
    ].filter((fault) => fault !== '');
    if (faults.length === 0) return [];
    const said = item.verdicts.map(
      (v) => `${v.type}${v.isFinal ? '!' : ''} ${v.confidence.toFixed(2)} ${v.reason} @${v.atMs}`,
    );
    return [`[${group}] ${id} (${item.outcome.variant}): ${faults.join('; ')} | ${said.join(', ')}`];
  });
}

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}

function percent({ hits, of }: Share): string {
  return of === 0 ? '–' : `${((100 * hits) / of).toFixed(1)} % (${hits}/${of})`;
}

function milliseconds(value: number): string {
  return `${value.toFixed(0)} ms`;
}
