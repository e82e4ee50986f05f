/** GSM 03.38 default alphabet: one septet each. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
/** GSM 03.38 extension table: an escape and a septet. */
const EXTENDED = new Set('\f^{}\\[~]|€');

/** Septets of a text alone, and of each part of a longer one: 140 octets less the 6 of the part's header (3GPP TS 23.040). */
const SEPTETS = { alone: 160, part: 153 };
/** The same in UTF-16 units. */
const UNITS = { alone: 70, part: 67 };

/**
 * How many texts a body is sent as: GSM-7 when every character is of its alphabet, else UCS-2. A character of two units
 * is never torn between two parts. An empty body is one text.
 */
export function segmentsOf(body: string): number {
  const characters = [...body];
  const isGsm = characters.every((character) => BASIC.has(character) || EXTENDED.has(character));
  const sizeOf = isGsm
    ? (character: string) => (EXTENDED.has(character) ? 2 : 1)
    : (character: string) => character.length;
  const room = isGsm ? SEPTETS : UNITS;
  let total = 0;
  let parts = 1;
  let used = 0;
  for (const character of characters) {
    const size = sizeOf(character);
    total += size;
    if (used + size > room.part) {
      parts += 1;
      used = 0;
    }
    used += size;
  }
  return total <= room.alone ? 1 : parts;
}
