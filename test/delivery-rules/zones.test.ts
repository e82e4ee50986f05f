import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { zonesOf } from '../../src/features/delivery-rules/index.ts';
import { offsetMinutes } from '../../src/features/delivery-rules/hours.rules.ts';
import { zonesByPrefix } from '../../src/features/delivery-rules/zone-data.ts';
import { AREA_CODES } from './nanp.table.ts';
import { WORLD_NUMBERS } from './world.table.ts';

const SEASONS_MS = [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)];

/** What tells zones apart for calling hours: their distance from UTC in winter and in summer. */
const clockOf = (zone: string): string => SEASONS_MS.map((atMs) => offsetMinutes(zone, atMs)).join('/');
const clocksOf = (zones: readonly string[]): string[] => [...new Set(zones.map(clockOf))].sort();
const zonesOfNumber = (phoneNumber: string): readonly string[] =>
  zonesOf({ phoneNumber, postalCode: null, region: null });

/** Codes too new for the map, or kept for later: all of North America is a candidate. */
const NOT_IN_MAP = new Set('357 436 457 471 621 624 679 837 861 924'.split(' '));
/** The map is stricter than need be: Honolulu for Adak, Vancouver for the Yukon as it was until 2020. */
const WIDER = new Set(['907', '867']);

describe('Zones of a number', () => {
  it('are exactly those of its area code, for every code of North America', () => {
    const prefixes = [...zonesByPrefix().keys()];
    const wrong = AREA_CODES.flatMap(([code, place, zones]) => {
      const known = [`1${code}`, ...prefixes.filter((prefix) => prefix.startsWith(`1${code}`))];
      const found = clocksOf(known.flatMap((prefix) => zonesOfNumber(`+${prefix.padEnd(11, '5')}`)));
      const wanted = clocksOf(zones);
      const isWider = NOT_IN_MAP.has(code) || WIDER.has(code);
      const isRight = isWider
        ? wanted.every((clock) => found.includes(clock))
        : JSON.stringify(found) === JSON.stringify(wanted);
      return isRight ? [] : [{ code, place, found, wanted }];
    });
    expect(wrong).toEqual([]);
    expect(AREA_CODES.length).toBeGreaterThan(440);
  });

  it('are known for every area code that the map knows', () => {
    const known = new Set(AREA_CODES.map(([code]) => code));
    const ofMap = [...zonesByPrefix().keys()].filter((prefix) => /^1\d{3}/.test(prefix));
    expect(ofMap.map((prefix) => prefix.slice(1, 4)).filter((code) => !known.has(code))).toEqual([]);
  });

  it.each(WORLD_NUMBERS)('%s rings in %s', (number, zone) => {
    expect(clocksOf(zonesOfNumber(number))).toContain(clockOf(zone));
  });

  it('have one clock where the country has one, for all but a few of 200 numbers of the world', () => {
    const several = WORLD_NUMBERS.filter(([number]) => clocksOf(zonesOfNumber(number)).length > 1);
    // South and Western Australia share an area code, Kiribati's three zones a country code.
    expect(several.map(([number]) => number)).toEqual(['+61882123456', '+61892123456', '+68631234']);
    expect(new Set(WORLD_NUMBERS.map(([number]) => number)).size).toBeGreaterThanOrEqual(200);
  });

  it('follow the exchange where an area code lies in two zones', () => {
    expect(zonesOfNumber('+12198825550')).toEqual(['America/Chicago']);
    expect(zonesOfNumber('+12195550123')).toEqual(['America/New_York']);
  });

  it('are all of North America for a number that belongs to no place in it', () => {
    const zones = zonesOfNumber('+18005550123');
    expect(zones).toEqual(
      expect.arrayContaining(['America/New_York', 'Pacific/Honolulu', 'America/St_Johns']),
    );
  });
});

describe('Zones of a contact', () => {
  const NEW_YORK = '+12125550123';
  const zonesBy = (postalCode: string | null, phoneNumber = NEW_YORK): readonly string[] =>
    zonesOf({ phoneNumber, postalCode, region: 'US' });

  it.each([
    ['90210', 'America/Los_Angeles'],
    [' 90210-1234 ', 'America/Los_Angeles'],
    ['96813', 'Pacific/Honolulu'],
    ['46402', 'America/Chicago'],
    ['42101', 'America/Chicago'],
    ['97914', 'America/Boise'],
    ['00901', 'America/Puerto_Rico'],
    ['00802', 'America/St_Thomas'],
    ['96799', 'Pacific/Pago_Pago'],
    ['96910', 'Pacific/Guam'],
  ])('are that of the ZIP code %s before that of the area code', (zip, zone) => {
    expect(zonesBy(zip)).toEqual([zone]);
  });

  it.each(['K1A 0B1', '', '123', '00000', '902101', '__proto__', '\0'.repeat(3)])(
    'are those of the number when the postal code is %j',
    (postalCode) => {
      expect(zonesBy(postalCode)).toEqual(['America/New_York']);
    },
  );

  it('are those of the number where five digits are no ZIP code: outside North America', () => {
    expect(zonesBy('10115', '+493012345678')).toEqual(['Europe/Berlin']);
  });

  it('are those of the region when the number belongs to no country, and never none', () => {
    const satellite = '+870773111632';
    const of = (region: string | null) => zonesOf({ phoneNumber: satellite, postalCode: null, region });
    expect(clocksOf(of('DE'))).toEqual([clockOf('Europe/Berlin')]);
    expect(clocksOf(of('nz'))).toEqual(clocksOf(['Pacific/Auckland', 'Pacific/Chatham']));
    expect([of(null), of('XX'), of('no region')]).toEqual([['Etc/UTC'], ['Etc/UTC'], ['Etc/UTC']]);
  });

  it('are zones that exist, whatever is known', () => {
    const digits = fc.stringMatching(/^[1-9]\d{6,14}$/);
    const region = fc.option(fc.stringMatching(/^[A-Za-z]{2}$/));
    fc.assert(
      fc.property(digits, fc.option(fc.string()), region, (number, postalCode, code) => {
        const zones = zonesOf({ phoneNumber: `+${number}`, postalCode, region: code });
        expect(zones.length).toBeGreaterThan(0);
        for (const zone of zones) expect(offsetMinutes(zone, 0)).toBeTypeOf('number');
      }),
    );
  });
});
