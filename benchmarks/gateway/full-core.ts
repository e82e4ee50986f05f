/**
 * Throughput of one core: the load is raised until the server's core is nearly full, and the frames are counted there.
 * At lighter loads every frame wakes the process by itself, and what is compared is mostly the kernel's work for that.
 */
import { measure, type Load, type Measurement } from './measure.ts';
import type { Server } from './servers.ts';

/** Share of its core at which a server is measured: below it there is room, above it queues grow. */
const AIM = 0.9;
/** Close enough to the aim; the cost of a frame moves little between. */
const LEAST = 0.82;
const MOST = 0.96;
/** Looks at most until the load is right; the last one counts. */
const LOOKS_MAX = 5;
/** More than this at once overshoots: the cost of a frame falls as the load rises. */
const STEP_MAX = 1.7;
/** More than this the generator cannot feed in time; a bare sink has some room left there. */
const SOCKETS_MAX = 2_000;

const isRight = ({ serverLoad }: Measurement): boolean => serverLoad >= LEAST && serverLoad <= MOST;

/** Measures `server` at the number of sockets, near `sockets`, that nearly fills its core. */
export async function measureFullCore(server: Server, load: Load): Promise<Measurement> {
  let sockets = load.sockets;
  let seen = await measure(server, { ...load, sockets });
  for (let look = 1; look < LOOKS_MAX && !isRight(seen); look += 1) {
    const next = Math.min(
      SOCKETS_MAX,
      Math.round((sockets * Math.min(STEP_MAX, AIM / seen.serverLoad)) / 10) * 10,
    );
    if (next === sockets) break;
    sockets = next;
    seen = await measure(server, { ...load, sockets });
  }
  return seen;
}
