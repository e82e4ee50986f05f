/** `tonegate demo`: the main job on a fresh machine, checked against the truth. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Command } from 'commander';

import { CommandFailed, type CliContext } from './context.ts';
import { faultsOf, webhookFaults, type SampleTruth } from './demo/answer.rules.ts';
import { startService, type RunningService } from './demo/service.process.ts';
import { SENDS, sendOneOfEach } from './demo/sends.ts';
import { receiveWebhooks, type WebhookReceiver } from './demo/webhook.receiver.ts';
import { callAudioOf } from './detect/audio.reader.ts';
import { streamCall, type WireEvent } from './detect/call.client.ts';
import { eventLine } from './detect/event.printer.ts';

/** One sample and what was heard of it. */
interface DemoCall {
  truth: SampleTruth;
  events: WireEvent[];
  failure?: string;
}

const SAMPLES_DIR = fileURLToPath(new URL('../../../samples/', import.meta.url));
/** What the sends of the demo play. */
const MESSAGE = 'live-hello.wav';
/** After the last call; a delivery takes milliseconds, a retried one some seconds. */
const WEBHOOKS_TIMEOUT_MS = 15_000;
const NAME_WIDTH = 30;

/** Adds the command to the program. */
export function register(program: Command, cli: CliContext): void {
  program
    .command('demo')
    .description(
      'start the service with throw-away data, stream the sample calls, compare what is heard with the truth, send one of each',
    )
    .addHelpText('after', '\nExample:\n  tonegate demo')
    .action(() => demo(cli));
}

async function demo(cli: CliContext): Promise<void> {
  const say = (line: string): void => cli.stdout(line);
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  let key = '';
  const receiver = await receiveWebhooks(() => key);
  let service: RunningService | undefined;
  try {
    say('Starting the whole service with throw-away data …');
    const startedAt = performance.now();
    service = await startService(cli.env, interrupted.signal, (line) => cli.stderr(line));
    key = service.detectionKey;
    say(
      `Ready after ${seconds(performance.now() - startedAt)}: ${service.detectUrl}, webhooks to ${receiver.url}\n`,
    );
    const calls = readTruth();
    await streamAll(calls, { service, receiver, say, signal: interrupted.signal });
    await arrived(calls, receiver, interrupted.signal);
    const faults = report(calls, receiver, say);
    if (faults > 0) throw new CommandFailed(`${faults} of ${calls.length} calls were not heard right`);
    const wav = readFileSync(join(SAMPLES_DIR, MESSAGE));
    const wrong = await sendOneOfEach({ ...service, wav, say, signal: interrupted.signal });
    if (wrong > 0) throw new CommandFailed(`${wrong} of ${SENDS.length} sends did not end right`);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await service?.stop();
    await receiver.close();
  }
}

function readTruth(): DemoCall[] {
  const text = readFileSync(join(SAMPLES_DIR, 'truth.json'), 'utf8');
  const { samples } = JSON.parse(text) as {
    samples: {
      file: string;
      description: string;
      verdict: string;
      duration_ms: number;
      speech_start_ms: number | null;
      beep: { end_ms: number; frequency_hz: number } | null;
    }[];
  };
  return samples.map(({ file, description, verdict, beep, ...times }) => ({
    truth: {
      file,
      description,
      verdict,
      durationMs: times.duration_ms,
      speechStartMs: times.speech_start_ms,
      beep: beep && { endMs: beep.end_ms, frequencyHz: beep.frequency_hz },
    },
    events: [],
  }));
}

interface Stage {
  service: RunningService;
  receiver: WebhookReceiver;
  say: (line: string) => void;
  signal: AbortSignal;
}

async function streamAll(calls: DemoCall[], { service, receiver, say, signal }: Stage): Promise<void> {
  const longestMs = Math.max(...calls.map(({ truth }) => truth.durationMs));
  say(`Streaming ${calls.length} recorded calls at once, in real time (${seconds(longestMs)}):\n`);
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true });
  });
  await Promise.race([stopped, Promise.all(calls.map(streamOne))]);

  async function streamOne(call: DemoCall): Promise<void> {
    const { file } = call.truth;
    try {
      await streamCall({
        url: service.detectUrl,
        key: service.detectionKey,
        audio: callAudioOf(file, readFileSync(join(SAMPLES_DIR, file)), 1),
        strategy: 'standard',
        speed: 1,
        callId: file,
        webhookUrl: receiver.url,
        onEvent: (event) => {
          call.events.push(event);
          if (event.event === 'detection' || event.event === 'beep') {
            say(`  ${file.padEnd(NAME_WIDTH)} ${eventLine(event)}`);
          }
        },
      });
    } catch (error) {
      call.failure = error instanceof Error ? error.message : String(error);
    }
  }
}

/** Waits until every event of every call has come by webhook too, at most as long as deliveries may take. */
async function arrived(
  calls: readonly DemoCall[],
  receiver: WebhookReceiver,
  signal: AbortSignal,
): Promise<void> {
  const wanted = calls.reduce((sum, { events }) => sum + events.length, 0);
  const deadlineMs = performance.now() + WEBHOOKS_TIMEOUT_MS;
  while (receiver.deliveries.length < wanted && performance.now() < deadlineMs && !signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Says per call what was heard, when, and what the truth was. Answers the number of calls that were not right. */
function report(calls: readonly DemoCall[], receiver: WebhookReceiver, say: (line: string) => void): number {
  say('\nWhat was heard, and what the truth was:\n');
  let wrong = 0;
  for (const { truth, events, failure } of calls) {
    const deliveries = receiver.deliveries.filter(({ callId }) => callId === truth.file);
    const faults = failure ? [failure] : [...faultsOf(truth, events), ...webhookFaults(events, deliveries)];
    if (faults.length > 0) wrong += 1;
    say(`  ${faults.length === 0 ? 'right' : 'WRONG'}  ${truth.file}: ${truth.description}`);
    say(`         heard: ${heardLine(events)}`);
    say(`         truth: ${truthLine(truth)}`);
    say(`         webhooks: ${deliveries.length} of ${events.length} events, signatures verified`);
    for (const fault of faults) say(`         fault: ${fault}`);
  }
  for (const why of receiver.refused) say(`  WRONG  a webhook was refused: ${why}`);
  const count = receiver.deliveries.length;
  if (wrong + receiver.refused.length === 0) {
    say(`\nAll ${calls.length} calls were heard right; ${count} signed webhooks arrived.`);
  }
  return Math.min(calls.length, wrong + receiver.refused.length);
}

/** The first verdict, the last one, and the beep, each with its media time. */
function heardLine(events: readonly WireEvent[]): string {
  const verdicts = events.filter(({ event }) => event === 'detection');
  const changes = verdicts.filter(({ payload }, i) => payload.type !== verdicts[i - 1]?.payload.type);
  const beeps = events.filter(({ event }) => event === 'beep');
  const parts = [
    ...changes.map(
      ({ payload }) => `${String(payload.type)} (${String(payload.reason)}) at ${time(payload)}`,
    ),
    ...beeps.map(
      ({ payload }) => `beep of ${Math.round(Number(payload.frequency_hz))} Hz ended at ${time(payload)}`,
    ),
  ];
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

function truthLine({ verdict, beep }: SampleTruth): string {
  return beep === null
    ? verdict
    : `${verdict}, beep of ${beep.frequencyHz} Hz ended at ${seconds(beep.endMs)}`;
}

const time = (payload: WireEvent['payload']): string => seconds(Number(payload.timestamp_ms));
const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
