/**
 * `npx tsx samples/render.ts`: renders the recorded calls of the demo, and `truth.json` beside them. Voices by
 * espeak-ng (Debian package `espeak-ng`, needed only here: the WAV files are checked in), tones and line noise by
 * signal.ts. 8 kHz mu-law, the same bytes on every run of one espeak-ng version.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

import { wavOf } from './wav.ts';
import {
  SAMPLE_RATE_HZ,
  amplitudeOf,
  cadence,
  concat,
  encodeMulaw,
  lineNoise,
  samplesIn,
  seeded,
  specialInformationTone,
  tone,
} from './signal.ts';

const DIR = fileURLToPath(new URL('.', import.meta.url));
/** Idle noise of a quiet line. */
const LINE_NOISE_DBFS = -64;
/** Peak of the rendered voices: telephone speech is seldom louder. */
const VOICE_PEAK_DBFS = -8;
const TONE_DBFS = -14;

/** A stretch of the call; a beep is remembered with its place. */
type Part =
  | { pauseMs: number }
  | { say: string; voice: string }
  | { beepHz: number; ms: number }
  | { tones: Float32Array };

interface Sample {
  file: string;
  label: string;
  /** The verdict that is right at the end of the call. */
  verdict: 'live_person' | 'voicemail' | 'silence' | 'unknown';
  description: string;
  parts: Part[];
}

const WOMAN = 'en-us+f3';
const MAN = 'en-gb+m3';
const pause = (pauseMs: number): Part => ({ pauseMs });

const SAMPLES: readonly Sample[] = [
  {
    file: 'live-hello.wav',
    label: 'live_hello',
    verdict: 'live_person',
    description: 'a person says hello and waits',
    parts: [pause(700), { say: 'Hello?', voice: WOMAN }, pause(5500)],
  },
  {
    file: 'live-longer-answer.wav',
    label: 'live_answer',
    verdict: 'live_person',
    description: 'a person answers with a sentence and waits',
    parts: [pause(500), { say: 'Good morning, who is calling?', voice: MAN }, pause(7000)],
  },
  {
    file: 'voicemail-beep.wav',
    label: 'voicemail_beep',
    verdict: 'voicemail',
    description: 'a short greeting, then the record beep',
    parts: [
      pause(400),
      { say: 'Hi, I cannot take your call right now.', voice: WOMAN },
      pause(350),
      { say: 'Please leave a message after the tone.', voice: WOMAN },
      pause(500),
      { beepHz: 1000, ms: 400 },
      pause(2000),
    ],
  },
  {
    file: 'voicemail-long-greeting.wav',
    label: 'voicemail_beep',
    verdict: 'voicemail',
    description: 'a long greeting in three sentences, then a lower, longer beep',
    parts: [
      pause(600),
      {
        say: 'You have reached our office. Nobody is available to answer your call at the moment.',
        voice: MAN,
      },
      pause(500),
      { say: 'Our opening hours are nine to five, from Monday to Friday.', voice: MAN },
      pause(400),
      { say: 'Leave your name and number at the tone.', voice: MAN },
      pause(700),
      { beepHz: 660, ms: 650 },
      pause(1800),
    ],
  },
  {
    file: 'silence.wav',
    label: 'silence',
    verdict: 'silence',
    description: 'the call is answered and nobody speaks',
    parts: [pause(6500)],
  },
  {
    file: 'ringback-then-hello.wav',
    label: 'live_hello',
    verdict: 'live_person',
    description: 'ringing is heard before the answer, then a person says hello',
    parts: [
      pause(200),
      { tones: cadence({ frequenciesHz: [440, 480], levelDbfs: TONE_DBFS }, [2000, 1200], 1) },
      { say: 'Yes, hello?', voice: MAN },
      pause(5500),
    ],
  },
  {
    file: 'carrier-not-in-service.wav',
    label: 'carrier_announcement',
    verdict: 'unknown',
    description: 'special information tone, then the announcement that the number is not in service',
    parts: [
      pause(300),
      { tones: specialInformationTone(TONE_DBFS, [380, 276, 380]) },
      pause(350),
      { say: 'We are sorry. The number you have dialed is not in service.', voice: WOMAN },
      pause(1500),
    ],
  },
];

/** The words spoken, at 8 kHz, silence at both ends cut off. */
function speak(say: string, voice: string): Float32Array {
  const wav = execFileSync('espeak-ng', ['-v', voice, '-s', '165', '--stdout', say], { maxBuffer: 2 ** 24 });
  const rateHz = wav.readUInt32LE(24);
  const data = wav.subarray(44);
  const linear = Float32Array.from({ length: data.length >> 1 }, (_, i) => data.readInt16LE(i * 2) / 32768);
  const peak = linear.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);
  const gain = amplitudeOf(VOICE_PEAK_DBFS) / Math.max(peak, 1e-6);
  return trimmed(resampled(linear, rateHz)).map((sample) => sample * gain);
}

/** To 8 kHz through a windowed-sinc low-pass at 3.4 kHz, the telephone's upper edge. */
function resampled(samples: Float32Array, rateHz: number): Float32Array {
  const step = rateHz / SAMPLE_RATE_HZ;
  const cutoff = 3400 / rateHz;
  const half = 48;
  return Float32Array.from({ length: Math.floor(samples.length / step) }, (_, i) => {
    const centre = i * step;
    let sum = 0;
    for (let k = Math.ceil(centre - half); k <= centre + half; k += 1) {
      const x = k - centre;
      const angle = 2 * Math.PI * cutoff * x;
      const sinc = x === 0 ? 2 * cutoff : (2 * cutoff * Math.sin(angle)) / angle;
      sum += (samples[k] ?? 0) * sinc * (0.5 + 0.5 * Math.cos((Math.PI * x) / half));
    }
    return sum;
  });
}

function trimmed(samples: Float32Array): Float32Array {
  const loud = (sample: number): boolean => Math.abs(sample) > 0.003;
  return samples.slice(Math.max(0, samples.findIndex(loud)), samples.findLastIndex(loud) + 1);
}

interface Rendered {
  bytes: Uint8Array;
  beep: object | null;
  /** Where the first words begin; null when nobody speaks. */
  speechStartMs: number | null;
  durationMs: number;
}

function render(sample: Sample): Rendered {
  const audio: Float32Array[] = [];
  let beep: object | null = null;
  let speechStartMs: number | null = null;
  let atMs = 0;
  for (const part of sample.parts) {
    let piece: Float32Array;
    if ('pauseMs' in part) piece = new Float32Array(samplesIn(part.pauseMs));
    else if ('say' in part) piece = speak(part.say, part.voice);
    else if ('tones' in part) piece = part.tones;
    else piece = tone({ frequenciesHz: [part.beepHz], durationMs: part.ms, levelDbfs: TONE_DBFS });
    if ('say' in part) speechStartMs ??= Math.round(atMs);
    audio.push(piece);
    atMs += piece.length / (SAMPLE_RATE_HZ / 1000);
    if ('beepHz' in part)
      beep = { end_ms: Math.round(atMs), frequency_hz: part.beepHz, duration_ms: part.ms };
  }
  const line = concat(audio);
  const noise = lineNoise(seeded(line.length), atMs, LINE_NOISE_DBFS);
  return {
    bytes: encodeMulaw(line.map((value, i) => value + (noise[i] ?? 0))),
    beep,
    speechStartMs,
    durationMs: Math.round(atMs),
  };
}

const truth = SAMPLES.map((sample) => {
  const { bytes, beep, speechStartMs, durationMs } = render(sample);
  writeFileSync(join(DIR, sample.file), wavOf(bytes, { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 }));
  const { file, label, verdict, description } = sample;
  console.log(`${file} ${(durationMs / 1000).toFixed(1)} s`);
  const times = { duration_ms: durationMs, speech_start_ms: speechStartMs };
  return { file, label, verdict, description, ...times, beep };
});
writeFileSync(join(DIR, 'truth.json'), `${JSON.stringify({ samples: truth }, null, 2)}\n`);
