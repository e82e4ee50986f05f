/** Memory of a session: the slope of resident memory over sockets, so that what every process has cancels out. */
import { measure } from './measure.ts';
import { startService } from './servers.ts';

export interface Memory {
  /** An upgraded socket without a welcome. */
  perSocketBytes: number;
  /** A socket with a ready session. */
  perReadyBytes: number;
  /** The difference: what the session costs beside its socket. */
  perSessionBytes: number;
}

const FEW = 300;
const MANY = 2300;
/**
 * A small young generation: otherwise garbage that was not collected yet (up to 48 MB) is spread over the sockets
 * and hides what they hold.
 */
const NODE_OPTIONS = '--max-semi-space-size=1';

/** Upgraded sockets, then ready sessions, each on a fresh gateway; as many calls under audio in every step. */
export async function measureMemory(pace: { warmUpMs: number; measureMs: number }): Promise<Memory> {
  const perSocketBytes = await slope(false, pace);
  const perReadyBytes = await slope(true, pace);
  return { perSocketBytes, perReadyBytes, perSessionBytes: perReadyBytes - perSocketBytes };
}

async function slope(welcome: boolean, pace: { warmUpMs: number; measureMs: number }): Promise<number> {
  const server = await startService({ NODE_OPTIONS });
  const streaming = welcome ? FEW : 0;
  try {
    // Twice: what a process keeps after its first calls belongs to the process.
    await measure(server, { ...pace, sockets: FEW, streaming, welcome });
    const few = await measure(server, { ...pace, sockets: FEW, streaming, welcome });
    const many = await measure(server, { ...pace, sockets: MANY, streaming, welcome });
    return (many.residentBytes - few.residentBytes) / (many.upgraded - few.upgraded);
  } finally {
    await server.stop();
  }
}
