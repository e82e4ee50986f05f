const POLL_MS = 10;

/** Waits for a condition and gives its value; fails with its description after a generous limit. */
export async function until<T>(
  condition: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  limitMs = 20_000,
  description = 'a condition',
): Promise<T> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    const value = await condition();
    if (value !== null && value !== undefined && value !== false) return value;
    if (performance.now() > endMs) throw new Error(`${description} did not come true in ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
