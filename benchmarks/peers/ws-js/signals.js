/** Call progress, fax, keys and special information tones by frequency and length. */

const ROWS_HZ = [697, 770, 852, 941];
const COLUMNS_HZ = [1209, 1336, 1477, 1633];
const KEYS = ['123A', '456B', '789C', '*0#D'];
const SIT_HZ = [
  [913.8, 985.2],
  [1370.6, 1428.5],
  [1776.7, 1776.7],
];
const TOLERANCE = 0.018;
const PURITY = 0.75;
const MISSED_HOPS = 5;
const LOOK_HOPS = 4;
const FULL_HOPS = 7;

const LINES_HZ = [350, 400, 425, 440, 450, 480, 620];
const PAIRS = [
  ['ring', 440, 480],
  ['ring', 400, 450],
  ['busy', 480, 620],
  ['dial', 350, 440],
];

export const LONG = 640;
const WINDOW = Float64Array.from(
  { length: LONG },
  (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (n + 0.5)) / LONG),
);

const near = (hz, line) => Math.abs(hz / line - 1) <= TOLERANCE;

/** Power of one line in the windowed samples (Goertzel), as a share of all. */
function lineShare(samples, hz, energy) {
  const turn = 2 * Math.cos((2 * Math.PI * hz) / 8000);
  let newer = 0;
  let older = 0;
  for (let i = 0; i < LONG; i += 1) {
    const next = samples[i] * WINDOW[i] + turn * newer - older;
    older = newer;
    newer = next;
  }
  return (newer * newer + older * older - turn * newer * older) / ((energy * LONG) / 3);
}

/** A tone or pair below 650 Hz through a window that parts 440 from 480 Hz. */
function lowTone(samples) {
  let energy = 1e-12;
  for (let i = 0; i < LONG; i += 1) energy += (samples[i] * WINDOW[i]) ** 2;
  const shares = new Map(LINES_HZ.map((hz) => [hz, lineShare(samples, hz, energy)]));
  for (const [name, low, high] of PAIRS) {
    const [a, b] = [shares.get(low), shares.get(high)];
    if (Math.min(a, b) >= 0.1 && a + b >= 0.6) return name;
  }
  if (shares.get(425) >= 0.85) return '425';
  return shares.get(440) >= 0.85 ? '440' : null;
}

function keyOf({ frequencyHz, secondHz }) {
  const [low, high] = [Math.min(frequencyHz, secondHz), Math.max(frequencyHz, secondHz)];
  const row = ROWS_HZ.findIndex((hz) => near(low, hz));
  const column = COLUMNS_HZ.findIndex((hz) => near(high, hz));
  return row < 0 || column < 0 ? null : `key ${KEYS[row][column]}`;
}

function singleOf({ frequencyHz }) {
  const sit = SIT_HZ.findIndex((variants) => variants.some((hz) => near(frequencyHz, hz)));
  if (near(frequencyHz, 1100)) return 'cng';
  if (near(frequencyHz, 2100)) return 'ced';
  return sit < 0 ? null : `sit ${sit}`;
}

/** Follows runs of one class; `push` answers the verdict's reason when a signal decides the call. */
export class Signals {
  #run = null;
  #lowHops = 0;
  #lowClass = null;
  #sitHeard = 0;
  #busyRuns = 0;

  /** True while the hop belongs to a recognised pair or sequence. */
  active = false;

  push(hop, peaks, recent) {
    const name = this.#classify(peaks, recent);
    let reason = null;
    if (this.#run && name === this.#run.name) {
      this.#run.last = hop;
      this.#run.hops += 1;
    } else if (this.#run && (hop - this.#run.last > MISSED_HOPS || name !== null)) {
      reason = this.#end(this.#run);
      this.#run = null;
    }
    if (!this.#run && name !== null) this.#run = { name, first: hop, last: hop, hops: 1 };
    if (this.#run?.name === 'ced' && this.#run.hops === 100) reason = 'fax';
    const running = this.#run !== null && this.#run.last === hop && this.#run.hops >= 3;
    // A beep may have the pitch of the first special information tone: only the second makes a sequence.
    const first = this.#run?.name === 'sit 0';
    this.active = (running && !first) || this.#lowHops >= 3;
    return reason;
  }

  #classify(peaks, recent) {
    const low = (hz) => hz >= 330 && hz < 650;
    if (peaks.purity >= PURITY && low(peaks.frequencyHz) && (peaks.secondHz === 0 || low(peaks.secondHz))) {
      this.#lowHops += 1;
      if (this.#lowHops >= FULL_HOPS && (this.#lowHops - FULL_HOPS) % LOOK_HOPS === 0)
        this.#lowClass = lowTone(recent);
      return this.#lowClass;
    }
    this.#lowHops = 0;
    this.#lowClass = null;
    if (peaks.purity < PURITY) return null;
    return peaks.secondHz === 0 ? singleOf(peaks) : keyOf(peaks);
  }

  #end(run) {
    if (run.name.startsWith('sit')) {
      const place = Number(run.name.at(-1));
      this.#sitHeard = run.hops >= 9 && place === this.#sitHeard ? place + 1 : 0;
      return this.#sitHeard === 3 ? 'carrier_announcement' : null;
    }
    if (run.name === 'cng' && run.hops >= 38 && run.hops <= 62) return 'fax';
    this.#busyRuns = run.name === 'busy' && run.hops >= 12 ? this.#busyRuns + 1 : this.#busyRuns;
    return this.#busyRuns >= 3 ? 'busy' : null;
  }
}
