/** Voice activity: level above the noise band by band; no steady noise, no held notes, no tones. */

const EDGES = [7, 13, 20, 29, 42, 58, 80, 110];
const BANDS = EDGES.length - 1;
const BLOCK_HOPS = 20;
const BLOCKS = 10;
const BIAS = 3.2;
/** Floors per bin, on the scale where a full-scale sine is 4,096. */
const FLOOR_MIN = 1.2e-8 * 4 * 4096;
const FLOOR_START = 3e-7 * 4 * 4096;
const ABOVE_FLOOR_DB = 9;
const LEVEL_MIN_DBFS = -58;
const STEADY_HOPS = 16;
const STEADY_RANGE_DB = 5;
const NOISE_FLATNESS = 0.6;
const NOTE_HOPS = 15;
/** Bin of 1,500 Hz, and how much more power a vowel has below it. */
const VOWEL_EDGE = 48;
const VOWEL_RATIO = 2;

const db = (value) => 10 * Math.log10(value + 1e-12);

export class Voice {
  #smoothed = new Float64Array(BANDS);
  #block = new Float64Array(BANDS).fill(Infinity);
  #blocks = [new Float64Array(BANDS).fill(FLOOR_START / BIAS)];
  #hops = 0;
  #levels = [];
  #held = new Uint8Array(129);
  #quick = 0;
  #slow = 0;
  #music = false;
  #heldNotes = 0;

  /** What one hop is: voiced, how loud, and whether it sounds like a vowel, holds notes or is one pure tone. */
  push(power, energy, tonal, pure) {
    const aboveDb = this.#aboveFloorDb(power);
    const levelDbfs = db(energy);
    this.#levels.push(levelDbfs);
    if (this.#levels.length > STEADY_HOPS) this.#levels.shift();
    const sounding = aboveDb > ABOVE_FLOOR_DB && levelDbfs > LEVEL_MIN_DBFS;
    const noise = sounding && this.#isNoise(power);
    const music = this.#isMusic(power, sounding && !noise);
    const voiced = sounding && !noise && !music && !tonal;
    return { voiced, levelDbfs, vowel: voiced && this.#isVowel(power), notes: this.#heldNotes >= 2, pure };
  }

  /** The first formants lie below 1,500 Hz. */
  #isVowel(power) {
    let low = 0;
    let high = 0;
    for (let i = EDGES[0]; i < VOWEL_EDGE; i += 1) low += power[i];
    for (let i = VOWEL_EDGE; i < EDGES[BANDS]; i += 1) high += power[i];
    return low > VOWEL_RATIO * high;
  }

  #aboveFloorDb(power) {
    for (let band = 0; band < BANDS; band += 1) {
      let sum = 0;
      for (let i = EDGES[band]; i < EDGES[band + 1]; i += 1) sum += power[i];
      const mean = sum / (EDGES[band + 1] - EDGES[band]);
      this.#smoothed[band] += 0.5 * (mean - this.#smoothed[band]);
      this.#block[band] = Math.min(this.#block[band], this.#smoothed[band]);
    }
    this.#hops += 1;
    if (this.#hops % BLOCK_HOPS === 0) {
      this.#blocks.push(this.#block);
      if (this.#blocks.length > BLOCKS) this.#blocks.shift();
      this.#block = new Float64Array(BANDS).fill(Infinity);
    }
    const ratios = [];
    for (let band = 0; band < BANDS; band += 1) {
      const least = Math.min(...this.#blocks.map((block) => block[band]));
      ratios.push(this.#smoothed[band] / Math.max(FLOOR_MIN, BIAS * least));
    }
    const [a, b, c] = ratios.sort((x, y) => y - x);
    return db((a + b + c) / 3);
  }

  #isNoise(power) {
    if (Math.max(...this.#levels) - Math.min(...this.#levels) > STEADY_RANGE_DB) return false;
    let flatness = 0;
    for (let from = 8; from < 104; from += 24) {
      let roots = 0;
      let total = 1e-20;
      for (let i = from; i < from + 24; i += 1) {
        roots += Math.sqrt(power[i]);
        total += power[i];
      }
      flatness += (roots * roots) / (24 * total) / 4;
    }
    return flatness >= NOISE_FLATNESS;
  }

  #isMusic(power, sounding) {
    if (!sounding) {
      this.#held.fill(0);
      this.#heldNotes = 0;
      this.#quick *= 0.9965;
      this.#slow *= 0.9965;
    } else {
      this.#heldNotes = this.#notes(power);
      const musical = this.#heldNotes >= 2 ? 1 : 0;
      this.#quick += 0.01 * (musical - this.#quick);
      this.#slow += 0.0025 * (musical - this.#slow);
    }
    this.#music = this.#music
      ? this.#quick >= 0.1 || this.#slow >= 0.1
      : this.#quick > 0.26 || this.#slow > 0.15;
    return this.#music;
  }

  get heardMusic() {
    return this.#music;
  }

  /** Peaks that have stayed in their bin for 150 ms. */
  #notes(power) {
    let notes = 0;
    for (let i = 5; i < 110; i += 1) {
      const here = power[i];
      const stands = here > 2 * (power[i - 3] + power[i + 3]) && here > 0.002;
      const peak = here > power[i - 1] && here >= power[i + 1];
      const stays = this.#held[i] > 0 && here > power[i - 2] && here > power[i + 2];
      this.#held[i] = stands && (peak || stays) ? Math.min(255, this.#held[i] + 1) : 0;
      if (this.#held[i] >= NOTE_HOPS) notes += 1;
    }
    return notes;
  }
}
