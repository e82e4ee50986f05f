/** Telephone numbers for a million contacts: 555-xxxx of area codes that exist, which are nobody's. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

const LINES_PER_AREA = 10_000;

const AREAS = Array.from({ length: 800 }, (_, n) => String(n + 200)).filter(
  (area) => parsePhoneNumberFromString(`+1${area}5550123`)?.isValid() === true,
);

/** Area codes of the million contacts; the rest is for imports. */
export const SEEDED_AREAS = AREAS.slice(0, 100);
const IMPORT_AREAS = AREAS.slice(100);

/** The n-th number for imports, E.164. */
export function importNumber(n: number): string {
  const area = IMPORT_AREAS[Math.floor(n / LINES_PER_AREA) % IMPORT_AREAS.length] ?? '';
  return `+1${area}555${String(n % LINES_PER_AREA).padStart(4, '0')}`;
}
