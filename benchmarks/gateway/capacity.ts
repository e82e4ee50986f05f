/** Cost up to the limit of sessions, and what open calls feel when more knock than are let in. */
import { measure, type Measurement } from './measure.ts';
import { startService } from './servers.ts';

export interface Capacity {
  limit: number;
  /** A quarter, a half, three quarters and all of the limit. */
  steps: Measurement[];
  /** All of the limit again, while `pressing` more sockets ask for sessions. */
  underPressure: Measurement;
  pressing: number;
  capped: number;
  refused503: number;
  /** Why others of them were not let in, with how many. */
  refusedElse: string;
  /** Sessions of the limit that were alive at the end. */
  alive: number;
}

const LIMIT = 800;
/** The gateway takes twice as many sockets as sessions (supplement 10): so many more, and some above that. */
const PRESSING = LIMIT + 100;

export async function measureCapacity(pace: { warmUpMs: number; measureMs: number }): Promise<Capacity> {
  const server = await startService({ MAX_SESSIONS: String(LIMIT) });
  try {
    // Compilers have done their work when the first figure is taken.
    await measure(server, { ...pace, sockets: LIMIT / 4 });
    const steps: Measurement[] = [];
    for (const quarter of [1, 2, 3, 4])
      steps.push(await measure(server, { ...pace, sockets: (LIMIT / 4) * quarter }));
    let knocking: Measurement | undefined;
    const underPressure = await measure(server, {
      ...pace,
      sockets: LIMIT,
      onMeasuring: async () => {
        knocking = await measure(server, { sockets: PRESSING, streaming: 0, warmUpMs: 0, measureMs: 500 });
      },
    });
    const { '503': refused503 = 0, ...others } = knocking?.refused ?? {};
    const ended = Object.values(underPressure.ended).reduce((sum, count) => sum + count, 0);
    return {
      limit: LIMIT,
      steps,
      underPressure,
      pressing: PRESSING,
      capped: knocking?.capped ?? 0,
      refused503,
      refusedElse: Object.entries(others)
        .map(([why, count]) => `${count} × ${why}`)
        .join('; '),
      alive: underPressure.ready - ended,
    };
  } finally {
    await server.stop();
  }
}
