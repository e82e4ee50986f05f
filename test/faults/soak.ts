/**
 * `npm run test:soak`: one service under sockets that open, stream, stop, break off and are refused, for SOAK_MIN
 * minutes (10) by SOAK_CALLS callers (30). At checkpoints all callers rest and what the processes hold is read:
 * exit code 1 when memory, handles or timers grow, or a webhook is lost.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { clusterUrl } from '../../src/platform/db/index.ts';
import { dataFolder } from '../_util/service.ts';
import { until } from '../_util/until.ts';
import { Call, completeCall, sample } from './_util/call.ts';
import type { CallOptions } from './_util/call.ts';
import { Receiver } from './_util/receiver.ts';
import { Service } from './_util/service.ts';

const MINUTES = Number(process.env['SOAK_MIN'] ?? 10);
const CALLERS = Number(process.env['SOAK_CALLS'] ?? 30);
const CHECKPOINTS = 6;
/** The first checkpoint warms up; growth is measured from the second on. */
const BASE_CHECKPOINT = 1;
const SPEED = 4;
const COLLECT_ON_SIGNAL = pathToFileURL(join(import.meta.dirname, '_util/collect-on-signal.js')).href;
const REST_SAMPLES = 10;
const REST_PAUSE_MS = 500;
const SETTLE_LIMIT_MS = 120_000;
const MIB = 1024 * 1024;
/** What a measure may grow by over the run: noise of the collector and of pools that fill. */
const ALLOWED = {
  heap_mib: { share: 0.1, room: 8 },
  resident_mib: { share: 0.25, room: 64 },
  handles: { share: 0, room: 8 },
  timers: { share: 0, room: 8 },
} as const;

type Measure = keyof typeof ALLOWED;
type Held = Record<Measure, number>;

const AUDIO = ['voicemail-beep.wav', 'live-hello.wav', 'silence.wav', 'carrier-not-in-service.wav'].map(
  sample,
);

/** What happened, by the way it ended. */
const counts = { completed: 0, 'broken off': 0, refused: 0, 'wrong welcome': 0, failed: 0 };

async function oneCall(options: CallOptions, number: number): Promise<void> {
  const audio = AUDIO[number % AUDIO.length] ?? new Uint8Array();
  if (number % 10 === 7) {
    const refused = await Call.open({ ...options, key: 'tgd_unknown' }).then(
      () => false,
      () => true,
    );
    counts[refused ? 'refused' : 'failed'] += 1;
  } else if (number % 10 === 8) {
    const wrong = await Call.open({ ...options, webhookUrl: 'ftp://127.0.0.1/hook' }).then(
      () => false,
      () => true,
    );
    counts[wrong ? 'wrong welcome' : 'failed'] += 1;
  } else if (number % 10 === 9) {
    const call = await Call.open(options);
    call.stream(audio, { speed: SPEED });
    await call.waitFor('detection').catch(() => undefined);
    call.drop();
    counts['broken off'] += 1;
  } else {
    await completeCall(options, audio, SPEED);
    counts.completed += 1;
  }
}

async function callFor(options: CallOptions, durationMs: number): Promise<void> {
  const endMs = performance.now() + durationMs;
  const caller = async (first: number): Promise<void> => {
    for (let number = first; performance.now() < endMs; number += 1) {
      await oneCall(options, number).catch((error: unknown) => {
        counts.failed += 1;
        console.error(error);
      });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
}

/** Sum of a metric over the processes and its labels. */
function metric(text: string, pattern: RegExp): number {
  return text
    .split('\n')
    .filter((line) => pattern.test(line))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** The least that is held while all rest, after each of the processes has collected its garbage. */
async function heldAtRest(service: Service, pids: readonly number[]): Promise<Held> {
  const least: Held = { heap_mib: Infinity, resident_mib: Infinity, handles: Infinity, timers: Infinity };
  for (let look = 0; look < REST_SAMPLES; look += 1) {
    for (const pid of pids) process.kill(pid, 'SIGUSR2');
    await delay(REST_PAUSE_MS);
    const text = await (await fetch(`${service.ready.internal}/metrics`)).text();
    const now: Held = {
      heap_mib: metric(text, /^nodejs_heap_size_used_bytes/) / MIB,
      resident_mib: metric(text, /^process_resident_memory_bytes/) / MIB,
      handles: metric(text, /^nodejs_active_handles_total/),
      timers: metric(text, /^nodejs_active_resources\{.*type="Timeout"/),
    };
    for (const name of Object.keys(least) as Measure[]) least[name] = Math.min(least[name], now[name]);
  }
  return least;
}

function report(all: readonly Held[]): boolean {
  const base = all[BASE_CHECKPOINT];
  const last = all.at(-1);
  if (!base || !last) throw new Error('too few checkpoints');
  console.table(
    all.map((held) => Object.fromEntries(Object.entries(held).map(([n, v]) => [n, Math.round(v * 10) / 10]))),
  );
  const grown = (Object.keys(ALLOWED) as Measure[]).filter((name) => {
    const { share, room } = ALLOWED[name];
    return !(last[name] <= base[name] * (1 + share) + room);
  });
  for (const name of grown) console.error(`grown: ${name} from ${base[name]} to ${last[name]}`);
  return grown.length === 0;
}

async function soak(service: Service, databaseUrl: string): Promise<boolean> {
  const { detection_key: key } = await service.credentials();
  const receiver = await Receiver.open([key]);
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const number = async (sql: string): Promise<number> => {
    const { rows } = await database.query<{ n: string }>(sql);
    return Number(rows[0]?.n);
  };
  try {
    const options = { url: service.detectUrl, key, webhookUrl: receiver.url };
    const all: Held[] = [];
    for (let checkpoint = 0; checkpoint < CHECKPOINTS; checkpoint += 1) {
      await callFor(options, (MINUTES * 60_000) / CHECKPOINTS);
      const open = `select (select count(*) from outbox) + (select count(*) from detection_sessions where state = 'live') as n`;
      await until(
        async () => (await number(open)) === 0,
        SETTLE_LIMIT_MS,
        'the end of all sessions and deliveries',
      );
      const { rows } = await database.query<{ pid: number }>(
        'select pid from processes where ended_at is null',
      );
      const pids = new Set([service.pid, ...rows.map(({ pid }) => pid)]);
      all.push(await heldAtRest(service, [...pids]));
      console.log(
        `checkpoint ${checkpoint + 1} of ${CHECKPOINTS}`,
        counts,
        `webhooks: ${receiver.arrivals.length}`,
      );
    }
    const committed = await number('select count(*) as n from webhook_deliveries');
    const lost = committed - receiver.deliveryIds.size;
    console.log({ ...counts, committed, lost, faults: receiver.faults.length });
    return report(all) && lost === 0 && counts.failed === 0 && receiver.faults.length === 0;
  } finally {
    await database.end();
    await receiver.close();
  }
}

const folder = await dataFolder();
try {
  // Funds for as long as it runs: a call costs a few thousandths.
  const service = await Service.start(folder.path, { NODE_OPTIONS: `--import ${COLLECT_ON_SIGNAL}` });
  try {
    const url = await clusterUrl(folder.path);
    if (url === null) throw new Error('the folder has no cluster');
    process.exitCode = (await soak(service, url)) ? 0 : 1;
  } finally {
    await service.end();
  }
} finally {
  await folder.remove();
}
