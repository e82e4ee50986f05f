/** From what was heard to figures. Pure: no audio, no addon, no clock. */
import type { BeepTruth } from './corpus.ts';
import type { VerdictType } from './case.ts';
import type { Heard, Outcome } from './play.ts';

/** A beep event belongs to a tone when its end lies this near to the tone's. */
const BEEP_MATCH_MS = 300;

/** One case, judged. */
export interface Judged {
  outcome: Outcome;
  first?: Verdict;
  /** The last word: what a client acts on. */
  final?: Verdict;
  verdicts: Verdict[];
  /** From the start of speech to the first verdict that is not silence, in media time. */
  firstAfterSpeechMs?: number;
  hits: BeepHit[];
  missed: BeepTruth[];
  /** Beep events without a tone. */
  falseBeeps: Heard[];
}

export interface Verdict {
  type: VerdictType;
  confidence: number;
  isFinal: boolean;
  reason: string;
  atMs: number;
}

export interface BeepHit {
  endErrorMs: number;
  frequencyErrorHz?: number;
  /** From the tone's end to the event, in media time. */
  delayMs: number;
}

/** Compares one outcome with its truth. */
export function judge(outcome: Outcome): Judged {
  const verdicts = outcome.heard.flatMap(verdictOf);
  const { speechStartMs, beeps } = outcome.case.truth;
  const spoken = verdicts.find((verdict) => verdict.type !== 'silence');
  const { hits, missed, falseBeeps } = matchBeeps(
    beeps,
    outcome.heard.filter(({ event }) => event.event === 'beep'),
  );
  return {
    outcome,
    first: verdicts[0],
    final: verdicts.at(-1),
    verdicts,
    firstAfterSpeechMs:
      spoken === undefined || speechStartMs === undefined ? undefined : spoken.atMs - speechStartMs,
    hits,
    missed,
    falseBeeps,
  };
}

function verdictOf({ event, atMs }: Heard): Verdict[] {
  if (event.event !== 'detection') return [];
  return [
    {
      type: event.type ?? 'unknown',
      confidence: event.confidence ?? 0,
      isFinal: event.isFinal ?? false,
      reason: event.reason ?? '',
      atMs,
    },
  ];
}

/** Each tone takes the nearest event not yet taken; events left over are false. */
export function matchBeeps(
  truths: readonly BeepTruth[],
  events: readonly Heard[],
): Pick<Judged, 'hits' | 'missed' | 'falseBeeps'> {
  const left = [...events];
  const hits: BeepHit[] = [];
  const missed: BeepTruth[] = [];
  for (const truth of truths) {
    const offMs = (heard: Heard): number => Math.abs(heard.event.timestampMs - truth.endMs);
    const near = left.filter((heard) => offMs(heard) <= BEEP_MATCH_MS).sort((a, b) => offMs(a) - offMs(b))[0];
    if (near === undefined) {
      missed.push(truth);
      continue;
    }
    left.splice(left.indexOf(near), 1);
    const { frequencyHz } = near.event;
    const known = truth.frequencyHz !== undefined && frequencyHz !== undefined;
    hits.push({
      endErrorMs: offMs(near),
      frequencyErrorHz: known ? Math.abs(frequencyHz - truth.frequencyHz!) : undefined,
      delayMs: near.atMs - truth.endMs,
    });
  }
  return { hits, missed, falseBeeps: left };
}

/** Nearest-rank quantile; NaN of nothing. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))]!;
}

/** Hits of a whole. */
export interface Share {
  hits: number;
  of: number;
}

export function share<T>(items: readonly T[], right: (item: T) => boolean): Share {
  return { hits: items.filter(right).length, of: items.length };
}

/** 0 to 1; NaN when nothing was measured, so that no target is met by an empty group. */
export function ratio({ hits, of }: Share): number {
  return of === 0 ? Number.NaN : hits / of;
}

/** True when the last word is the right one. */
export function isRight(judged: Judged): boolean {
  return judged.final?.type === judged.outcome.case.truth.verdict;
}

/** True when a live person was claimed at any moment. */
export function everLive(judged: Judged): boolean {
  return judged.verdicts.some((verdict) => verdict.type === 'live_person');
}

/** Beeps of a set of cases: heard of all, false ones, hours. */
export interface BeepFigures {
  heard: Share;
  endErrorsMs: number[];
  frequencyErrorsHz: number[];
  delaysMs: number[];
}

export function beepFigures(judged: readonly Judged[]): BeepFigures {
  const hits = judged.flatMap((item) => item.hits);
  const missed = judged.reduce((sum, item) => sum + item.missed.length, 0);
  return {
    heard: { hits: hits.length, of: hits.length + missed },
    endErrorsMs: hits.map((hit) => hit.endErrorMs),
    frequencyErrorsHz: hits.flatMap((hit) => hit.frequencyErrorHz ?? []),
    delaysMs: hits.map((hit) => hit.delayMs),
  };
}

/** False beeps and the hours in which none should be heard. */
export function falseBeepFigures(judged: readonly Judged[]): { count: number; hours: number } {
  const free = judged.filter(({ outcome }) => outcome.case.truth.beeps.length === 0);
  return {
    count: free.reduce((sum, item) => sum + item.falseBeeps.length, 0),
    hours: free.reduce((sum, item) => sum + item.outcome.audioMs, 0) / 3_600_000,
  };
}

/** A range of confidence and how often verdicts given in it were right. */
export interface ConfidenceBin {
  from: number;
  to: number;
  right: Share;
}

const BIN_EDGES = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0001];

/** Every verdict whose truth is known, by the confidence it was given with. Repetitions of one verdict as final count once. */
export function calibration(judged: readonly Judged[]): ConfidenceBin[] {
  const given = judged.flatMap((item) => {
    const truth = item.outcome.case.truth.verdict;
    if (truth === undefined) return [];
    return item.verdicts
      .filter(
        (verdict, i) =>
          i === 0 ||
          verdict.type !== item.verdicts[i - 1]!.type ||
          verdict.confidence !== item.verdicts[i - 1]!.confidence,
      )
      .map((verdict) => ({ confidence: verdict.confidence, right: verdict.type === truth }));
  });
  return BIN_EDGES.slice(0, -1).map((from, i) => {
    const to = BIN_EDGES[i + 1]!;
    const inBin = given.filter(({ confidence }) => confidence >= from && confidence < to);
    return { from, to: Math.min(1, to), right: share(inBin, ({ right }) => right) };
  });
}

/** Rows of truth, columns of last words. */
export type Confusion = Map<string, Map<string, number>>;

export function confusion(judged: readonly Judged[], rowOf: (item: Judged) => string): Confusion {
  const rows: Confusion = new Map();
  for (const item of judged) {
    const row = rows.get(rowOf(item)) ?? new Map<string, number>();
    const word = item.final?.type ?? 'none';
    row.set(word, (row.get(word) ?? 0) + 1);
    rows.set(rowOf(item), row);
  }
  return rows;
}
