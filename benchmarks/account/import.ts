/** 10,000 rows in one call: how long, and how much more memory the process holds at its worst. */
import { readFileSync, writeFileSync } from 'node:fs';

import { residentBytes } from '../gateway/processes.ts';
import { json, type Client, type Request } from './load.ts';
import { importNumber } from './numbers.ts';
import type { Account, Stage } from './stage.ts';

export const IMPORT_ROWS = 10_000;
const FIELDS = [
  'record_id',
  'first_name',
  'last_name',
  'email',
  'phone',
  'company',
  'city',
  'state',
  'postal',
];

export interface ImportFigure {
  readonly what: string;
  readonly seconds: number;
  readonly extraBytes: number;
}

interface Imported {
  data: { inserted: unknown[]; updated: unknown[]; rejected: unknown[] };
}

/** Rows from `first` on; each number and email is new where `first` is. */
function rowsFrom(first: number): unknown[][] {
  return Array.from({ length: IMPORT_ROWS }, (_, index) => {
    const n = first + index;
    return [
      ...[`record-${n}`, 'Grace', `Import ${n}`, `import${n}@example.com`, importNumber(n), 'Example Ltd'],
      ...['Springfield', 'IL', '62701'],
    ];
  });
}

const importOf = (headers: Account['headers'], rows: unknown[][]): Request => ({
  ...{ method: 'POST', path: '/contact/public/contacts' },
  ...json(headers, { fields: FIELDS.map((type) => ({ type })), values: rows }),
});

/** The kernel's own record of the most memory a process ever held, set back to what it holds now. */
const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');

function peakBytes(pid: number): number {
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kilobytes) * 1_024;
}

async function measured(
  stage: Stage,
  client: Client,
  of: { what: string; request: Request; count: (answer: Imported['data']) => number },
): Promise<ImportFigure> {
  const { pid } = stage.service;
  const before = residentBytes(pid);
  forgetPeak(pid);
  const fromMs = performance.now();
  const { data } = await client.json<Imported>(of.request);
  const seconds = (performance.now() - fromMs) / 1_000;
  if (of.count(data) !== IMPORT_ROWS) {
    throw new Error(
      `${of.what}: ${of.count(data)} rows of ${IMPORT_ROWS}: ${JSON.stringify(data.rejected[0])}`,
    );
  }
  return { what: of.what, seconds, extraBytes: peakBytes(pid) - before };
}

let next = 0;

/** New rows `rounds` times, then the last ones once more, into an account. */
export async function measureImports(
  stage: Stage,
  client: Client,
  of: { account: Account; rounds: number; where: string },
): Promise<ImportFigure[]> {
  const figures: ImportFigure[] = [];
  let rows: unknown[][] = [];
  for (let round = 1; round <= of.rounds; round += 1) {
    rows = rowsFrom(next);
    next += IMPORT_ROWS;
    const request = importOf(of.account.headers, rows);
    const what = `new rows, ${of.where}, call ${round}`;
    figures.push(await measured(stage, client, { what, request, count: (data) => data.inserted.length }));
  }
  const changed = rows.map((row) => [...row.slice(0, 1), 'Hedy', ...row.slice(2)]);
  const { headers, body } = importOf(of.account.headers, changed);
  const overwrite = JSON.stringify({ ...(JSON.parse(body ?? '') as object), conflict_mode: 'overwrite' });
  const request: Request = { method: 'POST', path: '/contact/public/contacts', headers, body: overwrite };
  const what = `the same rows changed, ${of.where}`;
  figures.push(await measured(stage, client, { what, request, count: (data) => data.updated.length }));
  return figures;
}
