import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { CountryCode } from 'libphonenumber-js/max';

/** Longer texts are no phone numbers; bounds the work of the parser. */
const PHONE_TEXT_LENGTH_MAX = 40;
/**
 * The North American plan by its form alone: reserved and simulated numbers (555, supplement 3) are in no table of
 * assigned ones and are accepted.
 */
const NORTH_AMERICAN = /^\+1[2-9]\d{9}$/;

export interface PhoneNumber {
  /** E.164. */
  readonly number: string;
  /** ISO 3166 country of the number; null where it belongs to none or cannot be told. */
  readonly region: string | null;
}

/** A two-letter country whose numbers can be read; either case. */
export const isRegion = (text: string): boolean => isSupportedCountry(text.toUpperCase());

/**
 * Reads a phone number as people write it: E.164, or national digits of `region` (ISO 3166 country). Null when the whole
 * text is not one number that exists in its country's plan, or carries an extension, which cannot be dialled.
 */
export function parsePhone(text: string, region: string): PhoneNumber | null {
  if (text.length > PHONE_TEXT_LENGTH_MAX) return null;
  const defaultCountry = region.toUpperCase() as CountryCode;
  const parsed = parsePhoneNumberFromString(text, { defaultCountry, extract: false });
  if (!parsed || parsed.ext !== undefined) return null;
  if (!NORTH_AMERICAN.test(parsed.number) && !parsed.isValid()) return null;
  return { number: parsed.number, region: parsed.country ?? null };
}
