/** When a contact may be reached: minutes of the contact's day, the end is outside. */
export interface DayWindow {
  readonly startMinute: number;
  readonly endMinute: number;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** What `format` answers below: month/day/year, hour:minute. */
const LOCAL_TIME = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+)$/;
/** One for each zone asked for: bounded by the zones of IANA's database. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  });
  formatters.set(zone, made);
  return made;
}

/** The clock on a wall in a zone: minutes since its midnight, and by how many minutes it is before UTC. */
interface LocalTime {
  readonly minute: number;
  readonly offsetMinutes: number;
}

/** @throws RangeError: no zone of IANA's database */
function localTime(zone: string, atMs: number): LocalTime {
  const found = LOCAL_TIME.exec(formatterOf(zone).format(atMs));
  if (!found) throw new Error(`the time in ${zone} cannot be read`);
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = found.slice(1).map(Number);
  const wallMs = Date.UTC(year, month - 1, day, hour, minute);
  return { minute: hour * 60 + minute, offsetMinutes: (wallMs - floorMinute(atMs)) / MINUTE_MS };
}

const floorMinute = (atMs: number): number => Math.floor(atMs / MINUTE_MS) * MINUTE_MS;

const isWithin = (window: DayWindow, minute: number): boolean =>
  minute >= window.startMinute && minute < window.endMinute;

/** Minutes from UTC to the zone's clock, summer time included. @throws RangeError: no zone of IANA's database */
export const offsetMinutes = (zone: string, atMs: number): number => localTime(zone, atMs).offsetMinutes;

/** Whether it is within the window in every one of the zones. @throws RangeError: no zone of IANA's database */
export const isOpen = (zones: readonly string[], window: DayWindow, atMs: number): boolean =>
  zones.every((zone) => isWithin(window, localTime(zone, atMs).minute));

/**
 * The first moment from `fromMs` on at which it is within the window in every zone; null: none until `untilMs`, that one
 * included. Right over changes of the clocks: where a zone's clock jumps over the window's start, its jump opens it, and an
 * hour that comes twice is looked at twice. @throws RangeError: no zone of IANA's database
 */
export function nextOpeningMs(
  zones: readonly string[],
  window: DayWindow,
  range: { readonly fromMs: number; readonly untilMs: number },
): number | null {
  // Until the latest zone opens some zone is closed: nothing is skipped by going there.
  let atMs = range.fromMs;
  while (atMs <= range.untilMs) {
    const openings = zones.map((zone) => openingMs(zone, window, { fromMs: atMs, untilMs: range.untilMs }));
    const latestMs = Math.max(atMs, ...openings);
    if (latestMs === atMs) return atMs;
    atMs = latestMs;
  }
  return null;
}

/** The first moment from `fromMs` on at which one zone is open; Infinity: later than `untilMs`. */
function openingMs(
  zone: string,
  window: DayWindow,
  range: { readonly fromMs: number; readonly untilMs: number },
): number {
  let atMs = range.fromMs;
  while (atMs <= range.untilMs) {
    const { minute, offsetMinutes: offset } = localTime(zone, atMs);
    if (isWithin(window, minute)) return atMs;
    const waitMinutes = (window.startMinute - minute + DAY_MINUTES) % DAY_MINUTES;
    const openMs = floorMinute(atMs) + waitMinutes * MINUTE_MS;
    if (localTime(zone, openMs).offsetMinutes === offset) return openMs;
    // The clocks change before: up to there nothing opens, and from there it is reckoned anew.
    atMs = changeMs(zone, { fromMs: floorMinute(atMs), untilMs: openMs });
  }
  return Infinity;
}

/** The minute at which the zone's clock changes between two moments before and after the change. */
function changeMs(zone: string, range: { readonly fromMs: number; readonly untilMs: number }): number {
  const before = offsetMinutes(zone, range.fromMs);
  let [low, high] = [range.fromMs / MINUTE_MS, range.untilMs / MINUTE_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMinutes(zone, middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}
