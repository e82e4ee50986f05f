export interface Voice {
  readonly voiceId: string;
  readonly name: string;
  /** BCP 47, as the engine names it. */
  readonly language: string;
}

/** Makes speech of text: the port of engines. */
export interface SpeechEngine {
  /** Empty: the engine is not there. */
  voices(): Promise<readonly Voice[]>;
  /** A WAV file. `voiceId` is one of `voices`. @throws SpeechError */
  synthesize(request: { readonly voiceId: string; readonly text: string }): Promise<Uint8Array>;
}

/** `missing` the engine is not there · `busy` more waits than is taken · `too-slow` · `failed` */
export type SpeechFault = 'missing' | 'busy' | 'too-slow' | 'failed';

export class SpeechError extends Error {
  readonly fault: SpeechFault;

  constructor(fault: SpeechFault, message: string) {
    super(message);
    this.name = 'SpeechError';
    this.fault = fault;
  }
}
