/** People who answer, greetings, silence, and the recordings as they are. */
import { seeded } from '../../samples/signal.ts';
import { seedOf, standardCase, type Case, type Truth, type VerdictType } from './case.ts';
import type { Recording } from './corpus.ts';
import { call, cut } from './mix.ts';

/** How long a person waits for the caller after the answer. */
const WAIT_MS = 10_000;
/** Answers cut from live calls and speech, of each length. */
const CUTS_PER_LENGTH = 120;
/** Most cuts from one recording, so that no single voice decides the figure. */
const CUTS_PER_RECORDING_MAX = 12;
/** A greeting proper has this much speech (issue: "a beep, or 4 s and more of speech"). */
const GREETING_SPEECH_MS = 4_000;

/** Every recording as it is: half a second of line before, then the file, then the line stays open. */
export function recordingCases(corpus: readonly Recording[]): Case[] {
  return corpus.map((recording) =>
    standardCase({
      id: recording.file,
      group: 'recording',
      label: recording.label,
      source: recording.source,
      truth: recordingTruth(recording),
      render: (random) =>
        call(random, [recording.samples], { beforeMs: 500, afterMs: WAIT_MS, noiseDbfs: -65 }),
    }),
  );
}

const VERDICT_OF_LABEL: Readonly<Record<string, VerdictType>> = {
  live_hello: 'live_person',
  live_call: 'live_person',
  speech_short: 'live_person',
  voicemail_beep: 'voicemail',
  beep: 'voicemail',
};
const NEVER_LIVE = new Set(['music', 'ding', 'dtmf', 'noise', 'beep', 'voicemail_beep']);
const SPEAKS = new Set([
  'live_hello',
  'live_call',
  'speech_short',
  'speech',
  'voicemail_greeting',
  'ivr',
  'screening',
]);

function recordingTruth(recording: Recording): Truth {
  const { label, speech, beeps } = recording;
  const hasSit = label === 'carrier' && /sit\b/i.test(recording.file);
  const longGreeting = label === 'voicemail_greeting' && speech.speechMs >= GREETING_SPEECH_MS;
  return {
    verdict: longGreeting ? 'voicemail' : hasSit ? 'unknown' : VERDICT_OF_LABEL[label],
    neverLive: NEVER_LIVE.has(label),
    personWaits: label === 'live_hello' || label === 'speech_short',
    speechStartMs: SPEAKS.has(label) ? 500 + speech.startMs : undefined,
    beeps: beeps.map((beep) => ({ ...beep, startMs: beep.startMs + 500, endMs: beep.endMs + 500 })),
  };
}

/** One word or a short sentence, then waiting. */
export function shortAnswerCases(corpus: readonly Recording[], seed: number): Case[] {
  const answers = corpus.filter((r) => r.label === 'speech_short' || r.label === 'live_hello');
  return answers.map((r) => answerCase(r, 'short answer', [r.speech.startMs, r.speech.endMs], seed));
}

/** Answers of a given length of speech, cut where someone begins to speak and goes on without a long pause. */
export function cutAnswerCases(corpus: readonly Recording[], lengthMs: 1500 | 2500, seed: number): Case[] {
  const sources = corpus.filter((r) => r.label === 'live_call' || r.label === 'speech');
  const random = seeded(seedOf(`cuts ${lengthMs}`, seed));
  const found = sources.flatMap((r) =>
    shuffled(spokenSpans(r.speech.active, lengthMs), random)
      .slice(0, CUTS_PER_RECORDING_MAX)
      .map((startMs) => ({ r, startMs })),
  );
  const group = lengthMs === 1500 ? '1.5 s answer' : '2.5 s answer';
  return shuffled(found, random)
    .slice(0, CUTS_PER_LENGTH)
    .map(({ r, startMs }) => answerCase(r, group, [startMs, startMs + lengthMs], seed));
}

function answerCase(
  r: Recording,
  group: Case['group'],
  [startMs, endMs]: [number, number],
  seed: number,
): Case {
  const id = `${group}: ${r.file} @${startMs}`;
  const beforeMs = 300 + Math.floor(seeded(seedOf(id, seed))() * 1200);
  return standardCase({
    id,
    group,
    label: r.label,
    source: r.source,
    truth: { verdict: 'live_person', personWaits: true, speechStartMs: beforeMs, beeps: [] },
    render: (random) =>
      call(random, [cut(r.samples, startMs, endMs)], {
        beforeMs,
        afterMs: WAIT_MS,
        noiseDbfs: -68 + random() * 14,
      }),
  });
}

/** Starts (ms) of spans that begin with speech after a pause of 200 ms and are speech for four fifths at least. */
export function spokenSpans(active: Uint8Array, lengthMs: number): number[] {
  const hops = lengthMs / 10;
  const starts: number[] = [];
  for (let i = 0; i + hops <= active.length; i += 1) {
    const begins = active[i] === 1 && !active.subarray(Math.max(0, i - 20), i).includes(1);
    if (!begins) continue;
    const spoken = active.subarray(i, i + hops).reduce((sum, flag) => sum + flag, 0);
    const endsSpoken = active.subarray(i + hops - 20, i + hops).includes(1);
    if (spoken >= hops * 0.8 && endsSpoken) starts.push(i * 10);
  }
  return starts;
}

/** Greetings with 4 s of speech and no beep, as one recording or as the sentences a voicemail system joins. */
export function greetingCases(corpus: readonly Recording[], seed: number): Case[] {
  return longGreetings(corpus).map(({ id, source, parts, startMs }) =>
    standardCase({
      id: `greeting: ${id}`,
      group: 'greeting',
      label: 'voicemail_greeting',
      source,
      truth: { verdict: 'voicemail', neverLive: false, speechStartMs: startMs + leadMs(id, seed), beeps: [] },
      render: (random) =>
        call(random, parts, { beforeMs: leadMs(id, seed), afterMs: WAIT_MS, noiseDbfs: -68 + random() * 14 }),
    }),
  );
}

const leadMs = (id: string, seed: number): number => 300 + Math.floor(seeded(seedOf(id, seed))() * 1200);

/** Greetings of 4 s and more of speech: parts to play one after another, and where speech begins in them. */
export function longGreetings(
  corpus: readonly Recording[],
): { id: string; source: string; parts: Float32Array[]; startMs: number }[] {
  const greetings = corpus.filter((r) => r.label === 'voicemail_greeting');
  const whole = greetings
    .filter((r) => r.speech.speechMs >= GREETING_SPEECH_MS)
    .map((r) => ({ id: r.file, source: r.source, parts: [r.samples], startMs: r.speech.startMs }));
  const short = greetings.filter((r) => r.speech.speechMs < GREETING_SPEECH_MS);
  const joined = [];
  for (let i = 0; i < short.length; i += 1) {
    const first = short[i]!;
    const parts = [first];
    // Sentences of one voice: files of one folder and name prefix stand together in the manifest.
    for (let j = 1; j < short.length && spoken(parts) < GREETING_SPEECH_MS; j += 1) {
      const next = short[(i + j) % short.length]!;
      if (voiceOf(next) === voiceOf(first)) parts.push(next);
    }
    if (spoken(parts) < GREETING_SPEECH_MS) continue;
    const id = parts.map((r) => r.file).join(' + ');
    joined.push({
      id,
      source: first.source,
      parts: parts.map((r) => r.samples),
      startMs: first.speech.startMs,
    });
  }
  return [...whole, ...joined];
}

const spoken = (parts: readonly Recording[]): number => parts.reduce((sum, r) => sum + r.speech.speechMs, 0);
const voiceOf = (r: Recording): string =>
  (/^.*\/[a-z]{2}_[A-Z]{2}_[fm]_[A-Za-z]+/.exec(r.file) ?? [r.source])[0];

/** Nobody speaks: lines from digital zero to a noisy room's hum. */
export function silenceCases(seed: number): Case[] {
  const levelsDbfs = [-100, -80, -72, -66, -60, -55, -50, -46];
  return levelsDbfs.flatMap((noiseDbfs) =>
    [1, 2, 3].map((n) =>
      standardCase({
        id: `silence: line noise ${noiseDbfs} dBFS, ${n} (${seed})`,
        group: 'silence',
        label: 'silence',
        source: 'made',
        truth: { verdict: 'silence', neverLive: true, beeps: [] },
        render: (random) => call(random, [], { beforeMs: 0, afterMs: 8_000 + n * 4_000, noiseDbfs }),
      }),
    ),
  );
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const out = [...items];
  for (let i = out.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}
