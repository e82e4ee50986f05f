/** The one who talks on this line, told from what is heard behind him by level (native/detect/src/talker.rs). */

const SMOOTHING = 0.15;
const UNVOICED_DB = -40;
const FADE_DB = 0.005;
const WITHIN_DB = 20;
const BEGIN_DB = 16;
const LOUDER_DB = 12;
const NOBODY_DBFS = -90;

export class Talker {
  #nearDbfs = NOBODY_DBFS - 10;
  #smoothedDbfs = NOBODY_DBFS - 10;

  /** Takes one hop, and the voice out of it when it is not the talker's; tells whether the talker has only begun now. */
  hear(voice, speaking) {
    const levelDbfs = voice.voiced
      ? voice.levelDbfs
      : Math.min(voice.levelDbfs, this.#nearDbfs + UNVOICED_DB);
    this.#smoothedDbfs += SMOOTHING * (Math.max(levelDbfs, NOBODY_DBFS) - this.#smoothedDbfs);
    let isLouder = false;
    if (voice.voiced && this.#smoothedDbfs > this.#nearDbfs) {
      isLouder = this.#nearDbfs > NOBODY_DBFS && this.#smoothedDbfs > this.#nearDbfs + LOUDER_DB;
      this.#nearDbfs = this.#smoothedDbfs;
    } else {
      this.#nearDbfs -= FADE_DB;
    }
    if (voice.voiced && voice.levelDbfs < this.#nearDbfs - (speaking ? WITHIN_DB : BEGIN_DB)) {
      voice.voiced = false;
      voice.vowel = false;
    }
    return isLouder;
  }
}
