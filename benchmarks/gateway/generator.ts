/**
 * The load generator, a process of its own: opens sockets, sends each of them 50 frames a second evenly spread over
 * the 20 ms, and times the events. Takes a plan as JSON in its argument; says `measuring` and the result as JSON lines.
 */
import { quantile } from '../detection/score.ts';
import { FRAME_MS, callFrames, openingFrames, type LoadPlan, type LoadResult } from './load.ts';
import { openWire, type Wire } from './wire.ts';

/** Upgrades under way at once: a server answers a handful of calls a moment, not thousands. */
const OPENING_MAX = 50;
/** All sockets are ready within this, or the run goes on with those that are. */
const READY_TIMEOUT_MS = 30_000;
/** Bytes that one socket may have waiting here before it is left out of a turn: the server does not keep up. */
const WAITING_BYTES_MAX = 64 * 1024;
/** Timed events that are kept. */
const LATENCIES_MAX = 200_000;

interface Line {
  wire: Wire;
  ready: boolean;
  next: number;
  /** When each frame that ends a beep was sent, oldest first. */
  beepSentMs: number[];
}

const plan = JSON.parse(process.argv[2] ?? '{}') as LoadPlan;
const { frames, beepFrames } = callFrames(plan);
const opening = openingFrames(plan);
const lines = new Map<Wire, Line>();
const result: LoadResult = {
  upgraded: 0,
  ready: 0,
  capped: 0,
  refused: {},
  ended: {},
  framesSent: 0,
  measuredMs: 0,
  events: 0,
  latency: { count: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 },
  lateShare: 0,
  generatorLoad: 0,
};
const latenciesMs: number[] = [];
let measuring = false;
let late = 0;

function count(into: Record<string, number>, name: string): void {
  into[name] = (into[name] ?? 0) + 1;
}

function onText(wire: Wire, text: string): void {
  const nowMs = performance.now();
  const line = lines.get(wire);
  if (line === undefined) return;
  if (measuring) result.events += 1;
  // Parsing every event would make the generator the limit; the names below stand at fixed places in no server.
  if (text.includes('"event":"beep"')) {
    const sentMs = line.beepSentMs.shift();
    if (measuring && sentMs !== undefined && latenciesMs.length < LATENCIES_MAX)
      latenciesMs.push(nowMs - sentMs);
  } else if (!line.ready && text.includes('"event":"ready"')) {
    line.ready = true;
    result.ready += 1;
  } else if (text.includes('session_cap')) result.capped += 1;
}

async function openAll(): Promise<void> {
  let started = 0;
  const worker = async (): Promise<void> => {
    while (started < plan.sockets) {
      const index = started;
      started += 1;
      const wire = await openWire({
        ...plan,
        onText,
        onEnd: (ended, why) => {
          if (lines.delete(ended)) count(result.ended, why);
        },
      }).catch((error: Error) => error.message);
      if (typeof wire === 'number' || typeof wire === 'string') {
        count(result.refused, String(wire));
        continue;
      }
      result.upgraded += 1;
      // Each call begins at its own place of the sample's second, so that beeps do not come all at once.
      lines.set(wire, { wire, ready: false, next: -(index % 50), beepSentMs: [] });
      if (plan.welcome) for (const frame of opening) wire.send(frame);
    }
  };
  await Promise.all(Array.from({ length: OPENING_MAX }, worker));
}

const silent = plan.dialect === 'platform';

async function waitReady(): Promise<void> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  // The platform's stream is only read: nothing says that its session is ready.
  while (!silent && plan.welcome && performance.now() < deadlineMs) {
    if (result.ready + result.capped >= result.upgraded) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Sends what is due on every line, until the time is over. */
function stream(durationMs: number): Promise<void> {
  const active = [...lines.values()].filter((line) => line.ready || silent).slice(0, plan.streaming);
  if (active.length === 0) return new Promise((resolve) => setTimeout(resolve, durationMs));
  const startMs = performance.now();
  let turn = 0;
  return new Promise((resolve) => {
    const step = (): void => {
      const elapsedMs = performance.now() - startMs;
      const due = Math.floor((elapsedMs / FRAME_MS) * active.length);
      for (; turn < due; turn += 1) {
        const dueMs = startMs + ((turn + 1) * FRAME_MS) / active.length;
        sendNext(active[turn % active.length]!, dueMs);
      }
      if (elapsedMs >= durationMs) return resolve();
      setTimeout(step, 1);
    };
    step();
  });
}

function sendNext(line: Line, dueMs: number): void {
  const index = line.next;
  line.next += 1;
  if (index < 0 || line.wire.ended) return;
  if (line.wire.waitingBytes > WAITING_BYTES_MAX) {
    line.next -= 1;
    late += 1;
    return;
  }
  const frame = frames[index];
  if (frame === undefined) return;
  line.wire.send(frame);
  const nowMs = performance.now();
  if (beepFrames.has(index)) line.beepSentMs.push(nowMs);
  if (!measuring) return;
  result.framesSent += 1;
  if (nowMs - dueMs > FRAME_MS) late += 1;
}

await openAll();
await waitReady();
// One stream without a break: the warm-up is its beginning.
const warmedUp = new Promise<void>((resolve) => setTimeout(resolve, plan.warmUpMs));
const done = stream(plan.warmUpMs + plan.measureMs);
await warmedUp;
const cpu = process.cpuUsage();
const fromMs = performance.now();
measuring = true;
late = 0;
console.log(JSON.stringify({ phase: 'measuring' }));
await done;
measuring = false;
result.measuredMs = performance.now() - fromMs;
const used = process.cpuUsage(cpu);
result.generatorLoad = (used.user + used.system) / 1000 / result.measuredMs;
result.lateShare = result.framesSent === 0 ? 0 : late / result.framesSent;
result.latency = {
  count: latenciesMs.length,
  p50Ms: quantile(latenciesMs, 0.5),
  p99Ms: quantile(latenciesMs, 0.99),
  maxMs: quantile(latenciesMs, 1),
};
console.log(JSON.stringify({ phase: 'done', result }));
for (const { wire } of lines.values()) wire.destroy();
