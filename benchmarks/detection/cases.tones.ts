/** Tones: record beeps mixed into real greetings, and everything on a line that is no beep and no voice. */
import { cadence, dtmf, samplesIn, seeded, specialInformationTone, tone } from '../../samples/signal.ts';
import { seedOf, standardCase, type Case, type Truth } from './case.ts';
import type { Recording } from './corpus.ts';
import { activeLevelDbfs, call, withNoise } from './mix.ts';

const DURATIONS_MS = [120, 200, 350, 500, 1000, 2000];
const FREQUENCIES_HZ = [400, 500, 660, 744, 850, 1000, 1200, 1336, 1700, 2000];
/** The line stays open after a beep: the machine records. */
const RECORDING_MS = 2_500;

interface BeepCondition {
  name: string;
  levelDbfs: number;
  snrDb?: number;
  thirdHarmonic?: number;
  sweepHz?: number;
  secondHz?: number;
}

const MIX_CONDITIONS: readonly BeepCondition[] = [
  { name: 'clean', levelDbfs: -12 },
  { name: 'SNR 20 dB', levelDbfs: -15, snrDb: 20 },
  { name: '−30 dBFS', levelDbfs: -30 },
];
/** Reported beside the grid, without a target: the weak sides that were known beforehand. */
const HARD_CONDITIONS: readonly BeepCondition[] = [
  { name: 'SNR 10 dB', levelDbfs: -15, snrDb: 10 },
  { name: '−45 dBFS', levelDbfs: -45 },
  { name: 'third harmonic', levelDbfs: -15, thirdHarmonic: 0.3 },
  { name: 'chirp', levelDbfs: -12, sweepHz: 200 },
  { name: 'two tones', levelDbfs: -12, secondHz: 270 },
];

/** The grid: 3 conditions × 6 lengths × 10 pitches × 2 greetings, 360 mixes. */
export function beepMixCases(corpus: readonly Recording[], seed: number): Case[] {
  const greetings = corpus.filter((r) => r.label === 'voicemail_greeting');
  const cases: Case[] = [];
  for (const condition of MIX_CONDITIONS) {
    for (const durationMs of DURATIONS_MS) {
      for (const hz of FREQUENCIES_HZ) {
        for (const n of [1, 2]) cases.push(beepCase(greetings, condition, { durationMs, hz, n, seed }));
      }
    }
  }
  return cases;
}

/** Chirps, two tones, faint and noisy beeps. */
export function hardBeepCases(corpus: readonly Recording[], seed: number): Case[] {
  const greetings = corpus.filter((r) => r.label === 'voicemail_greeting');
  return HARD_CONDITIONS.flatMap((condition) =>
    [200, 350, 600].flatMap((durationMs) =>
      FREQUENCIES_HZ.map((hz) => ({
        ...beepCase(greetings, condition, { durationMs, hz, n: 1, seed }),
        group: 'beep hard' as const,
      })),
    ),
  );
}

function beepCase(
  greetings: readonly Recording[],
  condition: BeepCondition,
  at: { durationMs: number; hz: number; n: number; seed: number },
): Case {
  const id = `beep: ${condition.name}, ${at.durationMs} ms, ${at.hz} Hz, ${at.n}`;
  const random = seeded(seedOf(id, at.seed));
  const greeting = greetings[Math.floor(random() * greetings.length)]!;
  const beforeMs = 200 + Math.floor(random() * 800);
  const gapMs = 60 + Math.floor(random() * 700);
  const offPitchHz = at.hz + (random() - 0.5) * 20;
  const startMs = beforeMs + greeting.samples.length / 8 + gapMs;
  const pitched = condition.sweepHz === undefined && condition.secondHz === undefined;
  return standardCase({
    id: `${id} after ${greeting.file}`,
    group: 'beep mix',
    label: condition.name,
    source: greeting.source,
    truth: {
      verdict: 'voicemail',
      speechStartMs: beforeMs + greeting.speech.startMs,
      beeps: [{ startMs, endMs: startMs + at.durationMs, frequencyHz: pitched ? offPitchHz : undefined }],
    },
    render: (noise) => {
      const beep = tone({
        frequenciesHz: condition.secondHz ? [offPitchHz, offPitchHz + condition.secondHz] : [offPitchHz],
        durationMs: at.durationMs,
        levelDbfs: condition.levelDbfs,
        thirdHarmonic: condition.thirdHarmonic,
        sweepToHz: condition.sweepHz === undefined ? undefined : offPitchHz + condition.sweepHz,
      });
      const parts = [greeting.samples, new Float32Array(samplesIn(gapMs)), beep];
      const whole = call(noise, parts, { beforeMs, afterMs: RECORDING_MS, noiseDbfs: -68 });
      return condition.snrDb === undefined
        ? whole
        : withNoise(whole, activeLevelDbfs(beep) - condition.snrDb, noise);
    },
  });
}

/** The recorded beeps: alone on the line, after a greeting, and where they stand in a whole call. */
export function realBeepCases(corpus: readonly Recording[], seed: number): Case[] {
  const greetings = corpus.filter((r) => r.label === 'voicemail_greeting');
  const lone = corpus.filter((r) => r.label === 'beep');
  const whole = corpus.filter((r) => r.label === 'voicemail_beep');
  const make = (recording: Recording, before: Recording | undefined): Case => {
    const shiftMs = 300 + (before ? before.samples.length / 8 + 400 : 0);
    const lead = before ? [before.samples, new Float32Array(samplesIn(400))] : [];
    return standardCase({
      id: `real beep: ${recording.file}${before ? ` after ${before.file}` : ''}`,
      group: 'real beep',
      label: recording.label,
      source: recording.source,
      truth: {
        verdict: 'voicemail',
        neverLive: true,
        beeps: recording.beeps.map((b) => ({ ...b, startMs: b.startMs + shiftMs, endMs: b.endMs + shiftMs })),
      },
      render: (random) =>
        call(random, [...lead, recording.samples], { beforeMs: 300, afterMs: 3_000, noiseDbfs: -68 }),
    });
  };
  const random = seeded(seedOf('real beeps', seed));
  return [
    ...lone.map((r) => make(r, undefined)),
    ...lone.map((r) => make(r, greetings[Math.floor(random() * greetings.length)])),
    ...whole.map((r) => make(r, undefined)),
  ];
}

/** Greetings with a beep, as a caller meets them: the verdict has to be voicemail, final. */
export function greetingWithBeepCases(corpus: readonly Recording[], seed: number): Case[] {
  const greetings = corpus.filter((r) => r.label === 'voicemail_greeting');
  return greetings.map((greeting, i) => {
    const hz = FREQUENCIES_HZ[i % FREQUENCIES_HZ.length]!;
    const made = beepCase([greeting], MIX_CONDITIONS[0]!, {
      durationMs: 300 + (i % 5) * 100,
      hz,
      n: 3,
      seed,
    });
    return { ...made, id: `greeting with ${made.id}`, group: 'greeting with beep' as const };
  });
}

interface Signal {
  name: string;
  audio: (levelDbfs: number) => Float32Array;
  verdict?: Truth['verdict'];
}

const ring = (frequenciesHz: number[], onOffMs: number[], cycles: number) => (levelDbfs: number) =>
  cadence({ frequenciesHz, levelDbfs }, onOffMs, cycles);

/** Call progress by ITU-T E.180 and its national variants, fax by T.30, keys by Q.23. */
const SIGNALS: readonly Signal[] = [
  { name: 'ringback US', audio: ring([440, 480], [2000, 4000], 5) },
  { name: 'ringback UK', audio: ring([400, 450], [400, 200, 400, 2000], 10) },
  { name: 'ringback EU', audio: ring([425], [1000, 4000], 6) },
  { name: 'ringback FR', audio: ring([440], [1500, 3500], 6) },
  { name: 'busy US', audio: ring([480, 620], [500, 500], 20), verdict: 'unknown' },
  { name: 'busy EU', audio: ring([425], [500, 500], 20), verdict: 'unknown' },
  { name: 'busy UK', audio: ring([400], [375, 375], 24), verdict: 'unknown' },
  { name: 'congestion US', audio: ring([480, 620], [250, 250], 40), verdict: 'unknown' },
  { name: 'dial US', audio: ring([350, 440], [15_000, 0], 1) },
  { name: 'dial EU', audio: ring([425], [15_000, 0], 1) },
  { name: 'call waiting US', audio: ring([440], [300, 9700], 3) },
  { name: 'call waiting UK', audio: ring([400], [100, 2000], 8) },
  { name: 'DTMF', audio: (level) => dtmf('15A9*0#8D2', level, [90, 90]) },
  { name: 'DTMF long', audio: (level) => dtmf('5#', level, [400, 600]) },
  { name: 'SIT', audio: (level) => specialInformationTone(level, [380, 380, 380]), verdict: 'unknown' },
  { name: 'SIT short', audio: (level) => specialInformationTone(level, [274, 274, 380]), verdict: 'unknown' },
  { name: 'fax CNG', audio: ring([1100], [500, 3000], 5), verdict: 'unknown' },
  { name: 'fax CED', audio: ring([2100], [3300, 3000], 1), verdict: 'unknown' },
];

/** Every signal at three levels, then the line. */
export function signalCases(): Case[] {
  return SIGNALS.flatMap((signal) =>
    [-10, -18, -28].map((levelDbfs) =>
      standardCase({
        id: `tone: ${signal.name} at ${levelDbfs} dBFS`,
        group: 'tone',
        label: signal.name.split(' ')[0]!,
        source: 'made',
        truth: { verdict: signal.verdict, neverLive: true, beeps: [] },
        render: (random) =>
          call(random, [signal.audio(levelDbfs)], { beforeMs: 400, afterMs: 4_000, noiseDbfs: -66 }),
      }),
    ),
  );
}

/** Music and dings, in pieces: hold music begins anywhere. */
export function musicCases(corpus: readonly Recording[]): Case[] {
  const pieceMs = 15_000;
  return corpus
    .filter((r) => r.label === 'music')
    .flatMap((r) =>
      Array.from({ length: Math.floor(r.samples.length / 8 / pieceMs) }, (_, i) =>
        standardCase({
          id: `music: ${r.file} from ${i * 15} s`,
          group: 'tone',
          label: 'music',
          source: r.source,
          truth: { neverLive: true, beeps: [] },
          render: (random) =>
            call(random, [r.samples.slice(samplesIn(i * pieceMs), samplesIn((i + 1) * pieceMs))], {
              beforeMs: 200,
              afterMs: 3_000,
              noiseDbfs: -68,
            }),
        }),
      ),
    );
}

/** Ringing, then a person; and a carrier's announcement after its tones. */
export function earlyMediaCases(corpus: readonly Recording[], seed: number): Case[] {
  const rings = SIGNALS.filter((signal) => signal.name.startsWith('ringback'));
  const hellos = corpus.filter((r) => r.label === 'live_hello');
  const spoken = corpus.filter(
    (r) => r.label === 'carrier' && !r.file.includes('sit') && !r.file.includes('SIT'),
  );
  const pause = new Float32Array(samplesIn(400));
  const make = (id: string, r: Recording, audio: Float32Array[], truth: Truth): Case =>
    standardCase({
      id,
      group: 'early media',
      label: r.label,
      source: r.source,
      truth,
      render: (random) => call(random, audio, { beforeMs: 200, afterMs: 8_000, noiseDbfs: -66 }),
    });
  return [
    ...hellos.map((r, i) => {
      const ringing = rings[(i + seed) % rings.length]!.audio(-16);
      const speechStartMs = 200 + ringing.length / 8 + r.speech.startMs;
      const truth: Truth = { verdict: 'live_person', personWaits: true, speechStartMs, beeps: [] };
      return make(`ringback, then ${r.file}`, r, [ringing, r.samples], truth);
    }),
    ...spoken.map((r) => {
      const sit = specialInformationTone(-16, [330, 330, 330]);
      return make(`SIT, then ${r.file}`, r, [sit, pause, r.samples], { verdict: 'unknown', beeps: [] });
    }),
  ];
}
