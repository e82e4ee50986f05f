/**
 * The same rules as the native detector, in short and in plain JavaScript: mu-law by table, energy against an
 * adapting floor, a tone track on a 256-point FFT each 10 ms whose proof is the tone's end, and timing verdicts.
 */
import { powerSpectrum, SIZE } from './fft.js';

const RATE_HZ = 8000;
const HOP = 80;
const HOP_MS = 10;
const BIN_HZ = RATE_HZ / SIZE;

/** A tone explains this share of the energy, and its pitch stays within 0.9 %. */
const PURITY_MIN = 0.8;
const SPREAD_MAX = 0.009;
const TONE_HOPS_MIN = 8;
/** The level falls this much at the end of a beep. */
const FALL_MIN = 10 ** (6.5 / 10);
const END_HOPS_MAX = 11;

const SPEECH_ABOVE_FLOOR = 10 ** (9 / 10);
const SPEECH_POWER_MIN = 10 ** (-48 / 10);
const HANGOVER_HOPS = 20;

const SHORT_ANSWER_SILENCE_MS = 800;
const LONG_SPEECH_MS = 1700;
const NOBODY_MS = 4000;

const MULAW = Float64Array.from({ length: 256 }, (_, byte) => {
  const bits = ~byte & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 7)) - 0x84;
  return (bits & 0x80 ? -magnitude : magnitude) / 32768;
});

/** One call. */
export class Detector {
  #options;
  #recent = new Float64Array(SIZE);
  #hop = new Float64Array(HOP);
  #filled = 0;
  #hops = 0;
  #power = new Float64Array(SIZE / 2 + 1);
  #floor = 1e-6;
  #hangover = 0;
  #speaking = false;
  #speechMs = 0;
  #silenceMs = 0;
  #tone = null;
  #verdict = null;
  #final = false;
  #events = [];

  constructor(options) {
    this.#options = options;
  }

  push(_nowMs, bytes) {
    if (this.#options.encoding === 'mulaw') {
      for (let i = 0; i < bytes.length; i += 1) this.#sample(MULAW[bytes[i]]);
    } else {
      for (let i = 0; i + 1 < bytes.length; i += 2)
        this.#sample((((bytes[i + 1] << 24) >> 16) | bytes[i]) / 32768);
    }
    return this.#drain();
  }

  tick() {
    return this.#drain();
  }

  stop() {
    this.#finish();
    return this.#drain();
  }

  close() {
    this.#events = [];
  }

  #drain() {
    if (this.#events.length === 0) return null;
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #sample(value) {
    this.#hop[this.#filled] = value;
    this.#filled += 1;
    if (this.#filled < HOP) return;
    this.#filled = 0;
    this.#recent.copyWithin(0, HOP);
    this.#recent.set(this.#hop, SIZE - HOP);
    this.#hops += 1;
    this.#frame();
  }

  #frame() {
    let energy = 0;
    for (let i = 0; i < HOP; i += 1) energy += this.#hop[i] * this.#hop[i];
    energy /= HOP;
    powerSpectrum(this.#recent, this.#power);
    const peak = this.#peak();
    this.#trackTone(peak, energy);
    this.#trackSpeech(peak, energy);
    this.#decide();
  }

  /** The strongest tone of the frame: its pitch by parabolic interpolation on log power, its share of the whole. */
  #peak() {
    const power = this.#power;
    let total = 1e-12;
    let best = 2;
    for (let i = 1; i < power.length - 1; i += 1) {
      total += power[i];
      if (power[i] > power[best]) best = i;
    }
    const around =
      power[best - 1] + power[best] + power[best + 1] + (power[best - 2] ?? 0) + (power[best + 2] ?? 0);
    const left = Math.log(power[best - 1] + 1e-12);
    const middle = Math.log(power[best] + 1e-12);
    const right = Math.log(power[best + 1] + 1e-12);
    const bend = left - 2 * middle + right;
    const offset = bend === 0 ? 0 : (0.5 * (left - right)) / bend;
    return { frequencyHz: (best + offset) * BIN_HZ, purity: around / total };
  }

  #trackTone(peak, energy) {
    const tone = this.#tone;
    const tonal = peak.purity >= PURITY_MIN && energy > this.#floor * FALL_MIN && peak.frequencyHz > 350;
    if (
      tonal &&
      tone &&
      tone.quietHops === 0 &&
      Math.abs(peak.frequencyHz / tone.frequencyHz - 1) <= SPREAD_MAX
    ) {
      tone.hops += 1;
      tone.frequencyHz += (peak.frequencyHz - tone.frequencyHz) / tone.hops;
      tone.energy = Math.max(tone.energy, energy);
      return;
    }
    if (tone && energy * FALL_MIN < tone.energy) {
      tone.quietHops += 1;
      if (tone.hops >= TONE_HOPS_MIN && tone.quietHops === END_HOPS_MAX) this.#beep(tone);
      if (tone.quietHops >= END_HOPS_MAX) this.#tone = null;
      return;
    }
    this.#tone = tonal ? { frequencyHz: peak.frequencyHz, hops: 1, energy, quietHops: 0 } : null;
  }

  #beep(tone) {
    const endMs = (this.#hops - tone.quietHops) * HOP_MS;
    this.#events.push({
      event: 'beep',
      timestampMs: endMs,
      frequencyHz: tone.frequencyHz,
      durationMs: tone.hops * HOP_MS,
      confidence: 0.9,
      isFinal: true,
    });
    this.#say('voicemail', 'tone', 0.98, true);
  }

  #trackSpeech(peak, energy) {
    const rate = energy < this.#floor ? 0.2 : 0.002;
    this.#floor += rate * (energy - this.#floor);
    const loud = energy > SPEECH_POWER_MIN && energy > this.#floor * SPEECH_ABOVE_FLOOR;
    const voiced = loud && peak.purity < PURITY_MIN;
    this.#hangover = voiced ? HANGOVER_HOPS : Math.max(0, this.#hangover - 1);
    const speaking = this.#hangover > 0;
    if (speaking !== this.#speaking) {
      this.#events.push({
        event: speaking ? 'speech_start' : 'speech_end',
        timestampMs: this.#hops * HOP_MS,
      });
      this.#speaking = speaking;
      if (speaking) this.#silenceMs = 0;
    }
    if (speaking) this.#speechMs += HOP_MS;
    else this.#silenceMs += HOP_MS;
  }

  #decide() {
    if (this.#final) return;
    if (this.#hops * HOP_MS >= this.#options.detectionTimeoutMs) this.#finish();
    else if (this.#speechMs === 0) {
      if (this.#silenceMs >= NOBODY_MS) this.#say('silence', 'no_speech', 0.8, false);
    } else if (this.#speaking && this.#speechMs >= LONG_SPEECH_MS) {
      this.#say('voicemail', 'long_speech', 0.7, false);
    } else if (this.#silenceMs >= SHORT_ANSWER_SILENCE_MS && this.#speechMs < LONG_SPEECH_MS) {
      this.#say('live_person', 'short_answer', 0.8, false);
    }
  }

  #finish() {
    if (this.#final) return;
    if (this.#verdict) this.#say(this.#verdict.type, this.#verdict.reason, this.#verdict.confidence, true);
    else this.#events.push({ event: 'timeout', timestampMs: this.#hops * HOP_MS });
    this.#final = true;
  }

  #say(type, reason, confidence, isFinal) {
    if (this.#final || (this.#verdict?.type === type && !isFinal)) return;
    const isRefinement = this.#verdict !== null && this.#verdict.type !== type;
    this.#verdict = { type, reason, confidence };
    this.#final = isFinal;
    this.#events.push({
      event: 'detection',
      timestampMs: this.#hops * HOP_MS,
      type,
      confidence,
      beepDetected: reason === 'tone',
      isFinal,
      isRefinement,
      reason,
      speechMs: this.#speechMs,
      silenceMs: this.#silenceMs,
    });
  }
}
