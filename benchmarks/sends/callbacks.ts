/**
 * `npm run bench:callbacks [-- --quick --assert --no-write]`: what one callback host that never answers does to a thousand
 * healthy ones. Results are handed out at a steady rate, once with the dead host among them and once without, in turn;
 * timed is a result's way from its commit to the healthy host's receiver.
 *   --quick   one short pair, nothing written     --assert   exit 1 when the target is missed
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { createCallbackHandler } from '../../src/features/sends/index.ts';
import { callbackMessages } from '../../src/features/sends/callback.messages.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { compose } from '../../src/main/compose.ts';
import type { Services } from '../../src/main/compose.ts';
import { EmbeddedCluster, migrate } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { Relay } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import { loadSettings } from '../../src/platform/settings/index.ts';
import { middleOf, quantile } from '../account/load.ts';
import { table } from '../detection/report.ts';
import { machineLine } from '../machine.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));
const HOSTS = 1_000;
/** Results a second, each for the next host; as many again go to the dead host where there is one. */
const PER_SECOND = 100;
const BATCH_MS = 50;
/** The product's own promise. */
const P99_RATIO = 1.5;
const CONNECTIONS = 10;

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
    'no-write': { type: 'boolean', default: false },
  },
});
const pairs = flags.quick ? 1 : 3;
const seconds = flags.quick ? 3 : 10;

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '0.0.0.0', () => resolve((server.address() as AddressInfo).port));
  });

/** Each address of the loopback network is a host of its own. */
const hostOf = (n: number): string => `127.0.${1 + Math.floor(n / 250)}.${1 + (n % 250)}`;

const arrivals = new Map<string, number>();
const healthy = createHttpServer((request, response) => {
  arrivals.set(request.url?.slice(1) ?? '', performance.now());
  request.resume();
  response.writeHead(204).end();
});
/** Takes connections and says nothing. */
const held = new Set<Socket>();
const dead = createTcpServer((socket) => {
  held.add(socket);
  socket.on('error', () => undefined).on('close', () => held.delete(socket));
});
const healthyPort = await listen(healthy);
const deadPort = await listen(dead);

/** Milliseconds from the commit to the arrival, of each result of a healthy host. */
async function round(services: Services, teamId: string, hasDead: boolean): Promise<number[]> {
  const sentAt = new Map<string, number>();
  const endMs = performance.now() + seconds * 1_000;
  let host = 0;
  while (performance.now() < endMs) {
    const startMs = performance.now();
    const callbacks = Array.from({ length: (PER_SECOND * BATCH_MS) / 1_000 }, () => {
      const sendId = services.ids.timed(services.clock.nowMs());
      host = (host + 1) % HOSTS;
      return { teamId, sendId, url: `http://${hostOf(host)}:${healthyPort}/${sendId}` };
    });
    const lost = hasDead
      ? callbacks.map(() => ({
          ...{ teamId, sendId: services.ids.timed(services.clock.nowMs()) },
          url: `http://127.1.0.1:${deadPort}/`,
        }))
      : [];
    const all = [...callbacks, ...lost];
    await services.outbox.tx(async (tx) => {
      await tx.query(
        `insert into send_callbacks (send_id, team_id, url, body, created_at)
         select w.id, $1, w.url, '{}', now() from unnest($2::uuid[], $3::text[]) as w (id, url)`,
        [teamId, all.map(({ sendId }) => sendId), all.map(({ url }) => url)],
      );
      await services.outbox.add(tx, callbackMessages(all));
    });
    const nowMs = performance.now();
    for (const { sendId } of callbacks) sentAt.set(sendId, nowMs);
    await pause(Math.max(0, BATCH_MS - (nowMs - startMs)));
  }
  while ([...sentAt.keys()].some((id) => !arrivals.has(id))) await pause(BATCH_MS);
  return [...sentAt].map(([id, atMs]) => Math.max(0, (arrivals.get(id) ?? Infinity) - atMs));
}

interface Pair {
  readonly without: number;
  readonly withDead: number;
}

async function measure(): Promise<Pair[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tonegate-bench-'));
  const cluster = new EmbeddedCluster({ folder, logger: silentLogger });
  await cluster.start();
  try {
    await migrate(cluster.url);
    const found: Pair[] = [];
    for (let pair = 1; pair <= pairs; pair += 1) {
      const [without, withDead] = [
        await once(cluster.url, folder, false),
        await once(cluster.url, folder, true),
      ];
      found.push({ without, withDead });
      console.log(
        `pair ${pair}: p99 ${without.toFixed(1)} ms without the dead host, ${withDead.toFixed(1)} ms with it`,
      );
    }
    return found;
  } finally {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The p99 of one round, by a worker of its own. */
async function once(url: string, dataDir: string, hasDead: boolean): Promise<number> {
  const settings = loadSettings({ DATA_DIR: dataDir, ALLOW_PRIVATE_TARGETS: 'true' });
  const at = { url, maxConnections: CONNECTIONS, applicationName: 'bench' };
  const logger = silentLogger;
  const queue = createQueue({ logger, clock: systemClock });
  const services = compose({ settings, masterKey: randomBytes(32), logger, queue, ...at });
  const { db, clock, net, ids } = services;
  const relay = new Relay({
    db,
    queue,
    clock,
    logger,
    ids,
    handlers: [createCallbackHandler({ db, clock, net })],
  });
  relay.start();
  try {
    const { teamId } = await services.accounts.create({ name: 'Load', fundsMicros: 0n });
    const times = await round(services, teamId, hasDead);
    return quantile(times, 0.99);
  } finally {
    await relay.stop({ graceMs: 0 });
    await db.query(`delete from outbox where topic = 'send.callback'`);
    await services.close();
  }
}

const found = await measure();
for (const socket of held) socket.destroy();
healthy.closeAllConnections();
healthy.close();
dead.close();

const ratio = middleOf(found.map(({ without, withDead }) => withDead / without));
const met = ratio <= P99_RATIO;
const text = `${[
  '# Callbacks beside a dead host, measured',
  `${machineLine(PROJECT_DIR)}. One worker and its PostgreSQL on the same cores; ${PER_SECOND} results a second for ${HOSTS} healthy hosts, and as many for one that takes connections and never answers; ${pairs} pairs of rounds of ${seconds} s.`,
  table(
    ['What', 'Bound', 'Measured', ''],
    [
      [
        'p99 of the healthy ÷ without the dead host',
        `at most ${P99_RATIO}`,
        ratio.toFixed(2),
        met ? 'met' : '**missed**',
      ],
    ],
  ),
  table(
    ['pair', 'p99 without', 'p99 with'],
    found.map(({ without, withDead }, n) => [
      String(n + 1),
      `${without.toFixed(1)} ms`,
      `${withDead.toFixed(1)} ms`,
    ]),
  ),
].join('\n\n')}\n`;
console.log(`\n${text}`);
if (!flags.quick && !flags['no-write'])
  writeFileSync(fileURLToPath(new URL('../results/sends-callbacks.md', import.meta.url)), text);
if (flags.assert && !met) process.exitCode = 1;
