import { describe, expect, it } from 'vitest';

import { lineNoise, seeded, tone } from '../../samples/signal.ts';
import { standardCase, type Truth } from '../../benchmarks/detection/case.ts';
import { spokenSpans } from '../../benchmarks/detection/cases.people.ts';
import { loneBeep, parseBeeps, parseCsv, speechOf } from '../../benchmarks/detection/corpus.ts';
import {
  activeLevelDbfs,
  amplified,
  carry,
  PLAIN,
  upsampled,
  withLoss,
} from '../../benchmarks/detection/mix.ts';
import type { Heard } from '../../benchmarks/detection/play.ts';
import {
  calibration,
  falseBeepFigures,
  judge,
  matchBeeps,
  quantile,
} from '../../benchmarks/detection/score.ts';

const beepAt = (timestampMs: number, frequencyHz = 1000): Heard => ({
  event: { event: 'beep', timestampMs, frequencyHz, durationMs: 300, confidence: 0.9 },
  atMs: timestampMs + 100,
});
const verdictAt = (atMs: number, type: 'live_person' | 'voicemail', confidence = 0.9): Heard => ({
  event: { event: 'detection', timestampMs: atMs, type, confidence, isFinal: false },
  atMs,
});

function judged(truth: Truth, heard: Heard[]) {
  const item = standardCase({
    id: 'x',
    group: 'recording',
    label: 'x',
    source: 'made',
    truth,
    render: () => new Float32Array(0),
  });
  return judge({ case: item, variant: 'plain', heard, audioMs: 3_600_000 });
}

describe('the truth about recordings', () => {
  it('reads quoted fields of a manifest', () => {
    expect(parseCsv('a,b\n"x, ""y""",2\r\n\n')).toEqual([
      ['a', 'b'],
      ['x, "y"', '2'],
    ]);
  });

  it('reads the beeps in a manifest’s words', () => {
    expect(parseBeeps('speech 1.2-12.3; BEEP 880Hz 12.45-13.05; BEEP 660Hz 20-20.5')).toEqual([
      { frequencyHz: 880, startMs: 12450, endMs: 13050 },
      { frequencyHz: 660, startMs: 20000, endMs: 20500 },
    ]);
  });

  it('finds a lone tone and the speech of a clean recording', () => {
    const line = new Float32Array(16000);
    line.set(tone({ frequenciesHz: [800], durationMs: 500, levelDbfs: -12, rampMs: 2 }), 4000);
    expect(loneBeep(line)).toEqual({ startMs: 500, endMs: 1000 });
    expect(speechOf(line)).toMatchObject({ startMs: 500, endMs: 1000, speechMs: 500 });
  });

  it('starts cuts after a pause and where four fifths are spoken', () => {
    const active = new Uint8Array(500).fill(1, 50, 250).fill(1, 300, 360);
    expect(spokenSpans(active, 1500)).toEqual([500]);
  });
});

describe('lines', () => {
  it('sets the noise the asked-for number of decibels below the sound', () => {
    const sound = lineNoise(seeded(1), 2000, -20);
    const { bytes } = carry(sound, PLAIN, seeded(2));
    expect(bytes).toHaveLength(16000);
    expect(activeLevelDbfs(amplified(sound, -20))).toBeCloseTo(-40, 1);
  });

  it('loses about the asked-for share of 20 ms frames', () => {
    const lost = withLoss(new Float32Array(160 * 1000).fill(0.5), 0.02, seeded(3));
    const frames = Array.from({ length: 1000 }, (_, i) => lost[i * 160]).filter((sample) => sample === 0);
    expect(frames.length).toBeGreaterThan(8);
    expect(frames.length).toBeLessThan(40);
  });

  it('keeps a tone a tone at twice the rate', () => {
    const sound = tone({ frequenciesHz: [1000], durationMs: 100, levelDbfs: -6 });
    const twice = upsampled(sound);
    for (let i = 400; i < 1200; i += 1) {
      expect(twice[i]).toBeCloseTo(0.501 * Math.sin((2 * Math.PI * 1000 * (i + 2)) / 16000), 1);
    }
  });
});

describe('the score', () => {
  it('gives each tone the nearest event and calls the rest false', () => {
    const truths = [
      { startMs: 700, endMs: 1000, frequencyHz: 1001 },
      { startMs: 4700, endMs: 5000 },
    ];
    const { hits, missed, falseBeeps } = matchBeeps(truths, [beepAt(1010), beepAt(1200), beepAt(3000)]);
    expect(hits).toEqual([{ endErrorMs: 10, frequencyErrorHz: 1, delayMs: 110 }]);
    expect(missed).toEqual([truths[1]]);
    expect(falseBeeps.map(({ event }) => event.timestampMs)).toEqual([1200, 3000]);
  });

  it('takes the last word as final and counts time from the start of speech', () => {
    const item = judged({ verdict: 'voicemail', speechStartMs: 500, beeps: [] }, [
      verdictAt(2000, 'live_person'),
      verdictAt(4000, 'voicemail'),
    ]);
    expect(item).toMatchObject({ firstAfterSpeechMs: 1500, final: { type: 'voicemail' } });
  });

  it('counts false beeps only where no tone is', () => {
    const free = judged({ beeps: [] }, [beepAt(100)]);
    const withTone = judged({ beeps: [{ startMs: 0, endMs: 5000 }] }, [beepAt(100)]);
    expect(falseBeepFigures([free, withTone])).toEqual({ count: 1, hours: 1 });
  });

  it('sorts verdicts by the confidence they were given with, a repeated one once', () => {
    const bins = calibration([
      judged({ verdict: 'voicemail', beeps: [] }, [
        verdictAt(1, 'live_person', 0.55),
        verdictAt(2, 'voicemail', 0.95),
        verdictAt(3, 'voicemail', 0.95),
      ]),
    ]);
    expect(bins.at(-1)!.right).toEqual({ hits: 1, of: 1 });
    expect(bins[1]!.right).toEqual({ hits: 0, of: 1 });
  });

  it('answers quantiles by nearest rank', () => {
    expect(quantile([5, 1, 3, 2, 4], 0.5)).toBe(3);
    expect(quantile([5, 1, 3, 2, 4], 1)).toBe(5);
    expect(quantile([], 0.5)).toBeNaN();
  });
});
