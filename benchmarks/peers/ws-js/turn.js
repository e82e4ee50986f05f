/** One answer, or one greeting: a run of voiced segments (native/detect/src/turn.rs). Times are hops of 10 ms. */

const HOP_MS = 10;
const PAUSE_COUNTED_HOPS = 60;
const PHRASE_GAP_HOPS = 80;
const ANSWER_MAX_MS = 3250;
const GREETING_PHRASE_MS = 1800;
const VOWEL_SHARE_MIN = 0.22;
const PURE_SHARE_MAX = 0.97;
const CALL_AGAIN_GAP_MS = 2500;
const CALL_AGAIN_MAX_MS = 1300;
const NOTES_SUSPECT = 0.18;

export class Turn {
  #spoken = 1;
  #pausesCounted = 0;
  #phraseFirst;
  #longestPhrase = 1;
  #voiced = 0;
  #vowels = 0;
  #notes = 0;
  #pure = 0;
  #gap = 0;
  #longestBeforeMs = 0;
  #shortBefore = 0;
  last;

  /** Begins at hop `start`, after the turn `before`. */
  constructor(before, start) {
    this.last = start;
    this.#phraseFirst = start;
    if (before === null) return;
    this.#gap = Math.max(0, start - before.last - 1);
    this.#longestBeforeMs = Math.max(before.#longestBeforeMs, before.talkMs);
    this.#shortBefore = before.#shortBefore + (before.talkMs < ANSWER_MAX_MS ? 1 : 0);
  }

  resume(start) {
    const pause = Math.max(0, start - this.last - 1);
    this.#pausesCounted += Math.min(pause, PAUSE_COUNTED_HOPS);
    if (pause >= PHRASE_GAP_HOPS) this.#phraseFirst = start;
    this.#spoken += 1;
    this.last = start;
  }

  extend(hop) {
    this.#spoken += hop - this.last;
    this.last = hop;
    this.#longestPhrase = Math.max(this.#longestPhrase, hop + 1 - this.#phraseFirst);
  }

  hear(voice) {
    this.#voiced += 1;
    if (voice.vowel) this.#vowels += 1;
    if (voice.notes) this.#notes += 1;
    if (voice.pure) this.#pure += 1;
  }

  /** How long somebody talked: segments and the pauses between them, long pauses in part. */
  get talkMs() {
    return (this.#spoken + this.#pausesCounted) * HOP_MS;
  }

  get isGreeting() {
    return this.talkMs >= ANSWER_MAX_MS && this.#longestPhrase * HOP_MS >= GREETING_PHRASE_MS;
  }

  isVoice(musicHeard) {
    const voiced = Math.max(1, this.#voiced);
    const isSpoken = this.#vowels >= VOWEL_SHARE_MIN * voiced && this.#pure < PURE_SHARE_MAX * voiced;
    return isSpoken && !(musicHeard && this.#notes > NOTES_SUSPECT * voiced);
  }

  get isDialogue() {
    const callsAgain = this.#gap * HOP_MS >= CALL_AGAIN_GAP_MS && this.talkMs <= CALL_AGAIN_MAX_MS;
    return callsAgain || this.#shortBefore >= 2;
  }

  get followsLongSpeech() {
    return this.#longestBeforeMs >= ANSWER_MAX_MS;
  }
}
