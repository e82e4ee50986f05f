import { invalidField, requireText } from '../../../kernel/text.ts';

/** Supplement 1: text to speech of a message. */
export const SPEECH_CHARACTERS_MAX = 1_200;
/** An address of speech works this long; then the file is swept. */
export const SPEECH_LIVES_MS = 86_400_000;
export const SPEECH_PRODUCT = 'tts';
/** Characters of one unit of the product. */
const UNIT_CHARACTERS = 100;

/** Characters as people count them (code points). */
export const charactersOf = (text: string): number => [...text].length;

/** Started hundreds. */
export const speechUnits = (characters: number): number => Math.ceil(characters / UNIT_CHARACTERS);

/** @throws Problem validation-error */
export function speechText(text: string): string {
  requireText('text', text, SPEECH_CHARACTERS_MAX * 2);
  if (charactersOf(text) > SPEECH_CHARACTERS_MAX) {
    throw invalidField('text', `text has more than ${SPEECH_CHARACTERS_MAX} characters.`);
  }
  return text;
}
