/** Sends frames at the rate a telephone does. */

/** Length of a frame: what telephony platforms send (160 bytes of mu-law at 8 kHz). */
export const FRAME_MS = 20;

/** Frames sent at once after the process was held up, at most: the rest follows on the next turn. */
const BURST_FRAMES_MAX = 50;

export interface PacerOptions {
  frames: number;
  /** 1: real time; 2: twice as fast. */
  speed: number;
  /** Sends frame `index`; false when nothing more is to be sent. */
  send: (index: number) => boolean;
  signal: AbortSignal;
}

/**
 * Frame n leaves at start + n × 20 ms / speed, counted from the start: a late timer delays one frame and no other,
 * so the stream never drifts. Resolves after the last frame's own time has passed, or early when told to stop.
 */
export async function pace({ frames, speed, send, signal }: PacerOptions): Promise<void> {
  const startMs = performance.now();
  let next = 0;
  while (!signal.aborted) {
    const due = Math.min(frames, Math.floor(((performance.now() - startMs) * speed) / FRAME_MS));
    const until = Math.min(due, next + BURST_FRAMES_MAX);
    for (; next < until; next += 1) if (!send(next)) return;
    if (next >= frames) return;
    const waitMs = startMs + ((next + 1) * FRAME_MS) / speed - performance.now();
    await sleep(Math.max(0, waitMs), signal);
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
