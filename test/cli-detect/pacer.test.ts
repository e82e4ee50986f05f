import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { pace } from '../../src/main/cli/detect/pacer.ts';

describe('the pacer', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => vi.useRealTimers());

  /** Runs a stream on virtual time; `hold` may let time pass while frame n is sent. Times of the frames in ms. */
  async function run(frames: number, speed: number, hold: (index: number) => number): Promise<number[]> {
    const startMs = performance.now();
    const atMs: number[] = [];
    const done = pace({
      frames,
      speed,
      signal: new AbortController().signal,
      send: (index) => {
        expect(index).toBe(atMs.length);
        atMs.push(performance.now() - startMs);
        vi.advanceTimersByTime(hold(index));
        return true;
      },
    });
    await vi.advanceTimersByTimeAsync(frames * 20);
    await done;
    return atMs;
  }

  it('sends every frame when its 20 ms have passed', async () => {
    expect(await run(5, 1, () => 0)).toEqual([20, 40, 60, 80, 100]);
    expect(await run(5, 4, () => 0)).toEqual([5, 10, 15, 20, 25]);
  });

  it('makes up for a held-up process instead of drifting', async () => {
    const atMs = await run(10, 1, (index) => (index === 2 ? 70 : 0));
    expect(atMs).toEqual([20, 40, 60, 130, 130, 130, 140, 160, 180, 200]);
  });

  it('stops when told, by the sender or from outside', async () => {
    const outside = new AbortController();
    let sent = 0;
    const work = pace({ frames: 10_000, speed: 1, signal: outside.signal, send: () => (sent += 1) < 50 });
    await vi.advanceTimersByTimeAsync(100);
    outside.abort();
    await work;
    expect(sent).toBe(5);
    const refused = pace({
      frames: 100,
      speed: 1,
      signal: new AbortController().signal,
      send: () => (sent += 1) < 8,
    });
    await vi.advanceTimersByTimeAsync(100);
    await refused;
    expect(sent).toBe(8);
  });
});
