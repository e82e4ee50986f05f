import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { offsetMinutes } from './hours.rules.ts';
import { zoneOfZip, zonesByPrefix } from './zone-data.ts';

/** What tells where a contact is. */
export interface Whereabouts {
  /** E.164. */
  readonly phoneNumber: string;
  readonly postalCode: string | null;
  /** ISO 3166-1 alpha-2. */
  readonly region: string | null;
}

/** Where nothing is known of a contact: of every zone the one in the middle. */
const UNKNOWN: readonly string[] = ['Etc/UTC'];

/**
 * Every zone of IANA's database in which the contact may be, at least one: of a North American number that of the ZIP code,
 * else those of the number, else those of the region (supplement 1 and 12, Sends).
 */
export function zonesOf({ phoneNumber, postalCode, region }: Whereabouts): readonly string[] {
  const zipZone = phoneNumber.startsWith('+1') && postalCode !== null ? zoneOfPostalCode(postalCode) : null;
  if (zipZone !== null) return [zipZone];
  const ofNumber = zonesOfNumber(phoneNumber);
  if (ofNumber.length > 0) return ofNumber;
  const ofRegion = region === null ? [] : zonesOfRegion(region);
  return ofRegion.length > 0 ? ofRegion : UNKNOWN;
}

/** A ZIP code, or the first five digits of a ZIP+4. */
const ZIP = /^\s*(\d{5})(-?\d{4})?\s*$/;

/**
 * First digits of ZIP codes for which the data has none, or the wrong zone: territories, and counties of Indiana, Kentucky
 * and Oregon on the other side of a boundary (49 CFR 71.5, 71.7 and 71.9; areas of USPS L002).
 */
const ZIP_CORRECTIONS: readonly (readonly [prefix: string, zone: string])[] = [
  ...['006', '007', '009'].map((prefix) => [prefix, 'America/Puerto_Rico'] as const),
  ['008', 'America/St_Thomas'],
  ['96799', 'Pacific/Pago_Pago'],
  ['969', 'Pacific/Guam'],
  ...['463', '464', '476', '477'].map((prefix) => [prefix, 'America/Chicago'] as const),
  ...['420', '421', '422', '423', '424'].map((prefix) => [prefix, 'America/Chicago'] as const),
  ['979', 'America/Boise'],
];

function zoneOfPostalCode(postalCode: string): string | null {
  const zip = ZIP.exec(postalCode)?.[1];
  if (zip === undefined) return null;
  return ZIP_CORRECTIONS.find(([prefix]) => zip.startsWith(prefix))?.[1] ?? zoneOfZip(zip);
}

const CENTRAL_AND_EASTERN = ['America/Chicago', 'America/New_York'];
const BRITISH_COLUMBIA = ['America/Vancouver', 'America/Edmonton'];
const QUEBEC_EAST = ['America/Toronto', 'America/Halifax'];
const EASTER_ISLAND = ['Pacific/Easter'];
const NEWFOUNDLAND = ['America/St_Johns', 'America/Halifax'];

/**
 * Prefixes for which the map has a wrong zone, or only one of those of the area code that they were laid over (found by the
 * tables in test/delivery-rules, made after the numbering plans themselves).
 */
const CORRECTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['1236', BRITISH_COLUMBIA],
  ['1257', BRITISH_COLUMBIA],
  ['1672', BRITISH_COLUMBIA],
  ['1778', BRITISH_COLUMBIA],
  ['1364', CENTRAL_AND_EASTERN],
  ['1448', CENTRAL_AND_EASTERN],
  ['1930', CENTRAL_AND_EASTERN],
  ['1367', QUEBEC_EAST],
  ['1581', QUEBEC_EAST],
  ['1458', ['America/Los_Angeles', 'America/Boise']],
  ['1474', ['America/Regina']],
  ['1689', ['America/New_York']],
  ['1709', NEWFOUNDLAND],
  ['1879', NEWFOUNDLAND],
  ['56322100', EASTER_ISLAND],
  ['56322551', EASTER_ISLAND],
]);

/** Those of the longest known prefix; none: the number belongs to no place (satellites, international services). */
function zonesOfNumber(phoneNumber: string): readonly string[] {
  const prefixes = zonesByPrefix();
  for (let digits = phoneNumber.slice(1); digits !== ''; digits = digits.slice(0, -1)) {
    const zones = CORRECTIONS.get(digits) ?? prefixes.get(digits);
    if (zones) return ownZones(phoneNumber, zones);
  }
  return [];
}

/**
 * The map lets one zone stand for others that share its clock for a part of the year: Canary for Morocco, Bucharest for
 * Kaliningrad. Where none of them is of the number's country, the country's own take their place, of several those with the
 * same clock in winter.
 */
function ownZones(phoneNumber: string, zones: readonly string[]): readonly string[] {
  const country = parsePhoneNumberFromString(phoneNumber)?.country;
  if (country === undefined) return zones;
  const ofCountry = zonesOfRegion(country);
  if (ofCountry.length === 0 || zones.some((zone) => ofCountry.includes(canonical(zone)))) return zones;
  const alike = ofCountry.filter((zone) => zones.some((standIn) => isAlike(zone, standIn)));
  return alike.length > 0 ? alike : ofCountry;
}

/** When no country of the northern half has summer time, where all stand-ins are; which year does not matter. */
const WINTER_MS = Date.UTC(2026, 0, 15);

const isAlike = (zone: string, other: string): boolean =>
  offsetMinutes(zone, WINTER_MS) === offsetMinutes(other, WINTER_MS);

/** By zone of the map: bounded by it. */
const canonicalNames = new Map<string, string>();

function canonical(zone: string): string {
  const known = canonicalNames.get(zone);
  if (known !== undefined) return known;
  const name = new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone;
  canonicalNames.set(zone, name);
  return name;
}

interface LocaleZones {
  readonly timeZones?: readonly string[];
  readonly getTimeZones?: () => readonly string[] | undefined;
}

const REGION = /^[A-Za-z]{2}$/;
/** By region of two letters: bounded by these. */
const regionZones = new Map<string, readonly string[]>();

/** Names as `canonical` has them; none: no such region. */
function zonesOfRegion(region: string): readonly string[] {
  if (!REGION.test(region)) return [];
  const code = region.toUpperCase();
  const known = regionZones.get(code);
  if (known) return known;
  // A method in newer versions of Node, before that a property.
  const locale: LocaleZones = new Intl.Locale(`und-${code}`) as object;
  const zones = (locale.getTimeZones?.() ?? locale.timeZones ?? []).map(canonical);
  regionZones.set(code, zones);
  return zones;
}
