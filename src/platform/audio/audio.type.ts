/** All audio of messages is kept at the rate of telephone lines (ITU-T G.711). */
export const TELEPHONE_RATE_HZ = 8_000;

/**
 * Why bytes became no audio: `not-audio` neither WAV nor MP3 by content, or a kind that is not read · `empty` no sample in
 * it · `too-long` · `too-slow` it took longer than the time limit · `busy` more work waits than is taken.
 */
export type AudioFault = 'not-audio' | 'empty' | 'too-long' | 'too-slow' | 'busy';

/** The message is one sentence for the user. */
export class AudioError extends Error {
  readonly fault: AudioFault;

  constructor(fault: AudioFault, message: string) {
    super(message);
    this.name = 'AudioError';
    this.fault = fault;
  }
}

export type AudioFormat = 'wav' | 'mp3';

export interface TelephoneAudio {
  /** A WAV file: pcm16, mono, 8 kHz. */
  readonly wav: Uint8Array;
  readonly durationMs: number;
  /** What the file was, by its content. */
  readonly format: AudioFormat;
}

/** Audio as it is read: mono blocks, 1.0 full scale. */
export interface AudioSource {
  readonly sampleRateHz: number;
  blocks(): Iterable<Float32Array>;
}
