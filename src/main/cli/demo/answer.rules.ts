/** Was the call heard right? What a sample's truth asks of the events of its session. */
import type { WireEvent } from '../detect/call.client.ts';

/** One line of `samples/truth.json`. */
export interface SampleTruth {
  file: string;
  description: string;
  verdict: string;
  durationMs: number;
  /** Where the first words begin; null when nobody speaks. */
  speechStartMs: number | null;
  beep: { endMs: number; frequencyHz: number } | null;
}

/** The end of the tone is told this near to the truth (issue: p95 ≤ 40 ms). */
const BEEP_END_TOLERANCE_MS = 40;
/** Half the distance of the nearest pitches in use. */
const BEEP_PITCH_TOLERANCE_HZ = 5;

/** Every way in which the events differ from the truth; empty when all is right. */
export function faultsOf(truth: SampleTruth, events: readonly WireEvent[]): string[] {
  const last = events.findLast(({ event }) => event === 'detection')?.payload;
  const faults: string[] = [];
  if (last === undefined) faults.push('no verdict');
  else if (last.type !== truth.verdict) faults.push(`${String(last.type)} instead of ${truth.verdict}`);
  else if (last.is_final !== true) faults.push('the verdict is not final');
  faults.push(...earlyFaults(truth.speechStartMs, events));
  const beeps = events.filter(({ event }) => event === 'beep').map(({ payload }) => payload);
  faults.push(...beepFaults(truth.beep, beeps));
  const tail = events.slice(-2).map(({ event }) => event);
  if (tail.join(' ') !== 'close stopped') faults.push('the session did not end with close, stopped');
  return faults;
}

/** Nobody is heard before somebody speaks: ringing and silence are no voice. */
function earlyFaults(speechStartMs: number | null, events: readonly WireEvent[]): string[] {
  return events
    .filter(({ event, payload }) => event === 'detection' && VOICES.has(String(payload.type)))
    .filter(({ payload }) => Number(payload.timestamp_ms) < (speechStartMs ?? Infinity))
    .slice(0, 1)
    .map(({ payload }) => `${String(payload.type)} before anybody spoke`);
}

const VOICES = new Set(['live_person', 'voicemail']);

function beepFaults(truth: SampleTruth['beep'], beeps: readonly WireEvent['payload'][]): string[] {
  if (truth === null) return beeps.length === 0 ? [] : ['a beep where none is'];
  if (beeps.length !== 1)
    return [beeps.length === 0 ? 'the beep was not heard' : `${beeps.length} beeps instead of one`];
  const endErrorMs = Number(beeps[0]!.timestamp_ms) - truth.endMs;
  const pitchErrorHz = Number(beeps[0]!.frequency_hz) - truth.frequencyHz;
  const faults: string[] = [];
  if (!(Math.abs(endErrorMs) <= BEEP_END_TOLERANCE_MS))
    faults.push(`the beep’s end is ${Math.round(endErrorMs)} ms off`);
  if (!(Math.abs(pitchErrorHz) <= BEEP_PITCH_TOLERANCE_HZ))
    faults.push(`the pitch is ${pitchErrorHz.toFixed(1)} Hz off`);
  return faults;
}

/** Events of the socket without a webhook, and webhooks without their event. Empty when they are the same. */
export function webhookFaults(
  events: readonly WireEvent[],
  deliveries: readonly { event: string; data: Record<string, unknown> }[],
): string[] {
  const left = deliveries.map(({ event, data }) => keyOf(event, data.timestamp_ms));
  const missing: string[] = [];
  for (const { event, payload } of events) {
    const at = left.indexOf(keyOf(event, payload.timestamp_ms));
    if (at < 0) missing.push(event);
    else left.splice(at, 1);
  }
  return [
    ...missing.map((event) => `no webhook of ${event}`),
    ...left.map((key) => `a webhook of ${key} without its event`),
  ];
}

const keyOf = (event: string, timestampMs: unknown): string => `${event} at ${String(timestampMs)}`;
