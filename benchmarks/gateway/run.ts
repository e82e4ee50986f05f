/**
 * `npm run bench:gateway [-- --quick --assert --no-write]`: this service beside a bare uWebSockets.js sink and two
 * naive stacks, in one run, round by round, each server on one core and the load on the other.
 *   --quick   one short round, nothing written     --assert   exit 1 when a target is missed
 * TONEGATE_BENCH_ROUNDS (3), TONEGATE_BENCH_SECONDS (8): length of the run.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { machineLine } from '../machine.ts';
import { table } from '../detection/report.ts';
import { measureCapacity, type Capacity } from './capacity.ts';
import { measureFullCore } from './full-core.ts';
import { measure, middle, type Load, type Measurement } from './measure.ts';
import { measureMemory, type Memory } from './memory.ts';
import { canPin } from './processes.ts';
import { comparisonTable, isDisturbed, percent, targetTable, throughputRatio } from './report.ts';
import type { Comparison, Line } from './report.ts';
import { makeCertificate, startPeer, startService, type Server } from './servers.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));
const OURS = 'tonegate';
/** A round that the machine disturbed is measured again, this often. */
const ATTEMPTS_MAX = 3;

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
    'no-write': { type: 'boolean', default: false },
  },
});
const rounds = flags.quick ? 1 : Number(process.env.TONEGATE_BENCH_ROUNDS ?? 3);
// The sample's beep ends after 6.3 s: shorter runs would time no event.
const seconds = flags.quick ? 6 : Number(process.env.TONEGATE_BENCH_SECONDS ?? 8);
const pace = { warmUpMs: flags.quick ? 2000 : 3000, measureMs: seconds * 1000 };

if (!existsSync(join(PROJECT_DIR, 'dist/main/cli/tonegate.js'))) {
  console.error('the service is not built: run "npm run build" first');
  process.exit(1);
}

/** Measures every server under the same load, round by round, so that a slow minute of the machine hits all alike. */
async function compare(
  title: string,
  servers: readonly Server[],
  load: (server: Server) => Omit<Load, keyof typeof pace>,
  how: (server: Server, load: Load) => Promise<Measurement> = measure,
): Promise<Comparison> {
  const found = new Map<string, Measurement[]>(servers.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const server of servers) {
      let measurement = await how(server, { ...load(server), ...pace });
      for (let attempt = 1; attempt < ATTEMPTS_MAX && isDisturbed(measurement); attempt += 1) {
        measurement = await how(server, { ...load(server), sockets: measurement.load.sockets, ...pace });
      }
      found.get(server.name)!.push(measurement);
      console.log(
        `${title}, round ${round + 1}: ${server.name} ${measurement.cpuPerFrameUs.toFixed(2)} µs a frame`,
      );
    }
  }
  return { title, rounds: found };
}

/** Sockets to begin with where a core is to be filled; each round begins where the one before ended. */
const nearlyFull = new Map([
  ['tonegate', 1_600],
  ['uws-sink', 2_000],
  ['ws-addon', 900],
  ['ws-js', 420],
]);

async function fillCore(server: Server, load: Load): Promise<Measurement> {
  const found = await measureFullCore(server, load);
  nearlyFull.set(server.name, found.load.sockets);
  return found;
}

interface Figures {
  full: Comparison;
  few: Comparison;
  thousand: Comparison;
  tls: Comparison;
  platform: Comparison;
  memory: Memory;
  capacity: Capacity;
}

async function measureAll(): Promise<Figures> {
  const certificate = makeCertificate();
  const servers: Server[] = [];
  const started = async (server: Promise<Server>): Promise<Server> => {
    servers.push(await server);
    return servers.at(-1)!;
  };
  try {
    const ours = await started(startService({}));
    const sink = await started(startPeer('uws-sink'));
    const naive = [await started(startPeer('ws-addon')), await started(startPeer('ws-js'))];
    const compared = {
      full: await compare(
        'A full core',
        [ours, sink, ...naive],
        ({ name }) => ({ sockets: nearlyFull.get(name) ?? 1_000 }),
        fillCore,
      ),
      few: await compare('400 sockets', [ours, sink, ...naive], () => ({ sockets: 400 })),
      thousand: await compare('1,000 sockets', [ours, sink], () => ({ sockets: 1000 })),
      platform: await compare('400 sockets, base64 JSON of the platform route', [ours, sink], () => ({
        sockets: 400,
        dialect: 'platform',
      })),
    };
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    const secure = await started(startService({ ...certificate.files }));
    const secureSink = await started(startPeer('uws-sink', certificate.files));
    const tls = await compare('400 sockets, TLS', [secure, secureSink], () => ({ sockets: 400 }));
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    return { ...compared, tls, memory: await measureMemory(pace), capacity: await measureCapacity(pace) };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    certificate.remove();
  }
}

function linesOf({ full, thousand, memory, capacity }: Figures): Line[] {
  const atLeast = (what: string, limit: number, measured: number): Line => ({
    what,
    limit: `at least ${limit}`,
    measured: measured.toFixed(2),
    met: measured >= limit,
  });
  const latency = middle(thousand.rounds.get(OURS)!).latency;
  const [first, last] = [capacity.steps[0]!, capacity.steps.at(-1)!];
  const growth = last.cpuPerFrameUs / first.cpuPerFrameUs;
  return [
    atLeast(
      'throughput of a full core ÷ bare uWebSockets.js sink',
      0.7,
      throughputRatio(full, OURS, 'uws-sink'),
    ),
    atLeast(
      'throughput of a full core ÷ `ws` with the same addon',
      1.5,
      throughputRatio(full, OURS, 'ws-addon'),
    ),
    atLeast(
      'throughput of a full core ÷ `ws` with the rules in JavaScript',
      4,
      throughputRatio(full, OURS, 'ws-js'),
    ),
    {
      what: 'last audio → event, p99 at 1,000 sockets',
      limit: 'below 5 ms',
      measured: `${latency.p99Ms?.toFixed(2)} ms of ${latency.count} events`,
      met: latency.count > 0 && latency.p99Ms < 5,
    },
    {
      what: 'memory of a ready session beside the socket’s own',
      limit: 'at most 16 KiB',
      measured: `${(memory.perSessionBytes / 1024).toFixed(1)} KiB`,
      met: memory.perSessionBytes <= 16 * 1024,
    },
    {
      what: `CPU a frame at the limit ÷ at a quarter of it`,
      limit: 'at most 1.25',
      measured: growth.toFixed(2),
      met: growth <= 1.25,
    },
    {
      what: 'past the limit: sessions refused, open ones alive and within 5 ms at p99',
      limit: 'all',
      measured: `${capacity.capped} × session_cap, ${[`${capacity.refused503} × 503`, capacity.refusedElse].filter(Boolean).join(', ')}; ${capacity.alive} of ${capacity.limit} alive, p99 ${capacity.underPressure.latency.p99Ms?.toFixed(2)} ms`,
      met:
        capacity.capped > 0 &&
        capacity.refused503 > 0 &&
        capacity.alive === capacity.limit &&
        capacity.underPressure.latency.p99Ms < 5,
    },
  ];
}

function textOf(figures: Figures, lines: readonly Line[]): string {
  const { memory, capacity } = figures;
  const comparisons = [figures.full, figures.few, figures.thousand, figures.tls, figures.platform];
  return [
    '# Gateway, measured',
    `${machineLine(PROJECT_DIR)}. ${rounds} rounds of ${seconds} s a server${canPin ? ', the server on one core, the generator on the other' : '; cores not pinned here'}. 50 frames a second and socket, 160 bytes of mu-law each.`,
    '## Targets',
    targetTable(lines),
    '## Servers under the same load',
    'Frames/s a core is one second divided by the processor time a frame takes in the server’s process.',
    ...comparisons.map((comparison) => comparisonTable(comparison, OURS)),
    '## Memory',
    table(
      ['', 'bytes each'],
      [
        ['upgraded socket', String(Math.round(memory.perSocketBytes))],
        ['ready session under audio, its socket included', String(Math.round(memory.perReadyBytes))],
        ['ready session beside its socket', String(Math.round(memory.perSessionBytes))],
      ],
    ),
    `## Up to the limit and past it (MAX_SESSIONS=${capacity.limit})`,
    table(
      ['sessions', 'CPU a frame', 'server core', 'p99'],
      [...capacity.steps, capacity.underPressure].map((m, i) => [
        i === capacity.steps.length
          ? `${m.load.sockets}, while ${capacity.pressing} more knock`
          : String(m.load.sockets),
        `${m.cpuPerFrameUs.toFixed(2)} µs`,
        percent(m.serverLoad),
        m.latency.count === 0 ? '–' : `${m.latency.p99Ms.toFixed(2)} ms`,
      ]),
    ),
  ].join('\n\n');
}

const figures = await measureAll();
const lines = linesOf(figures);
const text = textOf(figures, lines);
console.log(`\n${text}`);
if (!flags.quick && !flags['no-write'])
  writeFileSync(join(PROJECT_DIR, 'benchmarks/results/gateway.md'), `${text}\n`);
const missed = lines.filter(({ met }) => !met);
if (flags.assert && missed.length > 0) {
  console.error(`missed: ${missed.map(({ what }) => what).join('; ')}`);
  process.exitCode = 1;
}
