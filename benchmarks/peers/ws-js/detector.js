/**
 * The native detector's rules in plain JavaScript, written for reading: mu-law by table, a 256-point FFT each 10 ms,
 * tones and their harmonics, call-progress and machine signals, voice activity over a floor per band, music by held
 * notes, a beep whose proof is its end, and verdicts by timing. The shape is the native one's, module by module; nothing is
 * made slow on purpose.
 */
import { powerSpectrum, SIZE } from './fft.js';
import { peaksOf } from './peaks.js';
import { LONG, Signals } from './signals.js';
import { Talker } from './talker.js';
import { Turn } from './turn.js';
import { Voice } from './voice.js';

const HOP = 80;
const HOP_MS = 10;

const PURE = 0.8;
const SPREAD_MAX = 0.009;
const STEADY_HOPS = 6;
const BEEP_HOPS_MIN = 9;
/** The level falls this much at the end of a beep, and the line stays that quiet for so long. */
const FALL_MIN = 10 ** (6.5 / 10);
const PROOF_HOPS = 9;

const HANGOVER_HOPS = 20;
/** Voiced hops that make a voice: a click and the edge of a tone are fewer. */
const ONSET_HOPS = 6;
const SHORT_ANSWER_SILENCE_MS = 700;
const LONG_SPEECH_MS = 1700;
const NOBODY_MS = 4000;

const MULAW = Float64Array.from({ length: 256 }, (_, byte) => {
  const bits = ~byte & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 7)) - 0x84;
  return (bits & 0x80 ? -magnitude : magnitude) / 32768;
});

/** One call at 8 kHz, mu-law or pcm16. */
export class Detector {
  #options;
  #recent = new Float64Array(LONG);
  #hop = new Float64Array(HOP);
  #filled = 0;
  #hops = 0;
  #power = new Float64Array(SIZE / 2 + 1);
  #signals = new Signals();
  #voice = new Voice();
  #talker = new Talker();
  #turn = null;
  #tone = null;
  #onset = 0;
  #hangover = 0;
  #speaking = false;
  #speechMs = 0;
  #silenceMs = 0;
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
    this.#recent.set(this.#hop, LONG - HOP);
    this.#hops += 1;
    this.#frame();
  }

  #frame() {
    let energy = 0;
    for (let i = 0; i < HOP; i += 1) energy += this.#hop[i] * this.#hop[i];
    energy /= HOP;
    powerSpectrum(this.#recent.subarray(LONG - SIZE), this.#power);
    const peaks = peaksOf(this.#power);
    const reason = this.#signals.push(this.#hops, peaks, this.#recent);
    this.#trackBeep(peaks, energy);
    const steady = this.#tone !== null && this.#tone.hops >= STEADY_HOPS && this.#tone.quietHops === 0;
    const pure = peaks.purity >= PURE;
    const voice = this.#voice.push(this.#power, energy, this.#signals.active || steady, pure);
    // What was taken for the talker was behind him: his turn begins now.
    if (this.#talker.hear(voice, this.#speaking)) this.#turn = null;
    this.#trackSpeech(voice);
    if (reason !== null) this.#say('unknown', reason, 0.9, true);
    this.#decide();
  }

  #trackBeep(peaks, energy) {
    const tone = this.#tone;
    const tonal = peaks.purity >= PURE && peaks.frequencyHz > 350 && !this.#signals.active;
    const same = tone !== null && Math.abs(peaks.frequencyHz / tone.frequencyHz - 1) <= SPREAD_MAX;
    if (tonal && same && tone.quietHops === 0) {
      tone.hops += 1;
      tone.frequencyHz += (peaks.frequencyHz - tone.frequencyHz) / tone.hops;
      tone.energy = Math.max(tone.energy, energy);
    } else if (tone !== null && energy * FALL_MIN < tone.energy) {
      tone.quietHops += 1;
      if (tone.quietHops < PROOF_HOPS) return;
      if (tone.hops >= BEEP_HOPS_MIN) this.#beep(tone);
      this.#tone = null;
    } else {
      this.#tone = tonal ? { frequencyHz: peaks.frequencyHz, hops: 1, energy, quietHops: 0 } : null;
    }
  }

  #beep(tone) {
    this.#events.push({
      event: 'beep',
      timestampMs: (this.#hops - tone.quietHops) * HOP_MS,
      frequencyHz: tone.frequencyHz,
      durationMs: tone.hops * HOP_MS,
      confidence: 0.95,
      isFinal: true,
    });
    this.#say('voicemail', 'tone', 0.95, true);
  }

  #trackSpeech(voice) {
    const { voiced } = voice;
    this.#onset = Math.max(0, Math.min(ONSET_HOPS, this.#onset + (voiced ? 1 : -1)));
    const heard = voiced && (this.#speaking || this.#onset === ONSET_HOPS);
    this.#hangover = heard ? HANGOVER_HOPS : Math.max(0, this.#hangover - 1);
    const speaking = this.#hangover > 0;
    if (speaking !== this.#speaking) {
      this.#events.push({
        event: speaking ? 'speech_start' : 'speech_end',
        timestampMs: this.#hops * HOP_MS,
      });
      this.#speaking = speaking;
      if (speaking) this.#beginSegment();
    }
    if (heard) {
      this.#turn ??= new Turn(null, this.#hops);
      this.#turn.extend(this.#hops);
      this.#turn.hear(voice);
    }
    if (speaking) this.#speechMs += HOP_MS;
    else this.#silenceMs += HOP_MS;
  }

  /** A turn goes on until a verdict was said about it. */
  #beginSegment() {
    const isNext = this.#turn !== null && this.#silenceMs >= SHORT_ANSWER_SILENCE_MS;
    if (this.#turn === null || isNext) this.#turn = new Turn(this.#turn, this.#hops);
    else this.#turn.resume(this.#hops);
    this.#silenceMs = 0;
  }

  #decide() {
    if (this.#final) return;
    if (this.#hops * HOP_MS >= this.#options.detectionTimeoutMs) this.#finish();
    else if (this.#speechMs === 0) {
      if (this.#silenceMs >= NOBODY_MS) this.#say('silence', 'no_speech', 0.9, false);
    } else if (this.#turn !== null && this.#turn.isVoice(this.#voice.heardMusic)) {
      const waits = this.#silenceMs >= SHORT_ANSWER_SILENCE_MS;
      const isAnswer = !this.#turn.isGreeting && (!this.#turn.followsLongSpeech || this.#turn.isDialogue);
      if (this.#speaking && this.#speechMs >= LONG_SPEECH_MS)
        this.#say('voicemail', 'long_speech', 0.6, false);
      else if (waits && isAnswer) this.#say('live_person', 'short_answer', 0.8, false);
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
