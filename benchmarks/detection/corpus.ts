/** The labelled recordings (8 kHz mu-law WAV, `manifest.csv`) and the truth about them. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { parseWav } from '../../src/main/cli/detect/wav.parser.ts';
import { SAMPLE_RATE_HZ, decodeMulaw } from '../../samples/signal.ts';

/** A tone that a detector has to hear: times in ms from the start of the audio. */
export interface BeepTruth {
  startMs: number;
  endMs: number;
  frequencyHz?: number;
}

/** One recording with what is known of it. */
export interface Recording {
  file: string;
  /** Folder of the file: recordings of one source sound alike. */
  source: string;
  label: string;
  samples: Float32Array;
  beeps: BeepTruth[];
  speech: SpeechTruth;
}

/** Where a clean recording is loud enough to be speech, by energy alone (an offline look, not the detector's). */
export interface SpeechTruth {
  /** NaN when nothing is loud. */
  startMs: number;
  endMs: number;
  speechMs: number;
  /** One flag per 10 ms. */
  active: Uint8Array;
}

const HOP = SAMPLE_RATE_HZ / 100;

/** Folder of the recordings: `TONEGATE_AUDIO_DIR`, else `../shared/audio/dev` beside the project. */
export function audioDir(env: NodeJS.ProcessEnv, projectDir: string): string {
  return env.TONEGATE_AUDIO_DIR ?? resolve(projectDir, '../shared/audio/dev');
}

/** Reads every recording that the manifest names. Throws when the folder is missing. */
export function loadCorpus(dir: string): Recording[] {
  const [head, ...rows] = parseCsv(readFileSync(join(dir, 'manifest.csv'), 'utf8'));
  const column = (row: string[], name: string): string => row[(head ?? []).indexOf(name)] ?? '';
  return rows.map((row) => {
    const file = column(row, 'file');
    const samples = decodeMulaw(parseWav(readFileSync(join(dir, file))).data);
    const label = column(row, 'label');
    return {
      file,
      source: file.split('/')[0] ?? '',
      label,
      samples,
      beeps: label === 'beep' ? [loneBeep(samples)] : parseBeeps(column(row, 'ground_truth')),
      speech: speechOf(samples),
    };
  });
}

/** Rows of a CSV text (RFC 4180: quoted fields, doubled quotes). Empty lines are left out. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i]!;
    if (quoted && c === '"' && text[i + 1] === '"') {
      field += '"';
      i += 1;
    } else if (c === '"') quoted = !quoted;
    else if (quoted || (c !== ',' && c !== '\n' && c !== '\r')) field += c;
    else if (c !== '\r') {
      row.push(field);
      field = '';
      if (c === '\n') {
        if (row.some((value) => value !== '')) rows.push(row);
        row = [];
      }
    }
  }
  row.push(field);
  if (row.some((value) => value !== '')) rows.push(row);
  return rows;
}

/** Beeps in a manifest's words: `BEEP 880Hz 12.45-13.05` (seconds). */
export function parseBeeps(groundTruth: string): BeepTruth[] {
  return [...groundTruth.matchAll(/BEEP (\d+(?:\.\d+)?)Hz (\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)/g)].map((m) => ({
    frequencyHz: Number(m[1]),
    startMs: Number(m[2]) * 1000,
    endMs: Number(m[3]) * 1000,
  }));
}

/** Times of the one tone in a recording of nothing else: the span within 12 dB of its loudest 5 ms. */
export function loneBeep(samples: Float32Array): BeepTruth {
  const hop = SAMPLE_RATE_HZ / 200;
  const levels = hopEnergies(samples, hop);
  const gate = Math.max(...levels) / 16;
  const first = levels.findIndex((level) => level >= gate);
  const last = levels.findLastIndex((level) => level >= gate);
  return { startMs: first * 5, endMs: (last + 1) * 5 };
}

/** Speech of a clean recording: louder than −45 dBFS and within 26 dB of its loud parts, gaps under 200 ms closed. */
export function speechOf(samples: Float32Array): SpeechTruth {
  const energies = hopEnergies(samples, HOP);
  const loud = [...energies].sort((a, b) => a - b)[Math.floor(energies.length * 0.95)] ?? 0;
  const gate = Math.max(10 ** (-45 / 10), loud * 10 ** (-26 / 10));
  const active = Uint8Array.from(energies, (energy) => (energy >= gate ? 1 : 0));
  closeGaps(active, 20);
  const first = active.indexOf(1);
  const last = active.lastIndexOf(1);
  return {
    startMs: first < 0 ? Number.NaN : first * 10,
    endMs: first < 0 ? Number.NaN : (last + 1) * 10,
    speechMs: active.reduce((sum, flag) => sum + flag, 0) * 10,
    active,
  };
}

function closeGaps(active: Uint8Array, hops: number): void {
  let last = -1;
  for (let i = 0; i < active.length; i += 1) {
    if (active[i] !== 1) continue;
    if (last >= 0 && i - last > 1 && i - last <= hops) active.fill(1, last + 1, i);
    last = i;
  }
}

function hopEnergies(samples: Float32Array, hop: number): Float64Array {
  const energies = new Float64Array(Math.floor(samples.length / hop));
  for (let i = 0; i < energies.length; i += 1) {
    let sum = 0;
    for (let j = i * hop; j < (i + 1) * hop; j += 1) sum += samples[j]! ** 2;
    energies[i] = sum / hop;
  }
  return energies;
}
