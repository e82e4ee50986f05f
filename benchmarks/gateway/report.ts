/** Gateway figures as Markdown, and the lines of the table of targets. */
import { table } from '../detection/report.ts';
import { middle, type Measurement } from './measure.ts';

/** The same load on several servers, each measured in every round. */
export interface Comparison {
  title: string;
  /** By server, one measurement a round. */
  rounds: ReadonlyMap<string, readonly Measurement[]>;
}

/** A line of the table of targets. */
export interface Line {
  what: string;
  limit: string;
  measured: string;
  met: boolean;
}

/** Frames a second that one core carries at this cost. */
export function framesPerSecond(measurement: Measurement): number {
  return 1e6 / measurement.cpuPerFrameUs;
}

/**
 * Throughput of one core of `server` over that of `against`: the middle of the ratios of the rounds, each of which
 * measured both within the same minute.
 */
export function throughputRatio({ rounds }: Comparison, server: string, against: string): number {
  const ours = rounds.get(server) ?? [];
  const theirs = rounds.get(against) ?? [];
  const ratios = ours
    .map((measurement, i) => (theirs[i]?.cpuPerFrameUs ?? Number.NaN) / measurement.cpuPerFrameUs)
    .sort((a, b) => a - b);
  return ratios[Math.floor(ratios.length / 2)] ?? Number.NaN;
}

/** Rows of one comparison: cost, load and latency of each server. */
export function comparisonTable(comparison: Comparison, ours: string): string {
  const rows = [...comparison.rounds].map(([server, measurements]) => {
    const m = middle(measurements);
    const ratio = throughputRatio(comparison, ours, server);
    const costs = measurements.map((each) => each.cpuPerFrameUs.toFixed(2)).join(' ');
    return [
      server,
      String(m.load.sockets),
      `${m.cpuPerFrameUs.toFixed(2)} µs (${costs})`,
      `${Math.round(framesPerSecond(m) / 1000)} k`,
      server === ours ? '1' : ratio.toFixed(2),
      percent(m.serverLoad),
      percent(m.generatorLoad),
      m.latency.count === 0
        ? '–'
        : `${m.latency.p50Ms.toFixed(2)} / ${m.latency.p99Ms.toFixed(2)} ms (${m.latency.count})`,
      doubts(m),
    ];
  });
  const head = [
    'Server',
    'sockets',
    'CPU a frame: middle (each round)',
    'frames/s a core',
    `${ours} ÷ this`,
    'server core',
    'generator core',
    'last audio → event p50 / p99 (events)',
    'doubts',
  ];
  return `### ${comparison.title}\n\n${table(head, rows)}`;
}

/** Why a measurement may not be what it says. */
function doubts(m: Measurement): string {
  const ended = Object.entries(m.ended).map(([why, count]) => `${count} × ${why}`);
  const refused = Object.entries(m.refused).map(([status, count]) => `${count} × refused ${status}`);
  const late = m.lateShare > LATE_SHARE_MAX ? [`${percent(m.lateShare)} of the frames left late`] : [];
  const busy =
    m.otherCores > OTHER_CORES_MAX ? [`something else took ${percent(m.otherCores)} of a core`] : [];
  return [...late, ...busy, ...ended, ...refused].join('; ');
}

/** True when the machine was busy with something else: such a round is measured again. */
export function isDisturbed(m: Measurement): boolean {
  return m.lateShare > LATE_SHARE_MAX || m.otherCores > OTHER_CORES_MAX;
}

/** Frames that leave late come in heaps, and heaps cost less a frame than a steady stream. */
const LATE_SHARE_MAX = 0.01;
/** The service's own database and log take about a tenth of a core at these loads. */
const OTHER_CORES_MAX = 0.3;

/** The table of targets. */
export function targetTable(lines: readonly Line[]): string {
  return table(
    ['What', 'Bound', 'Measured', ''],
    lines.map(({ what, limit, measured, met }) => [what, limit, measured, met ? 'met' : '**missed**']),
  );
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
