/**
 * Retry-After (RFC 9110, 10.2.3), seconds or an HTTP date, in milliseconds from now; at most `maxMs`. Null: absent or
 * unreadable. A date that has passed is 0.
 */
export function retryAfterMs(value: string | undefined, nowMs: number, maxMs: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1_000, maxMs);
  // The three forms of an HTTP date begin with a day's name; without this test Date takes "-1" and "2.5" too.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.min(Math.max(0, atMs - nowMs), maxMs);
}
