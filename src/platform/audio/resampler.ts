/**
 * Half width of the filter, in periods of the lower of the two rates, and the Kaiser window's beta: 70 dB of stop band
 * over a transition of 720 Hz at 8 kHz (Kaiser's formulas, Oppenheim & Schafer, 7.6).
 */
const HALF_WIDTH = 24;
const BETA = 6.76;
/** The transition ends at half the lower rate, so that nothing folds back: its middle lies this share below. */
const CUTOFF = 0.91;

/**
 * Band-limited resampling from one whole rate to another: a polyphase windowed-sinc filter, whose delay is taken out.
 * Audio may come in blocks of any size; the output does not depend on them.
 */
export class Resampler {
  /** Output sample n lies at n · step / phases input samples. */
  readonly #phases: number;
  readonly #step: number;
  readonly #half: number;
  readonly #scale: number;
  readonly #taps: (Float32Array | undefined)[];
  /** Input from sample `#first` on, zeros before the beginning. */
  #held: Float32Array;
  #first: number;
  #received = 0;
  #made = 0;

  constructor(fromHz: number, toHz: number) {
    const divisor = gcd(fromHz, toHz);
    this.#phases = toHz / divisor;
    this.#step = fromHz / divisor;
    this.#scale = Math.min(1, toHz / fromHz);
    this.#half = Math.ceil(HALF_WIDTH / this.#scale);
    this.#taps = new Array<Float32Array | undefined>(this.#phases);
    this.#first = 1 - this.#half;
    this.#held = new Float32Array(this.#half - 1);
  }

  /** What can be made so far. */
  push(block: Float32Array): Float32Array {
    this.#received += block.length;
    return this.#run(
      block,
      Math.ceil((Math.max(0, this.#received - this.#half) * this.#phases) / this.#step),
    );
  }

  /** The rest: as many samples in all as the input lasts. */
  end(): Float32Array {
    return this.#run(new Float32Array(this.#half), Math.round((this.#received * this.#phases) / this.#step));
  }

  #run(block: Float32Array, until: number): Float32Array {
    const held = new Float32Array(this.#held.length + block.length);
    held.set(this.#held);
    held.set(block, this.#held.length);
    const out = new Float32Array(Math.max(0, until - this.#made));
    for (let n = 0; n < out.length; n += 1) {
      const position = this.#made * this.#step;
      const whole = Math.floor(position / this.#phases);
      const taps = this.#tapsOf(position % this.#phases);
      const from = whole - this.#half + 1 - this.#first;
      let sum = 0;
      for (let k = 0; k < taps.length; k += 1) sum += taps[k]! * held[from + k]!;
      out[n] = sum;
      this.#made += 1;
    }
    const next = Math.floor((this.#made * this.#step) / this.#phases) - this.#half + 1;
    const drop = Math.max(0, Math.min(held.length, next - this.#first));
    this.#held = held.slice(drop);
    this.#first += drop;
    return out;
  }

  /** Taps on input samples `whole - half + 1` to `whole + half` for a phase, their sum 1. */
  #tapsOf(phase: number): Float32Array {
    const known = this.#taps[phase];
    if (known) return known;
    const taps = new Float32Array(2 * this.#half);
    const cutoff = CUTOFF * this.#scale;
    let sum = 0;
    for (let k = 0; k < taps.length; k += 1) {
      const distance = k - this.#half + 1 - phase / this.#phases;
      const edge = 1 - (distance / this.#half) ** 2;
      const value = edge < 0 ? 0 : sinc(cutoff * distance) * bessel(BETA * Math.sqrt(edge));
      taps[k] = value;
      sum += value;
    }
    for (let k = 0; k < taps.length; k += 1) taps[k]! /= sum;
    this.#taps[phase] = taps;
    return taps;
  }
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** Modified Bessel function of the first kind and order 0, by its series. */
function bessel(x: number): number {
  let term = 1;
  let sum = 1;
  for (let n = 1; term > sum * 1e-12; n += 1) {
    term *= (x / (2 * n)) ** 2;
    sum += term;
  }
  return sum;
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
