import type { SpeechEngine, SpeechError, Voice } from '../../../src/platform/audio/index.ts';
import { sine, wavOf } from './wav.ts';

/** An engine in the place of the installed one: a tone of 10 ms for each character. */
export class ToneEngine implements SpeechEngine {
  known: readonly Voice[] = ['de', 'en-us', 'fr-fr'].map((id) => ({
    ...{ voiceId: id, name: `Voice ${id}`, language: id },
  }));
  fault: SpeechError | null = null;
  readonly spoken: { voiceId: string; text: string }[] = [];

  async voices(): Promise<readonly Voice[]> {
    return this.known;
  }

  async synthesize(request: { voiceId: string; text: string }): Promise<Uint8Array> {
    if (this.fault) throw this.fault;
    this.spoken.push(request);
    const seconds = request.text === '...' ? 0 : request.text.length / 100;
    return wavOf(sine({ rateHz: 22_050, hz: 440, seconds }), { rateHz: 22_050, saidBytes: 0x7ffff000 });
  }
}
