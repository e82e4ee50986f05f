/**
 * `npm run bench:sends [-- --quick --assert --no-write]`: how many sends a second one api process takes from 64 callers, beside a
 * plain Fastify, Prisma and BullMQ route on the same database, in turn, round by round. Needs redis-server for the peer.
 *   --quick   one short round, nothing written     --assert   exit 1 when a target is missed
 * TONEGATE_BENCH_ROUNDS (5), TONEGATE_BENCH_SECONDS (3): length of the comparison.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { Client, json, middleOf, quantile, type Request } from '../account/load.ts';
import { CLI, type Server } from '../account/stage.ts';
import { table } from '../detection/report.ts';
import { cpuSeconds } from '../gateway/processes.ts';
import { machineLine } from '../machine.ts';
import { openSendsStage, type SendsStage } from './stage.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));
const CALLERS = 64;
const WARM_UP_MS = 1_000;
/** The product's own promises. */
const TARGETS = { ratio: 4, p99Ms: 50, perSecond: 2_000 };

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
    'no-write': { type: 'boolean', default: false },
  },
});
const rounds = flags.quick ? 1 : Number(process.env.TONEGATE_BENCH_ROUNDS ?? 5);
const seconds = flags.quick ? 2 : Number(process.env.TONEGATE_BENCH_SECONDS ?? 3);

if (!existsSync(CLI)) {
  console.error('the service is not built: run "npm run build" first');
  process.exit(1);
}

interface Round {
  readonly perSecond: number;
  readonly times: readonly number[];
  /** Processor time of the server's own process a request, microseconds. */
  readonly cpuUs: number;
}

interface Figures {
  readonly ours: readonly Round[];
  readonly peer: readonly Round[];
  /** Sends answered with 202 by the service, and how many of them are stored with their step and message. */
  readonly answered: number;
  readonly stored: number;
}

let answered = 0;

/** Requests of 64 callers until the time is over, each timed. */
async function load(client: Client, next: () => Request, measureMs: number): Promise<number[]> {
  const times: number[] = [];
  const endMs = performance.now() + measureMs;
  const caller = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const fromMs = performance.now();
      const { status, body } = await client.send(next());
      times.push(performance.now() - fromMs);
      if (status !== 202 || !body.includes('"message_id"')) throw new Error(`answered ${status}: ${body}`);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return times;
}

async function measure(server: Server, next: () => Request): Promise<Round> {
  const client = new Client(server.url, CALLERS);
  try {
    const warm = await load(client, next, WARM_UP_MS);
    const [fromMs, fromSec] = [performance.now(), cpuSeconds(server.pid)];
    const times = await load(client, next, seconds * 1_000);
    const cpuUs = ((cpuSeconds(server.pid) - fromSec) * 1e6) / times.length;
    if (server.name === 'tonegate') answered += warm.length + times.length;
    return { perSecond: (times.length * 1_000) / (performance.now() - fromMs), times, cpuUs };
  } finally {
    await client.close();
  }
}

async function measureAll({ service, peer, account, sql }: SendsStage): Promise<Figures> {
  let n = 0;
  const next = (): Request => ({
    method: 'POST',
    path: '/sms',
    ...json(account.headers, {
      ...{ to: '+15550020001', body: 'Your order is ready.', foreign_id: `order-${(n += 1)}` },
      callback_url: 'https://hooks.example.com/sends',
    }),
  });
  const ours: Round[] = [];
  const theirs: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const [own, other] = [await measure(service, next), await measure(peer, next)];
    ours.push(own);
    theirs.push(other);
    console.log(
      `round ${round}: tonegate ${own.perSecond.toFixed(0)}/s, ${peer.name} ${other.perSecond.toFixed(0)}/s`,
    );
  }
  // Of the peer's rows none has a step or a message.
  const { rows } = await sql.query<{ n: string }>(
    `select count(*) as n from sends s join send_steps t on t.send_id = s.id
       join outbox o on o.topic = 'send.dispatch' and o.key = s.id::text where s.team_id = $1`,
    [account.teamId],
  );
  return { ours, peer: theirs, answered, stored: Number(rows[0]?.n ?? 0) };
}

interface Line {
  readonly what: string;
  readonly bound: string;
  readonly measured: string;
  readonly met: boolean;
}

function linesOf({ ours, peer, answered: taken, stored }: Figures): Line[] {
  const ratio = middleOf(ours.map((one, n) => one.perSecond / (peer[n]?.perSecond ?? NaN)));
  const rate = middleOf(ours.map(({ perSecond }) => perSecond));
  const p99Ms = quantile(
    ours.flatMap(({ times }) => times),
    0.99,
  );
  const line = (what: string, bound: string, measured: string, met: boolean): Line => ({
    ...{ what, bound, measured, met },
  });
  return [
    line('taken a second', `at least ${TARGETS.perSecond}`, rate.toFixed(0), rate >= TARGETS.perSecond),
    line('answer, p99', `at most ${TARGETS.p99Ms} ms`, `${p99Ms.toFixed(1)} ms`, p99Ms <= TARGETS.p99Ms),
    line('÷ the peer', `at least ${TARGETS.ratio}`, ratio.toFixed(2), ratio >= TARGETS.ratio),
    line('answered and stored', String(taken), String(stored), taken === stored),
  ];
}

function textOf(figures: Figures, lines: readonly Line[]): string {
  const row = (name: string, found: readonly Round[]): string[] => {
    const times = found.flatMap((one) => one.times);
    const rates = found.map(({ perSecond }) => perSecond);
    return [
      name,
      `${middleOf(rates).toFixed(0)}/s (${rates.map((rate) => rate.toFixed(0)).join(', ')})`,
      `${quantile(times, 0.5).toFixed(1)} ms`,
      `${quantile(times, 0.99).toFixed(1)} ms`,
      `${middleOf(found.map(({ cpuUs }) => cpuUs)).toFixed(0)} µs`,
    ];
  };
  return `${[
    '# Sends taken, measured',
    `${machineLine(PROJECT_DIR)}. One api process, PostgreSQL, and ${CALLERS} callers beside them on the same cores; ${rounds} rounds of ${seconds} s a server, in turn.`,
    '## Targets',
    table(
      ['What', 'Bound', 'Measured', ''],
      lines.map(({ what, bound, measured, met }) => [what, bound, measured, met ? 'met' : '**missed**']),
    ),
    '## Rounds',
    table(
      ['', 'middle (each round)', 'p50', 'p99', 'CPU a request of the server’s process'],
      [row('tonegate', figures.ours), row('Fastify, Prisma, BullMQ', figures.peer)],
    ),
  ].join('\n\n')}\n`;
}

const stage = await openSendsStage();
let figures: Figures;
try {
  figures = await measureAll(stage);
} finally {
  await stage.close();
}
const lines = linesOf(figures);
const text = textOf(figures, lines);
console.log(`\n${text}`);
if (!flags.quick && !flags['no-write'])
  writeFileSync(fileURLToPath(new URL('../results/sends-accept.md', import.meta.url)), text);
if (flags.assert && !lines.every(({ met }) => met)) process.exitCode = 1;
