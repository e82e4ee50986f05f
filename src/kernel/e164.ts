/** ITU-T E.164: a plus, a country code that does not begin with 0, 15 digits at most; 7 is the shortest number in use. */
const E164 = /^\+[1-9]\d{6,14}$/;

export const isE164 = (text: string): boolean => E164.test(text);
