export { AudioError, TELEPHONE_RATE_HZ } from './audio.type.ts';
export type { AudioFault, AudioFormat, TelephoneAudio } from './audio.type.ts';
export { AudioConverter } from './converter.ts';
export type { ConverterOptions } from './converter.ts';
export { EspeakEngine } from './speech/espeak.engine.ts';
export type { EspeakOptions } from './speech/espeak.engine.ts';
export { SpeechError } from './speech/speech.type.ts';
export type { SpeechEngine, SpeechFault, Voice } from './speech/speech.type.ts';
