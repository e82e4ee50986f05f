/** Figures as lines of targets and as the results file. */
import { machineLine } from '../machine.ts';
import { table } from '../detection/report.ts';
import type { Comparison } from './compare.ts';
import { IMPORT_ROWS, type ImportFigure } from './import.ts';
import { middleOf } from './load.ts';
import type { TimesFigure } from './million.ts';

const MEBIBYTE = 2 ** 20;

export interface Figures {
  readonly contacts: number;
  readonly imports: readonly ImportFigure[];
  readonly pages: readonly TimesFigure[];
  readonly searches: readonly TimesFigure[];
  readonly reads: readonly Comparison[];
  readonly nested: readonly Comparison[];
}

/** A bound and what was measured: the worst of all figures of its kind. */
export interface Line {
  readonly what: string;
  readonly bound: string;
  readonly measured: string;
  readonly met: boolean;
}

export const isMet = (line: Line): boolean => line.met;

function atMost(what: string, of: { bound: number; unit: string; values: readonly number[] }): Line {
  const worst = Math.max(...of.values);
  const shown = `${worst < 10 ? worst.toFixed(2) : worst.toFixed(1)} ${of.unit}`;
  return { what, bound: `at most ${of.bound} ${of.unit}`, measured: shown, met: worst <= of.bound };
}

function atLeast(what: string, bound: number, ratios: readonly number[]): Line {
  const worst = Math.min(...ratios);
  return {
    what,
    bound: `at least ${bound}`,
    measured: worst.toFixed(2),
    met: ratios.length > 0 && worst >= bound,
  };
}

/** The targets; the bounds are the product's own promises. */
export function linesOf(figures: Figures): Line[] {
  const { imports, pages, searches, reads, nested, contacts } = figures;
  const p99 = (found: readonly TimesFigure[]): number[] => found.map(({ p99Ms }) => p99Ms);
  const rows = IMPORT_ROWS.toLocaleString('en');
  const many = contacts.toLocaleString('en');
  return [
    atMost(`${rows} rows in one call`, {
      ...{ bound: 3, unit: 's', values: imports.map(({ seconds }) => seconds) },
    }),
    atMost(`${rows} rows in one call: memory beside what the process held`, {
      ...{ bound: 150, unit: 'MiB', values: imports.map(({ extraBytes }) => extraBytes / MEBIBYTE) },
    }),
    atMost(`page of a list of ${many} by cursor, p99 at any depth`, {
      bound: 20,
      unit: 'ms',
      values: p99(pages),
    }),
    atMost(`search of ${many} by phone, email and name, p99`, {
      bound: 30,
      unit: 'ms',
      values: p99(searches),
    }),
    atLeast(
      'REST reads ÷ a bare Fastify route with the same statement',
      0.4,
      reads.map(({ ratio }) => ratio),
    ),
    atLeast(
      'nested GraphQL ÷ Apollo, type-graphql and Prisma without batches',
      3,
      nested.map(({ ratio }) => ratio),
    ),
  ];
}

const milliseconds = (value: number): string => `${value.toFixed(1)} ms`;

function timesTable(figures: readonly TimesFigure[]): string {
  return table(
    ['', 'requests', 'p50', 'p99'],
    figures.map(({ what, count, p50Ms, p99Ms }) => [
      ...[what, String(count), milliseconds(p50Ms), milliseconds(p99Ms)],
    ]),
  );
}

function comparisonTable(comparisons: readonly Comparison[]): string {
  const rate = (rates: readonly number[]): string =>
    `${middleOf(rates).toFixed(0)}/s (${rates.map((value) => value.toFixed(0)).join(', ')})`;
  return table(
    [
      '',
      'tonegate: middle (each round)',
      'peer',
      'ratio',
      'CPU a request of the server’s process, tonegate · peer',
    ],
    comparisons.map((found) => [
      found.title,
      rate(found.ours),
      `${found.peerName} ${rate(found.peer)}`,
      found.ratio.toFixed(2),
      `${found.oursCpuUs.toFixed(0)} · ${found.peerCpuUs.toFixed(0)} µs`,
    ]),
  );
}

export function textOf(
  figures: Figures,
  lines: readonly Line[],
  run: { projectDir: string; rounds: number; seconds: number },
): string {
  return `${[
    '# Account side, measured',
    `${machineLine(run.projectDir)}. The service’s api role in a process of its own, PostgreSQL and the client beside it on the same cores. Comparisons: ${run.rounds} rounds of ${run.seconds} s a server, in turn.`,
    '## Targets',
    table(
      ['What', 'Bound', 'Measured (the worst)', ''],
      lines.map(({ what, bound, measured, met }) => [what, bound, measured, met ? 'met' : '**missed**']),
    ),
    `## Imports of ${IMPORT_ROWS.toLocaleString('en')} rows, 9 columns`,
    table(
      ['', 'seconds', 'memory beside what the process held'],
      figures.imports.map(({ what, seconds, extraBytes }) => [
        ...[what, seconds.toFixed(2), `${(extraBytes / MEBIBYTE).toFixed(0)} MiB`],
      ]),
    ),
    `## A list of ${figures.contacts.toLocaleString('en')} contacts, one request at a time`,
    timesTable(figures.pages),
    timesTable(figures.searches),
    '## REST reads beside a bare route',
    comparisonTable(figures.reads),
    '## Nested GraphQL beside resolvers without batches',
    comparisonTable(figures.nested),
  ].join('\n\n')}\n`;
}
